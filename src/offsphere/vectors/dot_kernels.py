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


@njit(cache=True, nogil=True)
def products_of_own(left: Any, right: Any) -> Any:
    """The inner products of each left row with its own share of the right rows: (left rows, rows of each)."""
    each = right.shape[0] // left.shape[0]
    result = np.empty((left.shape[0], each))
    for i in range(left.shape[0]):
        for j in range(each):
            result[i, j] = exact_dot(left[i], right[i * each + j])
    return result


@njit(cache=True, nogil=True)
def round_products(products: Any, rows: Any, columns: Any, shift: Any, errors: Any) -> Any:
    """Round ``products + shift`` to float32 as if every product had been summed in one order, wherever its row stands.

    ``products`` (rows, columns) is what a matrix product gave for ``rows`` and ``columns``, both in float64 and each a
    vector a row; a product is off by at most the row's length times the column's ``errors``. Where that error could
    decide the rounding, the inner product is computed again.
    """
    result = np.empty(products.shape, np.float32)
    for i in range(products.shape[0]):
        length = np.sqrt(exact_dot(rows[i], rows[i]))
        unsure = False
        for j in range(products.shape[1]):
            value = products[i, j] + shift[j]
            slack = length * errors[j] + abs(value) * 2.0**-50
            result[i, j] = np.float32(value - slack)
            unsure |= not result[i, j] == np.float32(value + slack)  # noqa: SIM201  # what is no number is unsure
        if unsure:
            for j in range(products.shape[1]):
                value = products[i, j] + shift[j]
                slack = length * errors[j] + abs(value) * 2.0**-50
                if not np.float32(value - slack) == np.float32(value + slack):  # noqa: SIM201
                    result[i, j] = np.float32(exact_dot(rows[i], columns[j]) + shift[j])
    return result
