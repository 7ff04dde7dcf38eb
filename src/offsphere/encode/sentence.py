"""sentence-transformers models, with their Normalize stages taken out so that lengths reach the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import MissingExtraError, OffsphereError, first_line
from offsphere.data.items import Item, ItemSide, Kind, texts_alone
from offsphere.encode.encoder import Description, Tokens
from offsphere.encode.function_digest import UNKNOWN
from offsphere.encode.model_files import digest_of_model

BATCH = 32


class SentenceEncoder:
    """A sentence-transformers model by folder or hub name. Prompts, routes and truncation are the model's own.

    Args:
        source: The folder, or the full name on the hub.
        name: What the store and the tables call it.
        keep_normalize: Leave the stages in that take length away.
        model: A model that is in memory already, to be taken instead of loading one.
    """

    kinds: Sequence[Kind] = ("text",)
    pads = True

    def __init__(self, source: str, name: str, *, keep_normalize: bool = False, model: Any = None) -> None:
        from offsphere.encode.stages import remove_output_stages

        self.model: Any = model if model is not None else load_sentence_transformer(source)
        self.name = name
        self.model.eval()
        removed = [] if keep_normalize else remove_output_stages(self.model)
        self.description = Description(
            model=name,
            revision=_revision(self.model, source),
            dimension=self.encode(["offsphere"], "document").shape[1],
            similarity=self.model._similarity_fn_name,  # noqa: SLF001  # the public name turns "not said" into cosine
            removed=removed,
            kept_normalize=keep_normalize,
        )

    def prompt(self, side: ItemSide) -> str:
        """What the model's own query and document methods put before a text."""
        return self.prompt_of(self.model, side)

    @staticmethod
    def prompt_of(model: Any, side: str) -> str:
        """What a sentence-transformers model in memory puts before a text of a side; empty where nothing."""
        names = {"query": ("query",), "document": ("document", "passage", "corpus")}.get(side, ())
        chosen = next((name for name in names if name in model.prompts), model.default_prompt_name)
        return str(model.prompts[chosen]) if chosen is not None else ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:
        """Encode by the model's method for the side; pairs have no query side and use the plain one."""
        methods = {"query": self.model.encode_query, "document": self.model.encode_document}
        method = methods.get(side, self.model.encode)
        try:
            rows = method(list(items), batch_size=BATCH, show_progress_bar=False, convert_to_numpy=True)
        except Exception as error:  # a model of others, on whatever is in its files
            raise OffsphereError(
                f"the model {self.name} fails on {len(items)} texts ({type(error).__name__}): {first_line(error)}"
            ) from error
        return np.ascontiguousarray(rows, dtype=np.float32)

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Count tokens without padding, special ones included, and no more than the model looks at."""
        rows = self._token_rows(texts_alone(items, self.name))
        if rows is None:
            return np.full(len(items), -1, np.int32)
        return np.array([len(row) for row in rows], np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens | None:
        """The tokens of each text without special ones, and no more of them than the model looks at."""
        rows = self._token_rows(texts_alone(items, self.name))
        if rows is None:
            return None
        special = set(self.model.tokenizer.all_special_ids)
        return Tokens.of([[token for token in row if token not in special] for row in rows])

    def _token_rows(self, texts: Sequence[str]) -> list[list[int]] | None:
        """Token numbers of each text, special ones included; nothing where there is no tokenizer of the usual kind."""
        tokenizer = self.model.tokenizer
        if not callable(tokenizer):
            return None
        limit = self.model.max_seq_length
        tokenized = tokenizer(list(texts), padding=False, truncation=limit is not None, max_length=limit)
        rows: list[list[int]] = tokenized["input_ids"]
        return rows


def load_sentence_transformer(source: str) -> Any:
    """Load a model by folder or hub name; no code but sentence-transformers' and ours runs, whatever it names."""
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "models") from error
    from offsphere.encode.stages import OUR_STAGES

    logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]  # there is one bar, ours
    # the public way would import a stage of ours only where all remote code is trusted
    return SentenceTransformer._load_with_module_classes(source, OUR_STAGES, trust_remote_code=False)  # noqa: SLF001


def _revision(model: Any, source: str) -> str:
    """A digest of the model's folder; of a model on the hub, the commit it was loaded from."""
    if Path(source).is_dir():
        return digest_of_model(Path(source))
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_commit_hash", None) or _cached_commit(source))


def _cached_commit(name: str) -> str:
    """The commit of a hub model in the local cache, for models that do not say; the name of its folder there."""
    from huggingface_hub import try_to_load_from_cache

    try:
        path = try_to_load_from_cache(name, "modules.json")
    except ValueError:  # no name of the hub: the model never was there
        return UNKNOWN
    return Path(path).parent.name if isinstance(path, str) else UNKNOWN
