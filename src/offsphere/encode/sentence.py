"""sentence-transformers models, with their Normalize stages taken out so that lengths reach the store."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import ENDINGS, MissingExtraError, OffsphereError, first_line
from offsphere.data.image import Image
from offsphere.data.items import Item, ItemKind, ItemSide, kinds_of, texts_alone
from offsphere.encode.devices import usable_device
from offsphere.encode.encoder import SAMPLES, Description, Tokens
from offsphere.encode.function_digest import unknown_revision
from offsphere.encode.image_batches import by_kind, decoded_batches
from offsphere.encode.model_files import digest_of_model
from offsphere.encode.runtime import READ_BY, USUAL, Runtime
from offsphere.encode.special_tokens import special_ids
from offsphere.encode.text_marks import keep_texts

BATCH = 32


class SentenceEncoder:
    """A sentence-transformers model by folder or hub name. Prompts, routes and truncation are the model's own.

    It takes what the model takes: texts, images or both. A text is a text even where it looks like the address of a
    picture. A model of transformers that is not one of sentence-transformers becomes one: CLIP and SigLIP give their
    projections, a vision transformer its class token, and others the mean over the picture.

    Args:
        source: The folder, or the full name on the hub.
        name: What the store and the tables call it.
        keep_normalize: Leave the stages in that take length away.
        model: A model that is in memory already, to be taken instead of loading one.
        runtime: Who computes, in which numbers, in how many processes, and where.
    """

    pads = True

    def __init__(
        self,
        source: str,
        name: str,
        *,
        keep_normalize: bool = False,
        model: Any = None,
        runtime: Runtime = USUAL,
    ) -> None:
        from offsphere.encode.stages import remove_output_stages

        self.model: Any = keep_texts(model) if model is not None else load_sentence_transformer(source, runtime)
        self.runtime = runtime
        self._pool: Any = None
        self.name = name
        self.model.eval()
        self.kinds: Sequence[ItemKind] = [kind for kind in SAMPLES if self.model.supports(kind)]
        if not self.kinds:
            raise OffsphereError(f"the model {name} takes {', '.join(self.model.modalities)}: neither texts nor images")
        removed = [] if keep_normalize else remove_output_stages(self.model)
        self.description = Description(
            model=runtime.named(name),
            revision=_revision(self.model, source, runtime),
            dimension=self.encode([SAMPLES[self.kinds[0]]], "document").shape[1],
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
        return by_kind(items, lambda texts: self._rows(texts, side), lambda images: self._image_rows(images, side))

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Count tokens of texts without padding, special ones included, and no more than the model looks at."""
        rows = self._token_rows(items)
        if rows is None:
            return np.full(len(items), -1, np.int32)
        return np.array([len(row) for row in rows], np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens | None:
        """The tokens of each text without special ones, and no more of them than the model looks at."""
        rows = self._token_rows(items)
        if rows is None:
            return None
        special = special_ids(self.model.tokenizer)
        return Tokens.of([[token for token in row if token not in special] for row in rows])

    def _rows(self, inputs: Sequence[Any], side: ItemSide) -> Rows:
        """What the model gives for texts, or for pictures."""
        methods = {"query": self.model.encode_query, "document": self.model.encode_document}
        method = methods.get(side, self.model.encode)
        try:
            rows = method(
                list(inputs),
                batch_size=BATCH,
                show_progress_bar=False,
                convert_to_numpy=True,
                **self._shared_out(inputs),
            )
        except ENDINGS:
            raise
        except BaseException as error:  # a model of others, on whatever is in its files
            raise OffsphereError(
                f"the model {self.name} fails on {len(inputs)} items ({type(error).__name__}): {first_line(error)}"
            ) from error
        return np.ascontiguousarray(rows, dtype=np.float32)

    def _shared_out(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """The processes that share the work, started when there first is enough for them; they end with the encoder."""
        if self.runtime.processes == 1 or len(inputs) <= BATCH:
            return {}
        if self._pool is None:
            self._pool = self.model.start_multi_process_pool(self.runtime.devices())
            finalize(self, type(self.model).stop_multi_process_pool, self._pool)
        return {"pool": self._pool}

    def _image_rows(self, images: Sequence[Image], side: ItemSide) -> Rows:
        """Decode and encode images, a batch at a time: all pictures at once might not fit into the memory."""
        return np.concatenate([self._rows(pictures, side) for pictures in decoded_batches(images, BATCH)])

    def _token_rows(self, items: Sequence[Item]) -> list[list[int]] | None:
        """Token numbers of each text, special ones included; nothing for images, or without a usual tokenizer."""
        tokenizer = self.model.tokenizer
        if not callable(tokenizer) or kinds_of(items) == ["image"] or "text" not in self.kinds:
            return None
        limit = self.model.max_seq_length
        texts = texts_alone(items, f"the tokenizer of {self.name}")
        tokenized = tokenizer(texts, padding=False, truncation=limit is not None, max_length=limit)
        rows: list[list[int]] = tokenized["input_ids"]
        return rows


def load_sentence_transformer(source: str, runtime: Runtime = USUAL) -> Any:
    """Load a model by folder or hub name; no code but sentence-transformers' and ours runs, whatever it names."""
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as error:
        raise MissingExtraError("sentence-transformers", "models") from error
    from offsphere.encode.stages import OUR_STAGES

    runtime.check_installed()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call,unused-ignore]  # there is one bar, ours
    # the public way would import a stage of ours only where all remote code is trusted
    model = SentenceTransformer._load_with_module_classes(  # noqa: SLF001
        source,
        OUR_STAGES,
        trust_remote_code=False,
        backend=runtime.backend,
        device=str(usable_device(runtime.device)) if runtime.device is not None else None,
        model_kwargs={"dtype": runtime.dtype} if runtime.dtype is not None else None,
    )
    if not has_stages(source):
        pool_class_token(model)
        pad_in_full(model)
    return keep_texts(model)


def pad_in_full(model: Any) -> None:
    """Have SigLIP see its texts at full length: it was trained so, looks at padding, and takes the last vector.

    sentence-transformers pads to the longest text of a batch, which would make a vector depend on its neighbours.
    """
    stage = model[0]
    config: Any = getattr(stage, "config", None)
    if getattr(config, "model_type", None) in ("siglip", "siglip2"):
        padding = {"padding": "max_length", "max_length": config.text_config.max_position_embeddings}
        stage.processing_kwargs["text"] = {**stage.processing_kwargs.get("text", {}), **padding}


def has_stages(source: str) -> bool:
    """Whether a model says itself of which stages it is made; else sentence-transformers chose them."""
    return (Path(source) / "modules.json").is_file() or _cached_file(source, "modules.json") is not None


def pool_class_token(model: Any) -> None:
    """Let a vision transformer give its class token, which it was trained with, where nobody says how it is pooled."""
    from sentence_transformers.sentence_transformer.modules import Pooling

    stages = list(model.children())
    embeddings = getattr(getattr(stages[0], "model", None), "embeddings", None)
    pools = [number for number, stage in enumerate(stages) if isinstance(stage, Pooling)]
    if pools and list(model.modalities) == ["image"] and hasattr(embeddings, "cls_token"):
        model[pools[0]] = Pooling(stages[pools[0]].embedding_dimension, pooling_mode="cls")


def _revision(model: Any, source: str, runtime: Runtime) -> str:
    """A digest of the model's folder; of a model on the hub, the commit it was loaded from."""
    if Path(source).is_dir():
        return digest_of_model(Path(source), also=READ_BY[runtime.backend])
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return str(getattr(config, "_commit_hash", None) or _cached_commit(source))


def _cached_commit(name: str) -> str:
    """The commit of a hub model in the local cache, for models that do not say; the name of its folder there."""
    path = _cached_file(name, "modules.json") or _cached_file(name, "config.json")
    return path.parent.name if path is not None else unknown_revision()


def _cached_file(name: str, file: str) -> Path | None:
    """A file of a hub model in the local cache, where it is there."""
    from huggingface_hub import try_to_load_from_cache

    try:
        path = try_to_load_from_cache(name, file)
    except ValueError:  # no name of the hub: the model never was there
        return None
    return Path(path) if isinstance(path, str) else None
