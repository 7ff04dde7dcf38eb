"""Static models: the mean of token vectors from a table. No torch, no padding, every core.

Two sources: model2vec folders, and the table inside the package wordllama. A text without a known token is the zero
vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.cores import available_cores
from offsphere.base.digests import digest_of_files
from offsphere.base.errors import ENDINGS, DataError, MissingExtraError, OffsphereError, first_line
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.safetensors_files import map_tensors
from offsphere.data.items import Item, ItemKind, ItemSide, texts_alone
from offsphere.encode.encoder import Description, Tokens
from offsphere.encode.static_files import (
    TokenTable,
    middling_length,
    read_config,
    read_table,
    read_tokenizer,
    unknown_token,
)

CHUNK = 1024  # texts to a thread


class StaticEncoder:
    """Mean token vectors: ``mean(weight[token] * table[row of token])``.

    Args:
        numbers: The table, and the row and the weight of each token, as ``read_table`` checked them.
        tokenizer: Turns texts into token numbers.
        description: Which model this is.
        unknown: The token that stands for what the tokenizer does not know; it is left out of the mean.
        longest: How many characters of a text are looked at.
        normalize: Whether vectors leave with length 1.
    """

    kinds: Sequence[ItemKind] = ("text",)
    pads = False

    def __init__(
        self,
        numbers: TokenTable,
        tokenizer: Any,
        description: Description,
        *,
        unknown: int | None = None,
        longest: int | None = None,
        normalize: bool = False,
    ) -> None:
        self.table, self.rows, self.weights = numbers
        self.tokenizer = tokenizer
        self.description = description
        self.unknown = -1 if unknown is None else unknown
        self.longest = longest
        self.normalize = normalize

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """No prompt: static models have none."""
        return ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:  # noqa: ARG002
        """Tokenise and average a chunk of texts in each thread; both let go of the interpreter."""
        texts = texts_alone(items, self.description.model)
        chunks = [texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK)]
        with ThreadPoolExecutor(available_cores()) as pool:
            parts = list(pool.map(self._means, chunks))
        rows = np.concatenate(parts) if parts else np.zeros((0, self.table.shape[1]), np.float32)
        if self.normalize:
            lengths = np.linalg.norm(rows, axis=1, keepdims=True)
            rows = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
        return rows

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Count the tokens of each text that go into its mean."""
        return np.diff(self.tokens(items).ends, prepend=0).astype(np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens:
        """The tokens of each text that go into its mean: all that the tokenizer knows."""
        ids, ends = self._tokenize(texts_alone(items, self.description.model))
        known = ids != self.unknown
        return Tokens(ids[known], np.concatenate([[0], np.cumsum(known)])[ends])

    def _means(self, texts: Sequence[str]) -> Rows:
        from offsphere.encode.pooling import mean_rows

        tokens, ends = self._tokenize(texts)
        return np.asarray(mean_rows(self.table, self.rows, self.weights, tokens, ends, self.unknown))

    def _tokenize(self, texts: Sequence[str]) -> Tokens:
        """All tokens of each text, unknown ones included."""
        beginnings = [text[: self.longest] for text in texts]
        try:
            encodings = self.tokenizer.encode_batch_fast(beginnings, add_special_tokens=False)
        except ENDINGS:
            raise
        except BaseException as error:  # tokenizers raises a bare Exception, and one that is none where it fails itself
            raise OffsphereError(
                f"the tokenizer of {self.description.model} fails on a text: {first_line(error)}"
            ) from error
        tokens = Tokens.of([encoding.ids for encoding in encodings])
        if tokens.ids.max(initial=0) >= len(self.rows):  # compiled code would read beyond the table
            raise OffsphereError(
                f"the tokenizer of {self.description.model} gives token {tokens.ids.max():,}, and its table knows "
                f"{len(self.rows):,}: its files do not belong together"
            )
        return tokens


def load_wordllama() -> StaticEncoder:
    """Read table and tokenizer of the installed package wordllama directly: its own loader wants the network."""
    from importlib.util import find_spec

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise MissingExtraError("wordllama", "static")
    folder = Path(spec.origin).parent
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    words = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    numbers = read_table(weights, "embedding.weight")
    tokenizer = read_tokenizer(words, None, len(numbers.rows), weights)
    return StaticEncoder(
        numbers, tokenizer, Description("wordllama", digest_of_files([weights, words]), numbers.table.shape[1])
    )


def is_model2vec(folder: Path) -> bool:
    """Whether a folder holds a model2vec model: a tokenizer, and a table named embeddings or a configuration of one."""
    weights = folder / "model.safetensors"
    if not weights.is_file() or not (folder / "tokenizer.json").is_file():
        return False
    try:
        return "embeddings" in map_tensors(weights) or may_be_model2vec(folder / "config.json")
    except DataError:
        return may_be_model2vec(folder / "config.json")


def may_be_model2vec(config: Path) -> bool:
    """Whether a configuration looks like model2vec's, before the weights are there."""
    try:
        settings = read_json_object(config)
    except DataError:
        return False
    return settings.get("model_type") == "model2vec" or "embedding_dtype" in settings


def load_model2vec(folder: Path, name: str, *, keep_normalize: bool = False) -> StaticEncoder:
    """Load a model2vec folder, which holds config.json, tokenizer.json and model.safetensors.

    Args:
        folder: The folder.
        name: What the store and the tables call the model.
        keep_normalize: Let vectors leave with length 1 where the model says so.

    Returns:
        The encoder.

    Raises:
        DataError: A file is missing or damaged, or the three do not fit together.
    """
    config_file, words, weights = (folder / file for file in ("config.json", "tokenizer.json", "model.safetensors"))
    config = read_config(config_file)
    numbers = read_table(weights, "embeddings")
    tokenizer = read_tokenizer(words, config.max_length, len(numbers.rows), weights)
    normalizes = bool(config.normalize)
    description = Description(
        name,
        digest_of_files([config_file, words, weights]),
        numbers.table.shape[1],
        removed=["config.json: normalize"] if normalizes and not keep_normalize else [],
        kept_normalize=keep_normalize,
    )
    return StaticEncoder(
        numbers,
        tokenizer,
        description,
        unknown=unknown_token(tokenizer),
        # model2vec cuts texts to as many characters as that many tokens of middling length would have
        longest=None if config.max_length is None else config.max_length * middling_length(tokenizer),
        normalize=normalizes and keep_normalize,
    )
