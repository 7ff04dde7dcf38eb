"""Fitted maps: what transforms become when they are fitted. A chain of affine maps is one affine map.

So a scorer with many affine transforms costs as much as with one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.short_repr import short_repr
from offsphere.scoring.scorer_files import numbers_of
from offsphere.scoring.value_key import value_key
from offsphere.vectors.mapped_rows import mapped_rows
from offsphere.vectors.moments import Moments

Side = Literal["query", "document"]


class FittedMap(Protocol):
    """A fitted transform: what it makes of the vectors of each side."""

    @property
    def key(self) -> str:
        """A key that is equal for equal maps, whichever process they are in."""
        ...

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Map rows of one side.

        Args:
            vectors: (rows, dimension).
            side: Whose rows these are; most maps do the same with both.

        Returns:
            The mapped rows, in float32.
        """
        ...

    def moments(self, moments: Moments) -> Moments:
        """Give the moments of the mapped documents, from those of the documents.

        Args:
            moments: Of the documents before the map.

        Returns:
            Count, mean and covariance after it.
        """
        ...


@dataclass(frozen=True, eq=False)
class AffineMap:
    """``x @ matrix + shift``: what most fitted transforms are. A one-dimensional matrix is a diagonal."""

    matrix: Array  # (dimension, output dimension) or (dimension,)
    shift: Array  # (output dimension,)

    __repr__ = short_repr

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal maps, whichever process they are in."""
        return value_key("affine", self.arrays())

    def arrays(self) -> dict[str, Array]:
        """Give its numbers by name."""
        return {"matrix": self.matrix, "shift": self.shift}

    @classmethod
    def of(cls, arrays: Mapping[str, Array]) -> AffineMap:
        """Make the map again from what ``arrays()`` gave.

        Raises:
            DataError: where an array is missing, not finite, or the two do not fit each other.
        """
        matrix, shift = numbers_of(arrays, "matrix", 1, 2), numbers_of(arrays, "shift", 1)
        if matrix.shape[-1] != len(shift):
            raise DataError(f"a map has a matrix of shape {matrix.shape} and a shift of {len(shift)} numbers")
        return cls(matrix, shift)

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a vector has before the map and after it."""
        return len(self.matrix), len(self.shift)

    @property
    def takes(self) -> tuple[int, ...]:
        """How many numbers a vector has before the map, on either side."""
        return (len(self.matrix),)

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:  # noqa: ARG002
        """Map rows in float64 and keep them in float32, the precision in which vectors are stored and searched."""
        if vectors.shape[1] != len(self.matrix):
            raise VectorError(
                f"vectors have {vectors.shape[1]} dimensions, the transform was fitted on {len(self.matrix)}: "
                "use vectors of the model it was fitted on"
            )
        with np.errstate(over="ignore", invalid="ignore"):  # who scores the vectors refuses what is not finite
            if self.matrix.ndim == 2:  # noqa: PLR2004
                return mapped_rows(vectors, self.matrix, self.shift)
            return (np.asarray(vectors, dtype=np.float64) * self.matrix + self.shift).astype(np.float32)

    def then(self, following: AffineMap) -> AffineMap:
        """Join this map and the following one to one map."""
        if self.matrix.ndim == 1 and following.matrix.ndim == 2:  # noqa: PLR2004  # a diagonal before a full matrix
            matrix = self.matrix[:, None] * following.matrix
        else:
            matrix = _times(self.matrix, following.matrix)
        return AffineMap(matrix, _times(self.shift, following.matrix) + following.shift)

    def moments(self, moments: Moments) -> Moments:
        """Give the moments of the mapped vectors, without a look at them."""
        half = _times(moments.scatter, self.matrix)  # (dimension, output dimension)
        scatter = _times(half.T, self.matrix)
        return Moments(moments.count, _times(moments.mean, self.matrix) + self.shift, scatter)


@dataclass(frozen=True, eq=False)
class Chain:
    """Maps one after the other, where they are not one affine map."""

    parts: tuple[FittedMap, ...]

    __repr__ = short_repr

    @cached_property
    def key(self) -> str:
        """A key that is equal for equal chains, whichever process they are in."""
        return value_key(["chain", *(part.key for part in self.parts)])

    def apply(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Apply each part to what the part before it made."""
        rows = self.parts[0].apply(vectors, side)
        for part in self.parts[1:]:
            rows = part.apply(rows, side)
        return rows

    def moments(self, moments: Moments) -> Moments:
        """Carry the moments through every part."""
        for part in self.parts:
            moments = part.moments(moments)
        return moments


def join_maps(maps: Sequence[FittedMap]) -> FittedMap | None:
    """Join maps to one that applies them in turn; neighbours that are affine become one affine map.

    Returns:
        The joined map; nothing for no maps.
    """
    parts: list[FittedMap] = []
    for part in maps:
        last = parts[-1] if parts else None
        if isinstance(last, AffineMap) and isinstance(part, AffineMap):
            parts[-1] = last.then(part)
        else:
            parts.append(part)
    return None if not parts else parts[0] if len(parts) == 1 else Chain(tuple(parts))


def parts_of(fitted: FittedMap | None) -> tuple[FittedMap, ...]:
    """Give the maps that a joined map applies in turn."""
    if fitted is None:
        return ()
    return fitted.parts if isinstance(fitted, Chain) else (fitted,)


def _times(left: Array, matrix: Array) -> Array:
    """Multiply rows with a matrix, or with the diagonal that a one-dimensional matrix stands for."""
    return left * matrix if matrix.ndim == 1 else left @ matrix
