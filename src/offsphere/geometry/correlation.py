"""Pearson's and Spearman's correlation with intervals in closed form: no resampling, so a million rows are no problem.

Both intervals come from the influence of each row on the coefficient, whose spread is the standard error whatever the
distribution (Hampel 1974), on Fisher's z scale. For Spearman the influence includes what a row does to the ranks of all
others; ties are at their mean rank.
"""

from __future__ import annotations

from math import atanh, nan, sqrt, tanh
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.geometry.estimate import NORMAL_95, UNDEFINED, Estimate

Array = NDArray[np.float64]

FEWEST = 4  # rows; below, no interval has a meaning


class Correlation(NamedTuple):
    """Both coefficients of the same rows."""

    pearson: Estimate
    spearman: Estimate
    rows: int


def correlation(x: NDArray[np.generic], y: NDArray[np.generic]) -> Correlation:
    """The correlation of two columns; undefined where one is constant or there are fewer than four rows."""
    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if len(one) < FEWEST or np.ptp(one) == 0 or np.ptp(other) == 0:
        return Correlation(UNDEFINED, UNDEFINED, len(one))
    return Correlation(_pearson(one, other), _spearman(one, other), len(one))


def _pearson(x: Array, y: Array) -> Estimate:
    left, right = _standard(x), _standard(y)
    value = float((left * right).mean())
    return _interval(value, left * right - value / 2 * (left**2 + right**2))


def _spearman(x: Array, y: Array) -> Estimate:
    left, right = _centred_ranks(x), _centred_ranks(y)
    spread, other_spread = float((left**2).mean()), float((right**2).mean())
    together = float((left * right).mean())
    value = together / sqrt(spread * other_spread)
    # what a row adds itself, and what it does by standing below or above the others
    joint = left * right + _below(x, right) + _below(y, left) - 3 * together
    own = left**2 + 2 * _below(x, left) - 3 * spread
    others = right**2 + 2 * _below(y, right) - 3 * other_spread
    influence = joint / sqrt(spread * other_spread) - value / 2 * (own / spread + others / other_spread)
    return _interval(value, influence)


def _interval(value: float, influence: Array) -> Estimate:
    if abs(value) >= 1 - 1e-12:
        value = 1.0 if value > 0 else -1.0
        return Estimate(value, value, value)
    error = float(influence.std()) / sqrt(len(influence)) / (1 - value**2)
    centre = atanh(value)
    return Estimate(value, tanh(centre - NORMAL_95 * error), tanh(centre + NORMAL_95 * error))


def _standard(values: Array) -> Array:
    centred = values - values.mean()
    spread = centred.std()
    return centred / spread if spread > 0 else np.full(len(values), nan)


def _centred_ranks(values: Array) -> Array:
    """The share of rows below, plus half of those that are equal, less a half."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = (np.cumsum(counts) - counts / 2) / len(values) - 0.5
    return np.asarray(middle[inverse])


def _below(values: Array, weights: Array) -> Array:
    """For each row, the mean over all rows j of ``weights_j`` times 1/2 where it stands below j, -1/2 where above."""
    _, inverse = np.unique(values, return_inverse=True)
    mass = np.bincount(inverse, weights)
    above = mass.sum() - np.cumsum(mass) + mass / 2
    return np.asarray((above[inverse] - weights.sum() / 2) / len(values))
