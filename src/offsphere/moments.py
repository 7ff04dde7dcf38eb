"""Mean and covariance of vectors in one streaming pass, in float64, mergeable between chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsphere.errors import VectorError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Count, mean and scatter (``Sum (x - mean)(x - mean)^T``) of a set of vectors."""

    count: int
    mean: Array  # (dimension,)
    scatter: Array  # (dimension, dimension)

    @classmethod
    def of(cls, vectors: NDArray[np.floating]) -> Moments:
        """The moments of one chunk."""
        chunk = np.asarray(vectors, dtype=np.float64)
        mean = chunk.mean(axis=0)
        centred = chunk - mean
        return cls(len(chunk), mean, centred.T @ centred)

    @classmethod
    def over(cls, chunks: Iterable[NDArray[np.floating]]) -> Moments:
        """The moments of all chunks together, seen one at a time."""
        total: Moments | None = None
        for chunk in chunks:
            if len(chunk):
                part = cls.of(chunk)
                total = part if total is None else total.merge(part)
        if total is None:
            raise VectorError("there are no documents to fit on: give at least one vector")
        return total

    def merge(self, other: Moments) -> Moments:
        """The moments of both sets together (Chan, Golub & LeVeque 1979)."""
        count = self.count + other.count
        shift = other.mean - self.mean
        mean = self.mean + shift * (other.count / count)
        between = np.outer(shift, shift) * (self.count * other.count / count)
        return Moments(count, mean, self.scatter + other.scatter + between)

    @property
    def covariance(self) -> Array:
        """The population covariance."""
        return self.scatter / self.count
