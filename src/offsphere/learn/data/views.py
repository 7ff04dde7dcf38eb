"""Two views of one text, for learning without pairs. The same seed gives the same views."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEFT_OUT = 0.1  # share of the words
CROPS = (0.1, 0.5)  # the shortest and the longest share of a text (Izacard et al. 2021 crop within these bounds)


def two_views(texts: Sequence[str], kind: str, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Two views of each text: the same, with words left out and neighbours exchanged, or random crops."""
    if kind == "same":
        return list(texts), list(texts)
    change = augmented if kind == "augmented" else cropped
    return [change(text, rng) for text in texts], [change(text, rng) for text in texts]


def augmented(text: str, rng: np.random.Generator) -> str:
    """Some words left out, and one pair of neighbours exchanged."""
    words = _thinned(text.split(), rng)
    if len(words) > 1:
        place = int(rng.integers(len(words) - 1))
        words[place], words[place + 1] = words[place + 1], words[place]
    return " ".join(words)


def cropped(text: str, rng: np.random.Generator) -> str:
    """A stretch of the text, with some words left out."""
    words = text.split()
    length = max(1, round(len(words) * rng.uniform(*CROPS)))
    start = int(rng.integers(len(words) - length + 1)) if words else 0
    return " ".join(_thinned(words[start : start + length], rng))


def _thinned(words: list[str], rng: np.random.Generator) -> list[str]:
    """At least one word stays where there is one."""
    kept = [word for word, draw in zip(words, rng.random(len(words)), strict=True) if draw >= LEFT_OUT]
    return kept or words[:1]
