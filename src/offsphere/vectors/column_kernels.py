"""Sums of columns in float64, compiled: numpy converts piece by piece what it sums in a wider type, and is slower.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: both run over
the shape of the rows, and ``column_sums`` makes its result for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def column_sums(rows: Any) -> Any:
    """The sum of each column in float64, row after row."""
    sums = np.zeros(rows.shape[1])
    for r in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            sums[i] += np.float64(rows[r, i])
    return sums
