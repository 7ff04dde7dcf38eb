"""Matrix factorisation ``X ~ X A B^T`` in closed form, under two regularisers (Steck et al. 2024, arXiv:2403.05440)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import OffsphereError, ParameterError, VectorError
from offsphere.factors.interactions import Weighting, checked
from offsphere.scoring.similarity import COSINE, Similarity

AT_ONCE = 1_024  # rows that are dense at a time, where all singular values are wanted
PRODUCT, FACTORS = 1, 2  # what the objective regularises


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Factors:
    """A model ``X A B^T``: users are ``X A``, items are the rows of B.

    Objective 1 penalises the product ``A B^T`` alone, so any invertible change between A and B leaves the model as
    good. Objective 2 penalises ``X A`` and B each, so they are unique up to a rotation.
    """

    users_from: Array  # A: (items, k)
    items: Array  # B: (items, k)
    singular_values: Array  # (k,)
    objective: int
    regularization: float
    weighting: Weighting
    empty_users: int
    empty_items: int
    scaling: Array  # (k,) by which A was multiplied, and B divided, after the fit

    def __repr__(self) -> str:
        """What it is."""
        count, k = self.items.shape
        return f"Factors({count:,} items, k = {k}, objective {self.objective}, lambda = {self.regularization:g})"

    @property
    def shrinkage(self) -> Array:
        """``1 / (1 + lambda / s^2)``: what objective 1 leaves of each direction."""
        return _shrinkage(self.singular_values, self.regularization)

    @property
    def used(self) -> int:
        """How many of the k directions are not zero."""
        return int((np.abs(self.items).max(axis=0) > 0).sum())

    def users(self, interactions: Any) -> Array:
        """The factors of users, old or new (folding in), from what they have: (users, k); zero for who has nothing."""
        matrix = checked(interactions, empty=True)
        if matrix.shape[1] != len(self.users_from):
            raise VectorError(f"interactions with {matrix.shape[1]} items, the factors are of {len(self.users_from)}")
        return self.weighting.apply(matrix, self.users_from)

    def rescale(self, diagonal: Array) -> Factors:
        """``A D`` and ``B D^-1``: another optimum of objective 1, with other cosines."""
        scale = np.asarray(diagonal, dtype=np.float64)
        if self.unique:
            raise OffsphereError("objective 2 fixes its factors up to a rotation: no rescaling is another optimum")
        if scale.shape != self.singular_values.shape or not (np.isfinite(scale).all() and (scale != 0).all()):
            raise ParameterError(f"the diagonal must be {len(self.singular_values)} finite numbers other than zero")
        scaled = self.scaling * scale
        return replace(self, users_from=self.users_from * scale, items=self.items / scale, scaling=scaled)

    @property
    def unique(self) -> bool:
        """Whether the objective fixes the factors up to a rotation; without any penalty it does not."""
        return self.objective == FACTORS and self.regularization > 0

    def refit(self, interactions: Any) -> Factors:
        """The same model of other interactions."""
        return factorize(
            interactions,
            len(self.singular_values),
            self.regularization,
            objective=self.objective,
            weighting=self.weighting.name,
            power=self.weighting.power,
        )

    def save(self, folder: str | Path) -> None:
        """Write them as JSON and .npy."""
        from offsphere.factors.factor_files import save_factors

        save_factors(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path) -> Factors:
        """Read saved factors."""
        from offsphere.factors.factor_files import load_factors

        return load_factors(Path(folder))

    def scores(self, interactions: Any) -> Array:
        """``X A B^T`` for some users: what the model says, whatever the rescaling."""
        return np.asarray(self.users(interactions) @ self.items.T)

    def item_similarities(self, similarity: Similarity = COSINE, rows: Index | None = None) -> Array:
        """The similarity of some items (all without ``rows``) with all."""
        return similarities(self.items if rows is None else self.items[rows], self.items, similarity)

    def user_similarities(self, interactions: Any, similarity: Similarity = COSINE) -> Array:
        """The similarity of these users with each other."""
        users = self.users(interactions)
        return similarities(users, users, similarity)

    def user_item_similarities(self, interactions: Any, similarity: Similarity = COSINE) -> Array:
        """The similarity of these users with all items."""
        return similarities(self.users(interactions), self.items, similarity)

    def in_original_space(self, interactions: Any) -> Array:
        """Items as columns of ``X A B^T``: the remedy that no rescaling touches."""
        return original_space(self.items, self.users(interactions))

    def users_in_original_space(self, interactions: Any) -> Array:
        """Users as rows of ``X A B^T``."""
        return original_space(self.users(interactions), self.items)


def factorize(
    interactions: Any,
    k: int = 64,
    regularization: float = 1.0,
    *,
    objective: int = FACTORS,
    weighting: str = "none",
    power: float = 0.5,
    seed: int = 0,
) -> Factors:
    """The best factors of rank k under one of two objectives.

    With the first k singular values s and right vectors V of X, objective 1, ``|X - X A B^T|^2 + lambda |A B^T|^2``,
    has ``A = B = V diag(1 / (1 + lambda / s^2))^(1/2)``; objective 2, ``|X - X A B^T|^2 + lambda (|X A|^2 + |B|^2)``,
    has ``A = V diag((1 - lambda/s)_+ / s)^(1/2)`` and ``B = V diag(s (1 - lambda/s)_+)^(1/2)``.

    The matrix stays sparse, unless there are more items than users and all singular values are wanted: then the answer
    is as large as the dense matrix. ``weighting`` standardises each item, or divides it by a power of its popularity,
    before. A user or an item without interactions is kept, as zero.
    """
    matrix = checked(interactions)
    if isinstance(k, bool) or not isinstance(k, int | np.integer):
        raise ParameterError(f"k = {k!r}: how many factors is a whole number")
    if objective not in (PRODUCT, FACTORS):
        raise ParameterError(f"objective = {objective}: 1 penalises the product, 2 each factor")
    if not (np.isfinite(regularization) and regularization >= 0):
        raise ParameterError(f"lambda = {regularization} is not a finite number of at least 0")
    weights = Weighting.of(matrix, weighting, power)
    values, vectors = truncated_svd(matrix, weights, k, seed)
    if objective == PRODUCT:
        root = np.sqrt(_shrinkage(values, regularization))
        a, b = vectors * root, vectors * root
    else:
        left = np.maximum(1 - regularization / values, 0)
        if not left.any():
            raise ParameterError(
                f"lambda = {regularization:g} makes every factor zero: the largest useful lambda is {values[0]:.6g}, "
                "the first singular value"
            )
        a, b = vectors * np.sqrt(left / values), vectors * np.sqrt(left * values)
    empty_users = int((np.diff(matrix.indptr) == 0).sum())
    empty_items = int((np.bincount(matrix.indices, minlength=matrix.shape[1]) == 0).sum())
    return Factors(a, b, values, objective, float(regularization), weights, empty_users, empty_items, np.ones(k))


def truncated_svd(matrix: sparse.csr_array, weights: Weighting, k: int, seed: int = 0) -> tuple[Array, Array]:
    """The k largest singular values, and their right vectors as columns with signs that do not depend on the solver."""
    most = min(matrix.shape)
    if not 1 <= k <= most:
        raise ParameterError(f"k = {k}: a {matrix.shape[0]:,} x {matrix.shape[1]:,} matrix has at most rank {most}")
    values, right = _all(matrix, weights) if k >= most - 1 else _leading(matrix, weights, k, seed)
    values, right = values[:k], right[:k]
    rank = int((values > values[0] * max(matrix.shape) * np.finfo(np.float64).eps).sum())
    if rank < k:
        raise ParameterError(f"k = {k} is more than the rank of the interactions, {rank}: choose k = {rank} or less")
    largest = right[np.arange(k), np.abs(right).argmax(axis=1)]
    return values, np.ascontiguousarray((right * np.sign(largest)[:, None]).T)


def _leading(matrix: sparse.csr_array, weights: Weighting, k: int, seed: int) -> tuple[Array, Array]:
    """By ARPACK, to machine precision; the left vectors, which nobody asks for, are left out."""
    from scipy.sparse.linalg import svds

    wanted: Any = "vh"
    rng = np.random.default_rng(seed)
    _, values, right = svds(weights.operator(matrix), k, return_singular_vectors=wanted, rng=rng)
    order = np.argsort(-values, kind="stable")
    return np.asarray(values, np.float64)[order], np.asarray(right, np.float64)[order]


def _all(matrix: sparse.csr_array, weights: Weighting) -> tuple[Array, Array]:
    """All singular values, which ARPACK does not give: rows stream through a QR decomposition, some at a time.

    With more items than users the answer itself is as large as the matrix, so it may be dense.
    """
    users, items = matrix.shape
    blocks = (weights.rows(matrix[start : start + AT_ONCE]) for start in range(0, users, AT_ONCE))
    if items > users:
        triangle = np.concatenate(list(blocks))
    else:
        triangle = np.zeros((0, items))
        for block in blocks:
            triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, block]), mode="r"))
    _, values, right = np.linalg.svd(triangle, full_matrices=False)
    return values, right


def _shrinkage(values: Array, regularization: float) -> Array:
    return np.asarray(1 / (1 + regularization / values**2))


def similarities(left: Array, right: Array, similarity: Similarity) -> Array:
    """All similarities of two sets of vectors; zero where one has no length and the formula divides by it."""
    own, other = np.linalg.norm(left, axis=1)[:, None], np.linalg.norm(right, axis=1)[None, :]
    found = similarity(left @ right.T, own, other)
    return np.where(np.isfinite(found), found, 0.0)


def original_space(items: Array, users: Array) -> Array:
    """Item factors of any dot-product model as the columns of all its scores, in k dimensions.

    With ``users = Q R`` the inner products of the rows of ``items @ R^T`` are exactly those of the columns of ``users @
    items^T``, which is never formed. No invertible change between the two sides changes them. Exchange the arguments
    for users as rows of scores.
    """
    if items.ndim != 2 or users.ndim != 2 or items.shape[1] != users.shape[1]:  # noqa: PLR2004
        raise VectorError(f"item factors are {items.shape}, user factors {users.shape}: the last numbers must be equal")
    triangle = np.asarray(np.linalg.qr(np.asarray(users, np.float64), mode="r"))
    return np.asarray(np.asarray(items, np.float64) @ triangle.T)
