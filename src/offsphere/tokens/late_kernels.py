"""The compiled loop of late interaction: for each token of a text the token of another that is most like it.

Compiled code does not ask whether an index is inside its array: ``TokenBags`` checks that entries have vectors and that
texts have entries, ``check_pairs`` that every pair is one of two texts, and that both tables are of one width;
``MaxSim`` makes a scale for each vector and a weight for each entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.vectors.dot_kernels import exact_dot  # source 856c3db53220


@njit(cache=True, nogil=True)
def largest_products(
    left_table: Any,
    left_scales: Any,
    left_rows: Any,
    left_weights: Any,
    left_ends: Any,
    right_table: Any,
    right_scales: Any,
    right_rows: Any,
    right_ends: Any,
    shared: bool,  # noqa: FBT001  # compiled code has no keywords
    lefts: Any,
    rights: Any,
) -> Any:
    """For each pair the sum over left tokens of their largest product with a right one; no number without tokens.

    Vectors count times their ``scales``, tokens that look times their ``weights``. Where right texts have ``shared``
    vectors, pairs of one left text that stand together are one matrix product with the distinct vectors of all of them;
    where each entry has a vector of its own, every pair is one product. The product that wins is computed again in
    double precision, in one order.
    """
    result = np.empty(lefts.size)
    position_of = np.full(right_table.shape[0] if shared else 0, -1, np.int64)
    start = 0
    while start < lefts.size:
        left = lefts[start]
        end = start + 1
        while end < lefts.size and lefts[end] == left:
            end += 1
        first = left_ends[left - 1] if left else 0
        rows = left_rows[first : left_ends[left]]
        asked = _gather(left_table, rows)
        distinct = _distinct(right_rows, right_ends, rights[start:end], position_of) if shared else rows[:0]
        together = np.dot(asked, _gather(right_table, distinct).T) if shared else asked[:, :0]
        for pair in range(start, end):
            right = rights[pair]
            low, high = (right_ends[right - 1] if right else 0), right_ends[right]
            if high == low or not len(rows):
                result[pair] = np.nan
                continue
            products = together if shared else np.dot(asked, right_table[low:high].T)
            candidates = np.empty(high - low)
            total = 0.0
            for i in range(len(rows)):
                for entry in range(low, high):
                    row = right_rows[entry]
                    column = position_of[row] if shared else entry - low
                    candidates[entry - low] = products[i, column] * right_scales[row]
                winner = right_rows[low + _largest(candidates)]
                exact = exact_dot(left_table[rows[i]], right_table[winner])
                total += left_weights[first + i] * left_scales[rows[i]] * right_scales[winner] * exact
            result[pair] = total
        for row in distinct:
            position_of[row] = -1
        start = end
    return result


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _largest(values: Any) -> int:
    """The position of the largest number, the first of equal ones."""
    best = values[0]
    for value in values:
        best = max(best, value)
    for number in range(values.size):
        if values[number] == best:
            return number
    return 0


@njit(cache=True, nogil=True)
def _distinct(rows: Any, ends: Any, texts: Any, position_of: Any) -> Any:
    """The distinct vectors of some texts; ``position_of`` says afterwards where each stands among them."""
    total = 0
    for text in texts:
        total += ends[text] - (ends[text - 1] if text else 0)
    distinct = np.empty(total, np.int64)
    count = 0
    for text in texts:
        for entry in range(ends[text - 1] if text else 0, ends[text]):
            row = rows[entry]
            if position_of[row] < 0:
                position_of[row] = count
                distinct[count] = row
                count += 1
    return distinct[:count]


@njit(cache=True, nogil=True)
def _gather(table: Any, rows: Any) -> Any:
    """Rows of a table, one after the other."""
    result = np.empty((rows.size, table.shape[1]), table.dtype)
    for i in range(rows.size):
        result[i] = table[rows[i]]
    return result
