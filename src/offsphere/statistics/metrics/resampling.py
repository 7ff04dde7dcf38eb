"""Spearman's correlation in many bootstrap resamples: compiled, on all cores, without sorting any resample.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: orders are
those of ``argsort`` over the units, of which there are as many as weights in a resample.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.cores import available_cores, run_all


def spearman_in_resamples(scores: Sequence[Array], gold: Array, weights: Array) -> Array:
    """Compute Spearman's correlations (resamples, score vectors), without sorting again.

    Ranks in a resample follow from one order of the scores and the weights.
    """
    orders, runs = zip(*map(_runs, [gold, *scores]), strict=True)
    order, run = np.stack(orders), np.stack(runs)
    result = np.empty((len(weights), len(scores)))
    workers = available_cores()
    borders = np.linspace(0, len(weights), workers + 1).astype(int).tolist()
    spans = [slice(start, end) for start, end in pairwise(borders) if start < end]
    run_all(_correlate, ((order, run, weights[span], result[span]) for span in spans), workers)
    return result


def _runs(values: Array) -> tuple[Index, Flags]:
    """Sort values: their order, and at which positions of it a run of equal ones ends."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    return order, np.append(ranked[1:] != ranked[:-1], True)


@njit(cache=True, nogil=True)
def _correlate(order: Any, ends: Any, weights: Any, result: Any) -> None:
    count = order.shape[1]
    gold = np.empty(count)
    for r in range(weights.shape[0]):
        weight = weights[r]
        half = weight.sum() / 2  # the mean rank, for ranks counted as weight below plus half of what is equal
        spread = _center(order[0], ends[0], weight, half, gold)
        for s in range(result.shape[1]):
            result[r, s] = _against(order[s + 1], ends[s + 1], weight, half, gold, spread)


@njit(cache=True, nogil=True)
def _center(order: Any, ends: Any, weight: Any, half: float, ranks: Any) -> Any:
    """Write each unit's rank less the mean rank, and return the sum of their weighted squares."""
    below = spread = mass = 0.0
    start = 0
    for position in range(order.size):
        mass += weight[order[position]]
        if ends[position]:
            rank = below + mass / 2 - half
            spread += mass * rank * rank
            for inside in range(start, position + 1):
                ranks[order[inside]] = rank
            below += mass
            mass = 0.0
            start = position + 1
    return spread


@njit(cache=True, nogil=True)
def _against(order: Any, ends: Any, weight: Any, half: float, gold: Any, gold_spread: float) -> Any:
    """Correlate one score vector's ranks with the gold ranks."""
    below = spread = together = mass = wanted = 0.0
    for position in range(order.size):
        unit = order[position]
        mass += weight[unit]
        wanted += weight[unit] * gold[unit]
        if ends[position]:
            rank = below + mass / 2 - half
            spread += mass * rank * rank
            together += rank * wanted
            below += mass
            mass = wanted = 0.0
    if spread > 0 and gold_spread > 0:
        return together / np.sqrt(spread * gold_spread)
    return np.nan
