"""The largest singular values of weighted interactions, and their right vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import svds

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError
from offsphere.factors.interactions import Weighting

AT_ONCE = 1_024  # rows that are dense at a time, where all singular values are wanted


def truncated_svd(matrix: sparse.csr_array, weights: Weighting, k: int, seed: int = 0) -> tuple[Array, Array]:
    """The k largest singular values, and their right vectors as columns with signs that do not depend on the solver."""
    most = min(matrix.shape)
    if not 1 <= k <= most:
        raise ParameterError(f"k = {k}: a {matrix.shape[0]:,} x {matrix.shape[1]:,} matrix has at most rank {most}")
    everything = k >= most - 1
    values, right = _all_singular(matrix, weights) if everything else _leading_singular(matrix, weights, k, seed)
    values, right = values[:k], right[:k]
    rank = int((values > values[0] * max(matrix.shape) * np.finfo(np.float64).eps).sum())
    if rank < k:
        raise ParameterError(f"k = {k} is more than the rank of the interactions, {rank}: choose k = {rank} or less")
    largest = right[np.arange(k), np.abs(right).argmax(axis=1)]
    return values, np.ascontiguousarray((right * np.sign(largest)[:, None]).T)


def _leading_singular(matrix: sparse.csr_array, weights: Weighting, k: int, seed: int) -> tuple[Array, Array]:
    """The k largest, by ARPACK to machine precision; the left vectors, which nobody asks for, are left out."""
    wanted: Any = "vh"
    rng = np.random.default_rng(seed)
    _, values, right = svds(weights.operator(matrix), k, return_singular_vectors=wanted, rng=rng)
    order = np.argsort(-values, kind="stable")
    return np.asarray(values, np.float64)[order], np.asarray(right, np.float64)[order]


def _all_singular(matrix: sparse.csr_array, weights: Weighting) -> tuple[Array, Array]:
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
