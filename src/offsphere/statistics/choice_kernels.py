"""The compiled inner loops of choosing among options, done again for every sign pattern of a test.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: folds are dealt
out by ``assign_folds``, units are positions among them, and classes end where ``nested_choice`` counted. The options of
a row were columns of the differences when ``tuned_signs`` looked by numpy which of them have values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_ROUNDING = 1e-12


@njit(cache=True, nogil=True)
def squared_distances(values: Any, units: Any) -> Any:
    """Sum over some units (units, options) the squared difference of each two options."""
    count = values.shape[1]
    result = np.zeros((count, count))
    for unit in units:
        row = values[unit]
        for first in range(count):
            own = row[first]
            for second in range(count):
                apart = row[second] - own
                result[first, second] += apart * apart
    return result


@njit(cache=True, nogil=True)
def choose_simplest(sums: Any, distances: Any, count: int, ends: Any) -> int:
    """Choose the simplest option of those about as good as the best.

    About as good means within one standard error of the paired difference from the best. Of those that are equally
    simple the one with the highest sum, then the first.

    Args:
        sums: of each option over the units to choose by; the simplest options come first.
        distances: the sum over those units of the squared difference of each two options.
        count: how many units.
        ends: where each class of equally simple options ends.
    """
    best = 0
    for option in range(1, sums.size):
        if sums[option] > sums[best]:
            best = option
    start = 0
    for end in ends:
        choice = -1
        for option in range(start, end):
            behind = (sums[best] - sums[option]) / count
            # the squared standard error; one unit alone tells none, so that everything is as good
            error = (distances[best, option] / count - behind * behind) / (count - 1) if count > 1 else np.inf
            near = behind <= _ROUNDING or behind * behind <= error
            if near and (choice < 0 or sums[option] > sums[choice] + _ROUNDING * count):
                choice = option
        if choice >= 0:
            return choice
        start = end
    return best


@njit(cache=True, nogil=True)
def choose_by_others(values: Any, division: Any, distances: Any, signs: Any, ends: Any) -> Any:
    """Choose for each fold by the units of all others, under each sign pattern: (patterns, folds).

    Args:
        values: what each option gains: (units, options), the simplest options first.
        division: the fold of each unit.
        distances: over the units of all other folds, the squared difference of each two options, for each fold.
        signs: of each unit in each pattern: (patterns, units).
        ends: where each class of equally simple options ends.
    """
    folds, width = distances.shape[0], values.shape[1]
    chosen = np.empty((signs.shape[0], folds), np.int64)
    counts = np.full(folds, division.size)
    for unit in range(division.size):
        counts[division[unit]] -= 1
    sums = np.empty((folds, width))
    whole = np.empty(width)
    for pattern in range(signs.shape[0]):
        sums[:] = 0
        for unit in range(division.size):
            sign, own, row = signs[pattern, unit], sums[division[unit]], values[unit]
            for option in range(width):
                own[option] += sign * row[option]
        whole[:] = 0
        for fold in range(folds):
            whole += sums[fold]
        for fold in range(folds):
            chosen[pattern, fold] = choose_simplest(whole - sums[fold], distances[fold], counts[fold], ends)
    return chosen


@njit(cache=True, nogil=True)
def tune_rows(sums: Any, squares: Any, options: Any, counts: Any) -> Any:
    """Tune each row by its other folds and compute ``sum / sqrt(sum of squares)`` of what is held out.

    Args:
        sums: of each option over each fold, for each sign pattern: (folds, patterns, options).
        squares: of each option over each fold: (folds, options).
        options: the numbers of a row's options in each fold: (rows, folds, most options).
        counts: how many options each row has.

    Returns:
        The statistic of each row under each pattern: (rows, patterns).
    """
    folds, patterns, width = sums.shape
    result = np.zeros((options.shape[0], patterns))
    whole = np.empty(width)
    for pattern in range(patterns):
        whole[:] = sums[0, pattern]
        for fold in range(1, folds):
            whole += sums[fold, pattern]
        for row in range(options.shape[0]):
            total = spread = 0.0
            for fold in range(folds):
                own = sums[fold, pattern]
                best = options[row, fold, 0]
                for number in range(1, counts[row]):
                    option = options[row, fold, number]
                    if whole[option] - own[option] > whole[best] - own[best]:
                        best = option
                total += own[best]
                spread += squares[fold, best]
            # a row without a difference under this pattern differs less than any other
            result[row, pattern] = total / np.sqrt(spread) if spread > 0 else 0.0
    return result
