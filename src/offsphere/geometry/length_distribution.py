"""How lengths are spread, in a form that merges and does not grow: every length while they are few, then counts.

Up to a million lengths are kept, and all that is told of them is exact. Beyond that each is counted in a bin of its
logarithm: a quantile is then off by at most half a bin, which is 0.034 % of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.geometry.length import BINS, QUANTILES, LengthSummary, length_summary
from offsphere.vectors.lengths import EQUAL_LENGTHS

MOST_KEPT = 1_000_000
BINS_AN_OCTAVE = 1_024
QUANTILE_ERROR = 2 ** (0.5 / BINS_AN_OCTAVE) - 1  # relative


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LengthDistribution:
    """Counts, mean and spread of lengths, and either all of them or how many fall into each bin.

    Attributes:
        empty: How many vectors have length zero; all else is of the others.
        count: How many have a length.
        mean: Of the lengths.
        squares: The sum of their squared distances from the mean.
        shortest: The least; infinity where there is none.
        longest: The greatest.
        kept: The lengths, ascending; none where they are counted.
        bins: The numbers of the bins that are not empty, ascending; none while lengths are kept.
        counts: How many lengths are in each of these.

    Example:
        >>> import numpy as np
        >>> from offsphere.geometry.length_distribution import LengthDistribution
        >>> both = LengthDistribution.of(np.array([0.0, 3.0])).merge(LengthDistribution.of(np.array([5.0])))
        >>> both.count, both.empty, both.mean, both.kept.tolist()
        (2, 1, 4.0, [3.0, 5.0])
    """

    empty: int
    count: int
    mean: float
    squares: float
    shortest: float
    longest: float
    kept: Array
    bins: Index
    counts: Index

    @classmethod
    def of(cls, lengths: Array) -> LengthDistribution:
        """The distribution of some lengths, which must be finite."""
        some = np.sort(lengths[lengths > 0])
        mean = float(some.mean()) if len(some) else 0.0
        whole = cls(
            empty=len(lengths) - len(some),
            count=len(some),
            mean=mean,
            squares=float(((some - mean) ** 2).sum()),
            shortest=float(some[0]) if len(some) else inf,
            longest=float(some[-1]) if len(some) else 0.0,
            kept=some,
            bins=np.zeros(0, np.int64),
            counts=np.zeros(0, np.int64),
        )
        return whole.merge(whole.nothing()) if len(some) > MOST_KEPT else whole

    def merge(self, other: LengthDistribution) -> LengthDistribution:
        """The distribution of both together, whichever comes first (moments after Chan, Golub & LeVeque 1979)."""
        count = self.count + other.count
        shift, share = other.mean - self.mean, other.count / max(count, 1)
        first, second = self, other
        if count > MOST_KEPT:
            first, second = _counted(self), _counted(other)
        bins, bin_of = np.unique(np.concatenate([first.bins, second.bins]), return_inverse=True)
        counts = np.zeros(len(bins), np.int64)
        np.add.at(counts, bin_of, np.concatenate([first.counts, second.counts]))
        return LengthDistribution(
            empty=self.empty + other.empty,
            count=count,
            mean=self.mean + shift * share if self.count else other.mean,
            squares=self.squares + other.squares + (shift**2 * self.count * share if self.count else 0.0),
            shortest=min(self.shortest, other.shortest),
            longest=max(self.longest, other.longest),
            kept=np.sort(np.concatenate([first.kept, second.kept])),
            bins=bins,
            counts=counts,
        )

    @classmethod
    def nothing(cls) -> LengthDistribution:
        """The distribution of no lengths at all, which changes none that it is merged with."""
        return cls.of(np.zeros(0))

    @property
    def exact(self) -> bool:
        """Whether all lengths are kept, so that quantiles are exact."""
        return len(self.kept) == self.count

    def summary(self, side: str) -> LengthSummary:
        """What is told of the lengths of a side; exact where they are kept."""
        if self.exact:
            return length_summary(side, np.concatenate([np.zeros(self.empty), self.kept]))
        centres = np.clip(2 ** ((self.bins + 0.5) / BINS_AN_OCTAVE), self.shortest, self.longest)
        positions, ends = np.array(QUANTILES) * (self.count - 1), np.cumsum(self.counts)
        below, above = (
            centres[np.searchsorted(ends, edge, side="right")] for edge in (np.floor(positions), np.ceil(positions))
        )
        quantiles = below + (above - below) * (positions % 1)
        quantiles[0], quantiles[-1] = self.shortest, self.longest
        normalised = self.longest - self.shortest <= EQUAL_LENGTHS * self.longest
        limits = (0.5 * self.mean, 1.5 * self.mean) if normalised else (self.shortest, self.longest)
        told, edges = np.histogram(centres, bins=BINS, range=limits, weights=self.counts)
        deviation = sqrt(self.squares / self.count)
        return LengthSummary(
            side=side,
            count=self.count + self.empty,
            empty=self.empty,
            mean=self.mean,
            deviation=deviation,
            variation=deviation / self.mean,
            quantiles={f"{share:g}": float(value) for share, value in zip(QUANTILES, quantiles, strict=True)},
            histogram_counts=told.astype(np.int64),
            histogram_edges=edges,
            normalised=normalised,
        )


def _counted(lengths: LengthDistribution) -> LengthDistribution:
    """A distribution with every length in its bin; a bin begins at a power of two and is a share of an octave wide."""
    if not len(lengths.kept):
        return lengths
    numbers = np.floor(np.log2(lengths.kept) * BINS_AN_OCTAVE).astype(np.int64)
    bins, counts = np.unique(numbers, return_counts=True)
    return replace(lengths, kept=np.zeros(0), bins=bins, counts=counts.astype(np.int64))
