"""The compiled loops of transport between texts: costs between tokens, then the least cost of moving all of them.

Compiled code does not ask whether an index is inside its array: ``TokenBags`` checks that entries have vectors and
that texts have entries, ``check_pairs`` that every pair is one of two texts, and that both tables are of one width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.tokens.transport_simplex import least_cost  # source 1b5b77528c1b
from offsphere.vectors.dot_kernels import exact_dot  # source 856c3db53220


@njit(cache=True, nogil=True)
def transport_costs(
    left_table: Any,
    left_lengths: Any,
    left_rows: Any,
    left_counts: Any,
    left_weights: Any,
    left_ends: Any,
    right_table: Any,
    right_lengths: Any,
    right_rows: Any,
    right_counts: Any,
    right_weights: Any,
    right_ends: Any,
    lefts: Any,
    rights: Any,
    angle_weight: float,
) -> Any:
    """The least cost for each pair of texts; no number where one has no token, or none that weighs anything.

    The cost between tokens is one less their cosine; with an ``angle_weight`` of at least zero it is the gap of their
    lengths, in units of the mean length of all tokens of the two texts, plus that weight times their angle.
    """
    result = np.empty(lefts.size)
    for pair in range(lefts.size):
        first, last = _span(left_ends, lefts[pair])
        start, end = _span(right_ends, rights[pair])
        supply, demand = _shares(left_weights[first:last]), _shares(right_weights[start:end])
        if supply.size == 0 or demand.size == 0:
            result[pair] = np.nan
            continue
        cost = np.empty((last - first, end - start))
        total, count = _length_and_count(left_lengths, left_rows, left_counts, first, last)
        other_total, other_count = _length_and_count(right_lengths, right_rows, right_counts, start, end)
        unit = (total + other_total) / (count + other_count) if total + other_total > 0 else 1.0
        for i in range(last - first):
            row = left_rows[first + i]
            for j in range(end - start):
                other = right_rows[start + j]
                both = left_lengths[row] * right_lengths[other]
                cosine = exact_dot(left_table[row], right_table[other]) / both if both > 0 else 0.0
                if angle_weight < 0:
                    cost[i, j] = 1.0 - cosine
                else:
                    gap = abs(left_lengths[row] - right_lengths[other]) / unit
                    cost[i, j] = gap + angle_weight * np.arccos(min(max(cosine, -1.0), 1.0))
        result[pair] = least_cost(cost, supply, demand)
    return result


@njit(cache=True, nogil=True)
def _span(ends: Any, text: int) -> Any:
    """Where the entries of a text begin and end."""
    return (ends[text - 1] if text else 0), ends[text]


@njit(cache=True, nogil=True)
def _shares(weights: Any) -> Any:
    """Weights over their sum; nothing where that is zero."""
    total = 0.0
    for weight in weights:
        total += weight
    return weights / total if total > 0 else weights[:0].copy()


@njit(cache=True, nogil=True)
def _length_and_count(lengths: Any, rows: Any, counts: Any, first: int, last: int) -> Any:
    """The summed length of a text's tokens, and how many there are."""
    total, count = 0.0, 0.0
    for entry in range(first, last):
        total += counts[entry] * lengths[rows[entry]]
        count += counts[entry]
    return total, count
