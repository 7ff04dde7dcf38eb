"""The files of static models, checked before anything compiled reads what is in them.

The loop in ``pooling`` looks up ``table[rows[token]]`` and ``weights[token]`` without asking whether they are there. So
here every row is one of the table, every token of the vocabulary has a row and a weight, and all numbers are finite;
``StaticEncoder`` checks the tokens of each text again, since those come from a program of somebody else's.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index, Rows
from offsphere.base.errors import ENDINGS, DataError, MissingExtraError, first_line
from offsphere.base.reading.file_access import read_bounded
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.records import record_of
from offsphere.base.reading.safetensors_files import BFLOAT16, Tensor, map_tensors, widen_bfloat16

MAX_TOKENS = 512  # model2vec's own default
MOST_TOKENS = 1 << 31  # that a tokenizer can be told to cut a text to


@dataclass(frozen=True)
class StaticConfig:
    """What counts of a model2vec configuration."""

    max_length: int | None = MAX_TOKENS
    normalize: bool | None = False


class TokenTable(NamedTuple):
    """The numbers of a static model: the table, the row of each token in it, and the weight of each token."""

    table: Rows  # (rows, dimension)
    rows: Index  # (tokens,)
    weights: NDArray[np.float32]  # (tokens,)


def read_config(path: Path) -> StaticConfig:
    """Read the configuration of a model2vec model.

    Raises:
        DataError: It is missing, no JSON object, or says something else than a length and a flag.
    """
    values = read_json_object(path)
    known = {name: values[name] for name in ("max_length", "normalize") if name in values}
    config = record_of(StaticConfig, known, str(path))
    if config.max_length is not None and not 0 < config.max_length < MOST_TOKENS:
        raise DataError(f"{path}: 'max_length' is {config.max_length}: expected how many tokens of a text are read")
    return config


def read_table(path: Path, name: str) -> TokenTable:
    """Read the table of a static model, and the rows and weights of its tokens where the file has them.

    Args:
        path: A safetensors file, which may have ``mapping`` and ``weights`` beside the table.
        name: What the table is called.

    Returns:
        Arrays that fit together: every row is one of the table.

    Raises:
        DataError: A tensor is missing, of the wrong shape or type, not finite, or points outside of the table.
    """
    tensors = map_tensors(path)
    if name not in tensors:
        raise DataError(f"{path} has no table {name!r}: it has {', '.join(tensors) or 'nothing'}")
    table = _numbers(path, name, tensors[name], axes=2)
    if not table.size:
        raise DataError(f"{path}: {name!r} of shape {table.shape} holds no numbers")
    rows = _rows(path, tensors["mapping"], len(table)) if "mapping" in tensors else np.arange(len(table))
    if "weights" not in tensors:
        return TokenTable(table, rows, np.ones(len(rows), np.float32))
    weights = _numbers(path, "weights", tensors["weights"], axes=1)
    if len(weights) != len(rows):
        raise DataError(f"{path} has {len(weights):,} weights for {len(rows):,} tokens: there must be one for each")
    return TokenTable(table, rows, weights)


def read_tokenizer(path: Path, limit: int | None, tokens: int, weights: Path) -> Any:
    """Read a tokenizer that cuts texts to so many tokens and pads nothing.

    Args:
        path: The file of the tokenizer.
        limit: How many tokens of a text are read; all where it is not given.
        tokens: How many tokens the table knows.
        weights: The file of the table, for errors.

    Returns:
        The tokenizer, all of whose tokens are known to the table.

    Raises:
        DataError: It is no tokenizer, or has tokens that the table does not know.
    """
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError("tokenizers", "static") from error
    content = read_bounded(path)
    try:
        tokenizer = Tokenizer.from_str(content.decode())
        tokenizer.no_padding()
        tokenizer.no_truncation() if limit is None else tokenizer.enable_truncation(limit)
        vocabulary = tokenizer.get_vocab()
    except ENDINGS:
        raise
    except BaseException as error:  # tokenizers raises a bare Exception, and one that is none where it fails itself
        raise DataError(f"{path} is no tokenizer: {first_line(error)}") from error
    if not vocabulary:
        raise DataError(f"{path} is a tokenizer without a vocabulary")
    last, number = max(vocabulary.items(), key=lambda item: item[1])
    if number >= tokens:
        raise DataError(f"{path} has a token {last!r} of number {number:,}, and {weights} knows {tokens:,} tokens")
    return tokenizer


def middling_length(tokenizer: Any) -> int:
    """The median of how many characters a token has."""
    return int(np.median([len(token) for token in tokenizer.get_vocab()]))


def unknown_token(tokenizer: Any) -> int | None:
    """The number of the token that stands for what the tokenizer does not know, where there is one."""
    model = json.loads(tokenizer.to_str())["model"]
    if "unk_id" in model:  # Unigram
        number: int | None = model["unk_id"]
        return number
    name = model.get("unk_token")
    return tokenizer.token_to_id(name) if name is not None else None


def _numbers(path: Path, name: str, tensor: Tensor, axes: int) -> Rows:
    """A tensor as float32, finite and of so many axes; model2vec keeps tables in whole bytes too."""
    kind, numbers = tensor
    if numbers.ndim != axes or (numbers.dtype.kind not in "fi" and kind != BFLOAT16):
        raise DataError(f"{path}: {name!r} is {kind} of shape {numbers.shape}: expected numbers of {axes} axes")
    with np.errstate(over="ignore"):
        values = widen_bfloat16(numbers) if kind == BFLOAT16 else np.ascontiguousarray(numbers, np.float32)
    if not np.isfinite(values).all():
        raise DataError(f"{path}: {name!r} holds numbers that are not finite, or more than float32 can hold")
    return values


def _rows(path: Path, tensor: Tensor, height: int) -> Index:
    """The row of the table that each token has."""
    kind, numbers = tensor
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or kind == BFLOAT16:
        raise DataError(f"{path}: 'mapping' is {kind} of shape {numbers.shape}: expected a whole number a token")
    outside = np.flatnonzero((numbers < 0) | (numbers >= height))
    if len(outside):
        token = int(outside[0])
        raise DataError(f"{path}: 'mapping' gives token {token:,} row {numbers[token]} of a table of {height:,} rows")
    return numbers.astype(np.int64)
