"""Mean and covariance of vectors in one streaming pass, in float64, mergeable between chunks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import VectorError


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Count, mean and scatter (``Sum (x - mean)(x - mean)^T``) of a set of vectors."""

    count: int
    mean: Array  # (dimension,)
    scatter: Array  # (dimension, dimension)

    @classmethod
    def of(cls, vectors: Vectors, product: type[np.floating] = np.float64) -> Moments:
        """The moments of one chunk. A float32 ``product`` is fast and rounds the scatter at about 1e-7 of its size."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = vectors.mean(axis=0, dtype=np.float64)
            centred = np.subtract(vectors, mean.astype(product), dtype=product)
            scatter = (centred.T @ centred).astype(np.float64)
        if product is np.float32 and not np.isfinite(scatter).all():
            return cls.of(vectors)  # beyond the range of float32, unless the vectors themselves are not finite
        return cls(len(vectors), mean, scatter)

    @classmethod
    def over(cls, chunks: Iterable[Vectors]) -> Moments:
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
    def second(self) -> Array:
        """``Sum x x^T``: the scatter about zero instead of about the mean."""
        return self.scatter + self.count * np.outer(self.mean, self.mean)

    @property
    def covariance(self) -> Array:
        """The population covariance."""
        return self.scatter / self.count
