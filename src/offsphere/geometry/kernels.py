"""The compiled inner loops of a scan."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sum_directions(rows: Any, lengths: Any, total: Any, squares: Any) -> int:
    """Write the length of each float32 row, add its direction to ``total`` and that squared to ``squares``.

    The number of rows that have a direction.
    """
    dimension = rows.shape[1]
    directed = 0
    for r in range(rows.shape[0]):
        row = rows[r]
        squared = 0.0
        for i in range(dimension):
            squared += np.float64(row[i]) * np.float64(row[i])
        lengths[r] = np.sqrt(squared)
        if squared > 0:
            directed += 1
            inverse = 1.0 / lengths[r]
            for i in range(dimension):
                part = np.float64(row[i]) * inverse
                total[i] += part
                squares[i] += part * part
    return directed
