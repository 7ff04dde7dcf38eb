"""Static models: the mean of token vectors from a table. No torch, no padding, every core.

Two sources: model2vec folders, and the table inside the package wordllama. A text without a known token is the zero
vector.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Rows, Vectors
from offsphere.base.cores import available_cores
from offsphere.base.digests import digest_of_files
from offsphere.base.errors import MissingExtraError, OffsphereError
from offsphere.data.items import Item, ItemSide
from offsphere.encode.encoder import Description, Tokens

MAX_TOKENS = 512  # model2vec's own default
CHUNK = 1024  # texts to a thread


class StaticEncoder:
    """Mean token vectors: ``mean(weight[token] * table[row of token])``.

    Args:
        table: The token vectors, a row each.
        tokenizer: Turns texts into token numbers.
        description: Which model this is.
        token_weights: What each token counts in the mean; all the same where it is not given.
        token_rows: The row of the table that each token has, where tokens share rows.
        unknown: The token that stands for what the tokenizer does not know; it is left out of the mean.
        longest: How many characters of a text are looked at.
        normalize: Whether vectors leave with length 1.
    """

    pads = False

    def __init__(
        self,
        table: Vectors,
        tokenizer: Any,
        description: Description,
        *,
        token_weights: Vectors | None = None,
        token_rows: NDArray[np.integer] | None = None,
        unknown: int | None = None,
        longest: int | None = None,
        normalize: bool = False,
    ) -> None:
        self.table = np.ascontiguousarray(table, dtype=np.float32)
        self.tokenizer = tokenizer
        self.description = description
        tokens = len(self.table) if token_rows is None else len(token_rows)
        self.rows = np.arange(tokens) if token_rows is None else np.asarray(token_rows, np.int64)
        self.weights = np.ones(tokens, np.float32) if token_weights is None else np.asarray(token_weights, np.float32)
        self.unknown = -1 if unknown is None else unknown
        self.longest = longest
        self.normalize = normalize

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """No prompt: static models have none."""
        return ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:  # noqa: ARG002
        """Tokenise and average a chunk of texts in each thread; both let go of the interpreter."""
        chunks = [items[start : start + CHUNK] for start in range(0, len(items), CHUNK)]
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
        ids, ends = self._tokenize(items)
        known = ids != self.unknown
        return Tokens(ids[known], np.concatenate([[0], np.cumsum(known)])[ends])

    def _means(self, texts: Sequence[str]) -> Rows:
        from offsphere.encode.pooling import mean_rows

        tokens, ends = self._tokenize(texts)
        return np.asarray(mean_rows(self.table, self.rows, self.weights, tokens, ends, self.unknown))

    def _tokenize(self, texts: Sequence[str]) -> Tokens:
        """All tokens of each text, unknown ones included."""
        beginnings = [text[: self.longest] for text in texts]
        encodings = self.tokenizer.encode_batch_fast(beginnings, add_special_tokens=False)
        return Tokens.of([encoding.ids for encoding in encodings])


def load_wordllama() -> StaticEncoder:
    """Read table and tokenizer of the installed package wordllama directly: its own loader wants the network."""
    from importlib.util import find_spec

    from safetensors.numpy import load_file

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise MissingExtraError("wordllama", "static")
    folder = Path(spec.origin).parent
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    tokenizer = _load_tokenizer(folder / "tokenizers" / "l2_supercat_tokenizer_config.json", None)
    table = load_file(weights)["embedding.weight"]
    description = Description("wordllama", digest_of_files([weights]), table.shape[1])
    return StaticEncoder(table, tokenizer, description)


def is_model2vec(folder: Path) -> bool:
    """Whether a folder holds a model2vec model: a tokenizer, and a table named embeddings."""
    from safetensors import SafetensorError, safe_open

    weights = folder / "model.safetensors"
    if not weights.is_file() or not (folder / "tokenizer.json").is_file():
        return False
    try:
        with safe_open(weights, framework="numpy") as tensors:
            return "embeddings" in tensors.keys()  # noqa: SIM118  # it is no mapping
    except (SafetensorError, OSError):
        return False


def may_be_model2vec(config: Path) -> bool:
    """Whether a configuration looks like model2vec's, before the weights are there."""
    try:
        settings = json.loads(config.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(settings, dict) and (settings.get("model_type") == "model2vec" or "embedding_dtype" in settings)


def load_model2vec(folder: Path, name: str, *, keep_normalize: bool = False) -> StaticEncoder:
    """Load a model2vec folder, which holds config.json, tokenizer.json and model.safetensors."""
    from safetensors.numpy import load_file

    config = json.loads((folder / "config.json").read_bytes())
    weights = folder / "model.safetensors"
    try:
        tensors = load_file(weights)
    except OSError as error:
        raise OffsphereError(f"{folder} is no model2vec model: {weights.name} cannot be read") from error
    limit = config.get("max_length", MAX_TOKENS)
    tokenizer = _load_tokenizer(folder / "tokenizer.json", limit)
    # model2vec cuts texts to as many characters as that many tokens of middling length would have
    middling = int(np.median([len(token) for token in tokenizer.get_vocab()]))
    normalizes = bool(config.get("normalize", False))
    description = Description(
        name,
        digest_of_files([weights]),
        tensors["embeddings"].shape[1],
        removed=["config.json: normalize"] if normalizes and not keep_normalize else [],
        kept_normalize=keep_normalize,
    )
    return StaticEncoder(
        tensors["embeddings"],
        tokenizer,
        description,
        token_weights=tensors.get("weights"),
        token_rows=tensors.get("mapping"),
        unknown=_unknown_token(tokenizer),
        longest=None if limit is None else limit * middling,
        normalize=normalizes and keep_normalize,
    )


def _load_tokenizer(path: Path, limit: int | None) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("tokenizers", "static") from error
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises a bare Exception
        raise OffsphereError(f"{path} is no tokenizer: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation() if limit is None else tokenizer.enable_truncation(limit)
    return tokenizer


def _unknown_token(tokenizer: Any) -> int | None:
    """The id of the tokenizer's unknown token, which says nothing about a text."""
    name = json.loads(tokenizer.to_str())["model"].get("unk_token")
    return tokenizer.token_to_id(name) if name is not None else None
