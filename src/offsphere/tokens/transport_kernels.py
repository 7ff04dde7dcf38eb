"""The compiled loops of transport between texts: costs between their tokens, then the least cost of moving one to other.

Compiled code does not ask whether an index is inside its array: ``TokenBags`` checks that entries have vectors and
that texts have entries, ``listed_scores`` that every pair is one of two texts, and that both tables are of one width.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.tokens.transport_simplex import least_cost
from offsphere.vectors.dot_kernels import exact_dot


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
        unit = _mean_length(left_lengths, left_rows, left_counts, first, last, right_lengths, right_rows, right_counts, start, end)
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
def _mean_length(
    left_lengths: Any, left_rows: Any, left_counts: Any, first: int, last: int,
    right_lengths: Any, right_rows: Any, right_counts: Any, start: int, end: int,
) -> float:
    """The mean length of all tokens of two texts; one where all have length zero."""
    total, count = 0.0, 0.0
    for i in range(first, last):
        total += left_counts[i] * left_lengths[left_rows[i]]
        count += left_counts[i]
    for j in range(start, end):
        total += right_counts[j] * right_lengths[right_rows[j]]
        count += right_counts[j]
    return total / count if total > 0 else 1.0
