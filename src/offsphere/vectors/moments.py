"""Mean and covariance of vectors in one pass over chunks, in float64; those of two sets merge into those of both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import VectorError
from offsphere.vectors.as_vectors import as_vectors

PIECE = 2_048  # rows that are multiplied at a time


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """The count, mean and scatter of a set of vectors: what transforms are fitted on.

    Attributes:
        count: How many vectors there are.
        mean: Their mean.
        scatter: ``Sum (x - mean)(x - mean)^T``, the covariance times the count.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> moments = osp.Moments.of(np.array([[1.0, 0.0], [3.0, 4.0]]))
        >>> moments.mean.tolist(), moments.covariance.tolist()
        ([2.0, 2.0], [[1.0, 2.0], [2.0, 4.0]])
    """

    count: int
    mean: Array  # (dimension,)
    scatter: Array  # (dimension, dimension)

    def __repr__(self) -> str:
        """The counts, not the numbers."""
        return f"Moments({self.count:,} vectors of {len(self.mean)} dimensions)"

    @classmethod
    def of(cls, vectors: Vectors, product: type[np.floating] = np.float64) -> Moments:
        """The moments of one array of vectors.

        Args:
            vectors: A row for each vector.
            product: The precision of the matrix product; float32 is fast, and rounds the scatter at about 1e-7 of its
                size.

        Returns:
            The moments, in float64.

        Raises:
            VectorError: What is given is no rows of numbers.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> osp.Moments.of(np.array([[1.0, 0.0], [3.0, 4.0]])).scatter.tolist()
            [[2.0, 4.0], [4.0, 8.0]]
        """
        vectors = as_vectors(vectors)
        if vectors.ndim != 2:  # noqa: PLR2004
            raise VectorError(f"vectors of shape {vectors.shape}: give rows, for one vector x write x[None]")
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mean = _sums(vectors) / len(vectors)
            scatter = _scatter_about(mean.astype(product), vectors)
        if product is np.float32 and not np.isfinite(scatter).all():
            return cls.of(vectors)  # beyond the range of float32, unless the vectors themselves are not finite
        return cls(len(vectors), mean, scatter)

    @classmethod
    def over(cls, chunks: Iterable[Vectors]) -> Moments:
        """The moments of all chunks together, read one at a time.

        Args:
            chunks: Arrays of vectors, such as the blocks of a corpus that does not fit into memory.

        Returns:
            The moments of all of them.

        Raises:
            VectorError: There is no vector in any chunk.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> osp.Moments.over(np.full((2, 1), value) for value in (0.0, 4.0)).covariance.tolist()
            [[4.0]]
        """
        total: Moments | None = None
        for chunk in chunks:
            if len(chunk):
                part = cls.of(chunk)
                total = part if total is None else total.merge(part)
        if total is None:
            raise VectorError("there are no documents to fit on: give at least one vector")
        return total

    def merge(self, other: Moments) -> Moments:
        """The moments of two sets together (Chan, Golub & LeVeque 1979).

        Args:
            other: The moments of the other set.

        Returns:
            The moments of the union.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> left, right = osp.Moments.of(np.zeros((3, 1))), osp.Moments.of(np.full((1, 1), 8.0))
            >>> left.merge(right).mean.tolist()
            [2.0]
        """
        count = self.count + other.count
        shift = other.mean - self.mean
        mean = self.mean + shift * (other.count / count)
        scatter = np.outer(shift, shift * (self.count * other.count / count))
        scatter += self.scatter
        scatter += other.scatter
        return Moments(count, mean, scatter)

    @property
    def second(self) -> Array:
        """``Sum x x^T``: the scatter about zero instead of about the mean."""
        return self.scatter + self.count * np.outer(self.mean, self.mean)

    @property
    def covariance(self) -> Array:
        """The population covariance: the scatter over the count."""
        return self.scatter / self.count


def _sums(vectors: Vectors) -> Array:
    """The sum of each column in float64."""
    if vectors.dtype != np.float32:
        return np.asarray(vectors.sum(axis=0, dtype=np.float64))
    from offsphere.vectors.column_kernels import column_sums

    rows = vectors.view()
    rows.flags.writeable = False  # of a memory map or not, it is one type to compiled code
    return np.asarray(column_sums(rows))


def _scatter_about(centre: Vectors, vectors: Vectors) -> Array:
    """``Sum (x - c)(x - c)^T``: a piece multiplied in the precision of the centre, the sum over pieces in float64.

    All pieces are centred in the same memory: memory fresh from the system takes longer than the centring.
    """
    scatter = np.zeros((len(centre), len(centre)))
    memory = np.empty((min(PIECE, len(vectors)), len(centre)), centre.dtype)
    for start in range(0, len(vectors), PIECE):
        piece = vectors[start : start + PIECE]
        centred = np.subtract(piece, centre, out=memory[: len(piece)], dtype=centre.dtype)
        scatter += centred.T @ centred
    return scatter
