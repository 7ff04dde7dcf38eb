"""Interactions of users with items: a sparse matrix, checked, and the weightings that stay sparse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from offsphere.errors import DataError, ParameterError

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """``(x - shift) * scale``, column by column: what is done to interactions before they are factorised."""

    scale: Array  # (items,)
    shift: Array  # (items,)
    name: str = "none"

    @classmethod
    def of(cls, matrix: sparse.csr_array, name: str, power: float = 0.5) -> Weighting:
        """none; standardize (each item to mean 0 and deviation 1); popularity (over its popularity to a power)."""
        users, items = matrix.shape
        if name == "none":
            return cls(np.ones(items), np.zeros(items))
        if name == "standardize":
            mean = np.asarray(matrix.sum(axis=0)).ravel() / users
            squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel() / users
            deviation = np.sqrt(np.maximum(squares - mean**2, 0))
            return cls(np.divide(1, deviation, out=np.zeros(items), where=deviation > 0), mean, name)
        if name == "popularity":
            if not 0 <= power <= 2:  # noqa: PLR2004
                raise ParameterError(f"power = {power}: inverse propensities take a power of popularity in [0, 2]")
            share = np.asarray(matrix.sum(axis=0)).ravel() / users
            scale = np.divide(1, share**power, out=np.zeros(items), where=share > 0)
            return cls(scale / scale[scale > 0].mean(), np.zeros(items), f"popularity({power:g})")
        raise ParameterError(f"weighting {name!r}: choose none, standardize or popularity")

    def apply(self, rows: Any, factors: Array) -> Array:
        """``((rows - shift) * scale) @ factors`` without a dense copy of the rows."""
        scaled = self.scale[:, None] * factors
        return np.asarray(rows @ scaled - self.shift @ scaled)

    def rows(self, rows: sparse.csr_array) -> Array:
        """Some rows of the weighted matrix, dense."""
        return np.asarray((rows.toarray() - self.shift) * self.scale)

    def operator(self, matrix: sparse.csr_array) -> Any:
        """The weighted matrix for a solver: sparse where nothing is shifted, else an operator."""
        scaled = sparse.csr_array(matrix.multiply(self.scale[None, :]))
        if not self.shift.any():
            return scaled
        shift = self.shift * self.scale
        ones = np.ones(matrix.shape[0])
        return LinearOperator(
            matrix.shape,
            matvec=lambda x: scaled @ x.ravel() - ones * (shift @ x.ravel()),
            rmatvec=lambda y: scaled.T @ y.ravel() - shift * y.sum(),
            matmat=lambda x: scaled @ x - np.outer(ones, shift @ x),
            rmatmat=lambda y: scaled.T @ y - np.outer(shift, y.sum(axis=0)),
            dtype=np.float64,
        )


def checked(interactions: Any) -> sparse.csr_array:
    """Users x items, sparse, finite and not negative."""
    try:
        matrix = sparse.csr_array(interactions, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"interactions must be a matrix of numbers, users x items: {error}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:  # noqa: PLR2004
        raise DataError(f"interactions of shape {matrix.shape}: expected users x items, at least one of each")
    matrix.sum_duplicates()
    bad = np.flatnonzero(~(matrix.data >= 0) | ~np.isfinite(matrix.data))
    if len(bad):
        place = int(bad[0])
        user = int(np.searchsorted(matrix.indptr, place, side="right")) - 1
        raise DataError(
            f"the interaction of user {user} with item {matrix.indices[place]} is {matrix.data[place]:g} ({len(bad)} "
            "such): interactions are finite and not negative; remove or clip them"
        )
    matrix.eliminate_zeros()
    if not matrix.nnz:
        raise DataError("there are no interactions: every entry is zero")
    return matrix


def read_interactions(path: str | Path) -> sparse.csr_array:
    """A scipy sparse .npz, or a dense .npy."""
    place = Path(path)
    if not place.is_file():
        raise DataError(f"{place} does not exist: give a sparse matrix (scipy.sparse.save_npz) or a dense one (.npy)")
    try:
        found = sparse.load_npz(place) if place.suffix == ".npz" else np.load(place, allow_pickle=False)
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise DataError(f"{place} cannot be read: {str(error).splitlines()[0]}") from error
    return checked(found)
