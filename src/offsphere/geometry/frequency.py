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
from offsphere.base.short_repr import short_repr
from offsphere.geometry.directions import Directions
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.positives import Positives
from offsphere.statistics.correlation import Correlation, clustered_error, correlation
from offsphere.statistics.estimate import UNDEFINED, Estimate
from offsphere.vectors.blocks import Blocks

BANDS = 5


class FrequencyBand(NamedTuple):
    """Documents whose tokens are about equally frequent, the rarest band first."""

    documents: int
    frequency: float  # geometric mean of the frequency of a token, per million
    within: float  # mean cosine of two documents of the band, exact
    with_all: float  # mean cosine with any document
    positives: int
    positive: Estimate  # mean cosine of the band's documents with their queries


@dataclass(frozen=True, slots=True, eq=False)
class FrequencyBias:
    """How alike texts look, by how frequent their tokens are."""

    side: str
    unit: str
    bands: Sequence[FrequencyBand]
    positive: Correlation | None  # frequency against the cosine of positive pairs

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """How alike texts of rare and of frequent tokens look, and which way positive pairs go."""
        first, last = self.bands[0], self.bands[-1]
        cosines = (
            f"{self.side}: two texts of the rarest {self.unit} have cosine {first.within:.3f}, of the most frequent "
            f"{last.within:.3f}"
        )
        if self.positive is None or not self.positive.spearman.excludes_zero:
            return cosines
        rank = self.positive.spearman
        way = "more" if rank.value > 0 else "less"
        return f"{cosines}; positive pairs of frequent {self.unit} look {way} alike (Spearman {rank})"


def measure_frequency(evidence: Evidence) -> list[FrequencyBias]:
    """The section: similarity against token frequency, on the side that is searched."""
    if evidence.texts is None:
        raise OffsphereError("frequency bias: it needs the texts, and the task has none")
    side, numbers = evidence.sides[-1], evidence.texts[-1]
    try:
        positives = evidence.positives
    except OffsphereError:
        positives = None  # the bands need none
    return [frequency_bias(side.name, side.vectors, numbers.frequency, numbers.frequency_of, positives)]


def frequency_bias(
    side: str, vectors: Vectors, frequency: Array, unit: str, positives: Positives | None
) -> FrequencyBias:
    """How alike the texts of each band look: bands of equal size by token frequency, empty texts in none."""
    known = np.flatnonzero(np.isfinite(frequency))
    bands = [part for part in np.array_split(known[np.argsort(frequency[known], kind="stable")], BANDS) if len(part)]
    if not bands:
        raise OffsphereError(f"frequency bias: no {side} text has a word in it")
    band_of = np.full(len(frequency), -1)
    for number, rows in enumerate(bands):
        band_of[rows] = number
    sums = _sums_by_band(vectors, band_of, len(bands))
    whole = reduce(Directions.merge, sums)
    pairs = None
    if positives is not None and len(positives):
        usable = np.isfinite(frequency[positives.right])
        pairs = correlation(frequency[positives.right[usable]], positives.cosines[usable], positives.left[usable])
    return FrequencyBias(
        side,
        unit,
        [
            FrequencyBand(
                len(rows),
                exp(float(frequency[rows].mean())) * 1e6,
                directions.mean_cosine,
                directions.mean_cosine_with(whole),
                *_positive_cosine(positives, band_of, number),
            )
            for number, (rows, directions) in enumerate(zip(bands, sums, strict=True))
        ],
        pairs,
    )


def _sums_by_band(vectors: Vectors, band_of: Index, count: int) -> list[Directions]:
    """The sums of directions of each band, in one pass over the vectors in their order."""
    zero = np.zeros(vectors.shape[1])
    sums = [Directions(0, zero, zero) for _ in range(count)]
    first = 0
    for block in Blocks.of(vectors):
        block_bands = band_of[first : first + len(block)]
        for number in range(count):
            sums[number] = sums[number].merge(Directions.of(block[block_bands == number])[0])
        first += len(block)
    return sums


def _positive_cosine(positives: Positives | None, band_of: Index, number: int) -> tuple[int, Estimate]:
    """How many positive pairs have their document in a band, and their mean cosine."""
    if positives is None:
        return 0, UNDEFINED
    inside = band_of[positives.right] == number
    cosines = positives.cosines[inside]
    if not len(cosines):
        return 0, UNDEFINED
    error, units = clustered_error(cosines - cosines.mean(), positives.left[inside])  # pairs of a query hang together
    return len(cosines), Estimate.around(float(cosines.mean()), error if units > 1 else nan, max(units - 1, 1))
