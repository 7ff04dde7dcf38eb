"""Sums over the directions of vectors: what the mean of all their cosines is made of, in O(n d)."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from offsphere.base.arrays import Array, Vectors


@dataclass(frozen=True, slots=True, eq=False)
class Directions:
    """How many vectors have a direction, the sum of their directions, and of the squares, dimension by dimension."""

    count: int
    total: Array  # (dimension,)
    squares: Array  # (dimension,)

    @classmethod
    def of(cls, vectors: Vectors) -> tuple[Directions, Array]:
        """The sums of one chunk, and the length of each of its vectors."""
        from offsphere.geometry.direction_kernels import sum_directions

        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        lengths, total, squares = np.empty(len(rows)), np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        count = sum_directions(rows, lengths, total, squares)
        return cls(count, total, squares), lengths

    def merge(self, other: Directions) -> Directions:
        """The sums of both sets together."""
        return Directions(self.count + other.count, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> Array:
        """The mean of all directions; no numbers where there is none."""
        return self.total / self.count if self.count else np.full(len(self.total), nan)

    @property
    def contributions(self) -> Array:
        """What each dimension adds to the mean cosine of two different vectors: ``(total_i^2 - squares_i)/(n(n-1))``.

        The mean over all pairs of ``u_i v_i / (|u| |v|)`` (Timkey & van Schijndel 2021), without forming a pair.
        """
        pairs = self.count * (self.count - 1)
        if not pairs:
            return np.full(len(self.total), nan)
        return np.asarray((self.total**2 - self.squares) / pairs)

    @property
    def mean_cosine(self) -> float:
        """The mean cosine of all pairs of different vectors (anisotropy, Ethayarajh 2019): exact, no pair is formed."""
        return float(self.contributions.sum())

    def mean_cosine_with(self, other: Directions) -> float:
        """The mean cosine of all pairs of one vector of this set and one of the other."""
        pairs = self.count * other.count
        return float(self.total @ other.total / pairs) if pairs else nan
