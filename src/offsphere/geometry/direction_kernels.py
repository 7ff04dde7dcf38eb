"""The compiled inner loops of a scan: sums of directions, and sums over the cosines of pairs.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: all run over
the shapes of arrays that the callers (``directions``, ``dimensions``) make for the rows at hand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.vectors.dot_kernels import exact_dot  # source 856c3db53220


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sum_directions(rows: Any, lengths: Any, total: Any, squares: Any) -> int:
    """Write the length of each float32 row, add its direction to ``total`` and that squared to ``squares``.

    Returns the number of rows that have a direction.
    """
    dimension = rows.shape[1]
    directed = 0
    for r in range(rows.shape[0]):
        row = rows[r]
        squared = exact_dot(row, row)
        lengths[r] = np.sqrt(squared)
        if squared > 0:
            directed += 1
            inverse = 1.0 / lengths[r]
            for i in range(dimension):
                part = np.float64(row[i]) * inverse
                total[i] += part
                squares[i] += part * part
    return directed


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_similarities(whole: Any, products: Any, inverse: Any, start: int, sums: Any) -> None:
    """Add the sums of c, c', c^2, c'^2 and c c' over the pairs of rows ``start`` ... with all rows before each.

    ``whole`` holds cosines c; c' is the product of the same pair over both lengths, given as their inverses.
    """
    x = y = xx = yy = xy = 0.0
    for i in range(products.shape[0]):
        row_inverse = inverse[start + i]
        row, product = whole[i], products[i]
        for j in range(start + i):
            c = row[j]
            reduced = product[j] * row_inverse * inverse[j]
            x += c
            y += reduced
            xx += c * c
            yy += reduced * reduced
            xy += c * reduced
    sums[0] += x
    sums[1] += y
    sums[2] += xx
    sums[3] += yy
    sums[4] += xy
