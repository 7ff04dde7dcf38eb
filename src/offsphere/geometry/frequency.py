"""Frequency bias: do texts of frequent tokens look more, or less, alike than texts of rare ones?

Cosine under-estimates the similarity of frequent words (Zhou et al. 2022). Here texts are put into bands by the mean
logarithm of their tokens' frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import exp, nan
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.errors import OffsphereError
from offsphere.geometry.directions import Directions
from offsphere.geometry.positives import Positives
from offsphere.statistics.correlation import Correlation, clustered_error, correlation
from offsphere.statistics.estimate import UNDEFINED, Estimate
from offsphere.vectors.blocks import Blocks

BANDS = 5


class Band(NamedTuple):
    """Documents whose tokens are about equally frequent, the rarest band first."""

    documents: int
    frequency: float  # geometric mean of the frequency of a token, per million
    within: float  # mean cosine of two documents of the band, exact
    with_all: float  # mean cosine with any document
    positives: int
    positive: Estimate  # mean cosine of the band's documents with their queries


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyBias:
    """Similarity against token frequency."""

    side: str
    unit: str
    bands: Sequence[Band]
    positive: Correlation | None  # frequency against the cosine of positive pairs

    @property
    def sentence(self) -> str:
        """Which way it goes."""
        first, last = self.bands[0], self.bands[-1]
        said = (
            f"{self.side}: two texts of the rarest {self.unit} have cosine {first.within:.3f}, of the most frequent "
            f"{last.within:.3f}"
        )
        if self.positive is None or not self.positive.spearman.excludes_zero:
            return said
        found = self.positive.spearman
        way = "more" if found.value > 0 else "less"
        return f"{said}; positive pairs of frequent {self.unit} look {way} alike (Spearman {found})"


def frequency_bias(
    side: str, vectors: Vectors, frequency: Array, unit: str, positives: Positives | None
) -> FrequencyBias:
    """Bands of equal size by the mean logarithm of token frequency; empty texts are in none."""
    known = np.flatnonzero(np.isfinite(frequency))
    bands = [part for part in np.array_split(known[np.argsort(frequency[known], kind="stable")], BANDS) if len(part)]
    if not bands:
        raise OffsphereError(f"frequency bias: no {side} text has a word in it")
    place = np.full(len(frequency), -1)
    for number, rows in enumerate(bands):
        place[rows] = number
    sums = _by_band(vectors, place, len(bands))
    whole = reduce(Directions.merge, sums)
    pairs = None
    if positives is not None and len(positives):
        usable = np.isfinite(frequency[positives.right])
        pairs = correlation(frequency[positives.right[usable]], positives.cosines[usable], positives.left[usable])
    return FrequencyBias(
        side,
        unit,
        [
            Band(
                len(rows),
                exp(float(frequency[rows].mean())) * 1e6,
                own.mean_cosine,
                own.mean_cosine_with(whole),
                *_positive(positives, place, number),
            )
            for number, (rows, own) in enumerate(zip(bands, sums, strict=True))
        ],
        pairs,
    )


def _by_band(vectors: Vectors, place: Index, count: int) -> list[Directions]:
    """The sums of directions of each band, in one pass over the vectors in their order."""
    zero = np.zeros(vectors.shape[1])
    sums = [Directions(0, zero, zero) for _ in range(count)]
    first = 0
    for block in Blocks.of(vectors):
        own = place[first : first + len(block)]
        for number in range(count):
            sums[number] = sums[number].merge(Directions.of(block[own == number])[0])
        first += len(block)
    return sums


def _positive(positives: Positives | None, place: Index, number: int) -> tuple[int, Estimate]:
    if positives is None:
        return 0, UNDEFINED
    own = place[positives.right] == number
    cosines = positives.cosines[own]
    if not len(cosines):
        return 0, UNDEFINED
    error, units = clustered_error(cosines - cosines.mean(), positives.left[own])  # pairs of a query hang together
    return len(cosines), Estimate.around(float(cosines.mean()), error if units > 1 else nan, max(units - 1, 1))
