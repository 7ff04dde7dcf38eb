"""Interactions of users with items: a sparse matrix, checked, and the weightings that stay sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from offsphere.base.arrays import Array
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.short_repr import short_repr

CONSTANT = 1e-12  # of the mean square: a variance below this is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Weighting:
    """``(x - shift) * scale``, column by column: what is done to interactions before they are factorised."""

    scale: Array  # (items,)
    shift: Array  # (items,)
    name: str = "none"
    power: float = 0.0

    __repr__ = short_repr

    @classmethod
    def of(cls, matrix: sparse.csr_array, name: str, power: float = 0.5) -> Weighting:
        """The weighting of that name, fitted on interactions.

        ``none``, ``standardize`` (each item to mean 0 and deviation 1) or ``popularity`` (each item over its popularity
        to a power).
        """
        users, items = matrix.shape
        if not 0 <= power <= 2:  # noqa: PLR2004
            raise ParameterError(f"power = {power}: inverse propensities take a power of popularity in [0, 2]")
        if name == "none":
            return cls(np.ones(items), np.zeros(items))
        if name == "standardize":
            mean = np.asarray(matrix.sum(axis=0)).ravel() / users
            squares = np.asarray(matrix.multiply(matrix).sum(axis=0)).ravel() / users
            variance = squares - mean**2
            deviation = np.sqrt(np.where(variance > CONSTANT * squares, variance, 0.0))
            return cls(np.divide(1, deviation, out=np.zeros(items), where=deviation > 0), mean, name)
        if name == "popularity":
            share = np.asarray(matrix.sum(axis=0)).ravel() / users
            scale = np.divide(1, share**power, out=np.zeros(items), where=share > 0)
            return cls(scale / scale[scale > 0].mean(), np.zeros(items), name, power)
        raise ParameterError(f"weighting {name!r}: choose none, standardize or popularity")

    def apply(self, rows: Any, factors: Array) -> Array:
        """``((rows - shift) * scale) @ factors`` without a dense copy of the rows."""
        scaled = self.scale[:, None] * factors
        products = np.asarray(rows @ scaled - self.shift @ scaled)
        products[np.diff(rows.indptr) == 0] = 0  # nothing is known of such a user
        return products

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


def interaction_matrix(interactions: Any, *, empty: bool = False) -> sparse.csr_array:
    """Users x items, sparse, finite and not negative; the caller's matrix stays as it is. One user may be a row.

    A matrix without any interaction is refused unless ``empty`` allows it.
    """
    try:
        if np.iscomplexobj(getattr(interactions, "data", interactions)):
            raise TypeError("they are complex")
        rows = interactions.reshape(1, -1) if getattr(interactions, "ndim", 2) == 1 else interactions
        matrix = sparse.csr_array(rows, dtype=np.float64)
        if not matrix.has_canonical_format or not matrix.data.all():
            matrix = matrix.copy()  # it shares its arrays with what was given
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
    except (TypeError, ValueError) as error:
        raise DataError(f"interactions must be a matrix of numbers, users x items: {error}") from error
    if matrix.ndim != 2 or 0 in matrix.shape:  # noqa: PLR2004
        raise DataError(f"interactions of shape {matrix.shape}: expected users x items, at least one of each")
    bad = np.flatnonzero(~(matrix.data >= 0) | ~np.isfinite(matrix.data))
    if len(bad):
        entry = int(bad[0])
        user = int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        raise DataError(
            f"the interaction of user {user} with item {matrix.indices[entry]} is {matrix.data[entry]:g} ({len(bad)} "
            "such): interactions are finite and not negative; remove or clip them"
        )
    if not matrix.nnz and not empty:
        raise DataError("there are no interactions: every entry is zero")
    return matrix
