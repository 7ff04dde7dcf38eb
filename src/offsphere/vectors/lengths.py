"""Lengths of vectors in float64, the same for equal rows wherever they stand."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array, Vectors

EQUAL_LENGTHS = 1e-3  # lengths within this share of their maximum were normalised, up to float16 rounding


def lengths(vectors: Vectors) -> Array:
    """The length (the L2 norm) of each row."""
    from offsphere.vectors.dot_kernels import squared_lengths

    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    return np.asarray(np.sqrt(squared_lengths(rows)))


def are_equal(row_lengths: Array) -> bool:
    """Whether all lengths, but for those that are zero, are one number: the vectors were normalised."""
    positive = row_lengths[row_lengths > 0]
    return bool(len(positive) > 1 and np.ptp(positive) <= EQUAL_LENGTHS * positive.max())
