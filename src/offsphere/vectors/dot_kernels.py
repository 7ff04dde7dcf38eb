"""Inner products in float64, compiled: the same for equal rows wherever they stand.

Two rows must be of one width, which compiled code does not ask: ``search`` refuses queries and documents of different
widths and multiplies them as matrices first, ``lengths`` multiplies a row with itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def exact_dot(left: Any, right: Any) -> Any:
    """The inner product of two float32 rows in float64, summed in one order wherever the rows stand."""
    total = 0.0
    for i in range(left.size):
        total += np.float64(left[i]) * np.float64(right[i])
    return total


@njit(cache=True, nogil=True)
def squared_lengths(rows: Any) -> Any:
    """The inner product of each row with itself."""
    result = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        result[i] = exact_dot(rows[i], rows[i])
    return result
