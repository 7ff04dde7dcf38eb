"""What is known of the texts behind the vectors: how long they are, and how frequent their tokens.

Tokens are the model's own where an encoder is at hand, else words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.encode.encoder import Tokens

Tokenize = Callable[[Sequence[str]], Tokens | None]

Unit = Literal["tokens", "words"]

AT_ONCE = 1_024  # texts

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
    attempts = [_tokenize_in_blocks(texts, tokenize) for texts in sides] if tokenize is not None else []
    tokenized = [tokens for tokens in attempts if tokens is not None]
    unit: Unit = "tokens"
    if len(tokenized) < len(sides):
        unit, tokenized = "words", words_of(sides)
    counts = np.bincount(np.concatenate([tokens.ids for tokens in tokenized]))
    with np.errstate(divide="ignore"):
        logarithms = np.log(counts / max(counts.sum(), 1))
    return [_numbers(texts, tokens, logarithms, unit) for texts, tokens in zip(sides, tokenized, strict=True)]


def _tokenize_in_blocks(texts: Sequence[str], tokenize: Tokenize) -> Tokens | None:
    """Tokens of all texts, some texts at a time: a tokenizer's own lists are many times as large."""
    parts = []
    for start in range(0, len(texts), AT_ONCE):
        part = tokenize(texts[start : start + AT_ONCE])
        if part is None:
            return None
        parts.append(part)
    before = np.cumsum([0, *(len(part.ids) for part in parts)])
    ends = [part.ends + first for part, first in zip(parts, before, strict=False)]
    return Tokens(np.concatenate([part.ids for part in parts]), np.concatenate(ends))


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
