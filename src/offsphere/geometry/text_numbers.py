"""What is known of the texts behind the vectors: how long they are, and how frequent their tokens.

Tokens are the model's own where an encoder is at hand, else words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.encode.encoder import Tokens
from offsphere.encode.token_blocks import Tokenize, tokens_in_blocks

Unit = Literal["tokens", "words"]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class TextNumbers:
    """Per text: characters, tokens, and the mean logarithm of its tokens' frequency (no number for an empty text)."""

    characters: Index
    tokens: Index
    frequency: Array
    counted: Unit
    frequency_of: Unit


def text_numbers(sides: Sequence[Sequence[str]], tokenize: Tokenize | None = None) -> list[TextNumbers]:
    """The numbers of the texts of each side; frequencies are those in all sides together."""
    attempts = [tokens_in_blocks(texts, tokenize) for texts in sides] if tokenize is not None else []
    tokenized = [tokens for tokens in attempts if tokens is not None]
    unit: Unit = "tokens"
    if len(tokenized) < len(sides):
        unit, tokenized = "words", words_of(sides)
    counts = np.bincount(np.concatenate([tokens.ids for tokens in tokenized]))
    with np.errstate(divide="ignore"):
        logarithms = np.log(counts / max(counts.sum(), 1))
    return [_numbers(texts, tokens, logarithms, unit) for texts, tokens in zip(sides, tokenized, strict=True)]


def words_of(sides: Sequence[Sequence[str]]) -> list[Tokens]:
    """The words of each side's texts, in lower case, numbered in the order in which they are met."""
    numbers: dict[str, int] = {}
    return [
        Tokens.of([[numbers.setdefault(word, len(numbers)) for word in _WORD.findall(text.lower())] for text in texts])
        for texts in sides
    ]


def _numbers(texts: Sequence[str], tokens: Tokens, logarithms: Array, unit: Unit) -> TextNumbers:
    """The numbers of one side's texts, from their tokens and the logarithm of each token's frequency."""
    counts = np.diff(tokens.ends, prepend=0)
    sums = np.concatenate([[0.0], np.cumsum(logarithms[tokens.ids])])
    starts = np.concatenate([[0], tokens.ends[:-1]]).astype(np.int64)
    with np.errstate(invalid="ignore"):
        frequency = (sums[tokens.ends] - sums[starts]) / np.where(counts > 0, counts, np.nan)
    return TextNumbers(np.array([len(text) for text in texts]), counts, frequency, unit, unit)
