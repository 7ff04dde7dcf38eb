"""Two views of one text, for learning without judgments. The same seed gives the same views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.errors import DataError
from offsphere.learning.data.task_sources import NumberedSides
from offsphere.learning.data.training_pairs import ItemPairs

LEFT_OUT = 0.1  # share of the words
CROPS = (0.1, 0.5)  # the shortest and the longest share of a text (Izacard et al. 2021 crop within these bounds)


def view_pairs(texts: Sequence[str], kind: str, epochs: int, seed: int) -> ItemPairs:
    """Two views of every text, paired, made anew for each epoch."""
    distinct = [text for text in dict.fromkeys(texts) if text.strip()]
    if not distinct:
        raise DataError("there is no text to learn from")
    rng = np.random.default_rng([seed, 7])
    left: list[str] = []
    right: list[str] = []
    for _ in range(epochs):
        first, second = two_views(distinct, kind, rng)
        left, right = left + first, right + second
    numbers = np.tile(np.arange(len(distinct)), epochs)
    rows = np.arange(len(left))
    return ItemPairs(
        sources=[NumberedSides(left, right, numbers, numbers)],
        source=np.zeros(len(rows), np.int64),
        queries=rows,
        documents=rows,
        negatives=np.zeros((len(rows), 0), np.int64),
        known=np.stack([np.arange(len(distinct))] * 2, axis=1),
        distinct=len(distinct),
    )


def two_views(texts: Sequence[str], kind: str, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Two views of each text: the text twice (same), with small changes (augmented), or two random crops (crops)."""
    if kind == "same":
        return list(texts), list(texts)
    change = augment if kind == "augmented" else crop
    return [change(text, rng) for text in texts], [change(text, rng) for text in texts]


def augment(text: str, rng: np.random.Generator) -> str:
    """Leave some words out, and exchange one pair of neighbours."""
    words = _leave_words_out(text.split(), rng)
    if len(words) > 1:
        first = int(rng.integers(len(words) - 1))
        words[first], words[first + 1] = words[first + 1], words[first]
    return " ".join(words)


def crop(text: str, rng: np.random.Generator) -> str:
    """Take a stretch of the text, and leave some of its words out."""
    words = text.split()
    length = max(1, round(len(words) * rng.uniform(*CROPS)))
    start = int(rng.integers(len(words) - length + 1)) if words else 0
    return " ".join(_leave_words_out(words[start : start + length], rng))


def _leave_words_out(words: list[str], rng: np.random.Generator) -> list[str]:
    """Leave out some words at random; at least one stays where there is one."""
    kept = [word for word, draw in zip(words, rng.random(len(words)), strict=True) if draw >= LEFT_OUT]
    return kept or words[:1]
