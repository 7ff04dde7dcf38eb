"""Pearson's and Spearman's correlation with intervals in closed form: no resampling, so a million rows are no problem.

Both intervals come from the influence of each row on the coefficient, whose spread is the standard error whatever the
distribution (Hampel 1974), on Fisher's z scale. For Spearman the influence includes what a row does to the ranks of all
others; ties are at their mean rank.
"""

from __future__ import annotations

from math import atanh, sqrt, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array, Index
from offsphere.statistics.estimate import UNDEFINED, Estimate, quantile_95
from offsphere.statistics.values import in_spreads

FEWEST = 5  # rows; below, no interval has a meaning
FEW = 50  # units below which the spread of influences is too uncertain to go by alone


class Correlation(NamedTuple):
    """Pearson's and Spearman's coefficient of the same rows, each with its interval."""

    pearson: Estimate
    spearman: Estimate
    rows: int


def correlation(x: NDArray[np.generic], y: NDArray[np.generic], groups: Index | None = None) -> Correlation:
    """Correlate two columns; undefined where a column is constant or there are fewer than five rows.

    Args:
        x: a number for each row.
        y: a number for each row.
        groups: rows of one group (such as pairs of one query) are not independent: the error is that of the groups.
    """
    left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
    units = len(left) if groups is None else len(np.unique(groups))
    if units < FEWEST or np.ptp(left) == 0 or np.ptp(right) == 0:
        return Correlation(UNDEFINED, UNDEFINED, len(left))
    return Correlation(_pearson(left, right, groups), _spearman(left, right, groups), len(left))


def clustered_error(influence: Array, groups: Index | None) -> tuple[float, int]:
    """Compute the standard error of a mean of influences that sum to zero, and count the independent units."""
    if groups is None:
        return float(np.sqrt((influence**2).sum())) / len(influence), len(influence)
    _, group = np.unique(groups, return_inverse=True)
    sums = np.bincount(group, influence)
    return float(np.sqrt((sums**2).sum())) / len(influence), len(sums)


def _pearson(x: Array, y: Array, groups: Index | None) -> Estimate:
    left, right = in_spreads(x), in_spreads(y)
    value = float((left * right).mean())
    return _interval(value, left * right - value / 2 * (left**2 + right**2), groups, 1.0)


def _spearman(x: Array, y: Array, groups: Index | None) -> Estimate:
    left, right = _centred_ranks(x), _centred_ranks(y)
    left_spread, right_spread = float((left**2).mean()), float((right**2).mean())
    together = float((left * right).mean())
    value = together / sqrt(left_spread * right_spread)
    # what a row adds itself, and what it does by standing below or above the others
    joint = left * right + _below(x, right) + _below(y, left) - 3 * together
    left_part = left**2 + 2 * _below(x, left) - 3 * left_spread
    right_part = right**2 + 2 * _below(y, right) - 3 * right_spread
    influence = joint / sqrt(left_spread * right_spread) - value / 2 * (
        left_part / left_spread + right_part / right_spread
    )
    return _interval(value, influence, groups, 1 + value**2 / 2)  # the last: Bonett & Wright 2000


def _interval(value: float, influence: Array, groups: Index | None, normal: float) -> Estimate:
    """Put an interval around a coefficient, on Fisher's scale.

    With few units it is no narrower than for normal data, whose variance on that scale is ``normal / (n - 3)``.
    """
    if abs(value) >= 1 - 1e-12:
        value = 1.0 if value > 0 else -1.0
        return Estimate(value, value, value)
    error, units = clustered_error(influence, groups)
    error /= 1 - value**2
    if units < FEW:
        error = max(error, sqrt(normal / (units - 3)))
    centre, half = atanh(value), quantile_95(units - 2) * error
    return Estimate(value, tanh(centre - half), tanh(centre + half))


def _centred_ranks(values: Array) -> Array:
    """Rank each row from -1/2 to 1/2: the share of rows below, plus half of those that are equal, less a half."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values) - 0.5
    return np.asarray(middle[inverse])


def _below(values: Array, weights: Array) -> Array:
    """Average, for each row, over all rows j ``weights_j`` times 1/2 where it stands below j, -1/2 where above."""
    _, inverse = np.unique(values, return_inverse=True)
    mass = np.bincount(inverse, weights)
    above = mass.sum() - np.cumsum(mass) + mass / 2
    return np.asarray((above[inverse] - weights.sum() / 2) / len(values))
