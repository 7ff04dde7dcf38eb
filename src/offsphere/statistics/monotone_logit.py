"""A logistic model with one free monotone function: what a second feature adds to the evidence of a first.

``P(y) = sigmoid(intercept + slope x + f(bin))``, f growing or falling over the bins. Newton steps, each a weighted
least squares in which f is found by pooling adjacent violators (Hastie & Tibshirani 1990, ch. 6, for such models).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index

STEPS = 60
CLOSE = 1e-7  # what a step may still change
PSEUDO = 1.0  # observations of weight one that say f = 0 in every bin, so that one without positives stays finite
FEWEST_POSITIVES = 5


class MonotoneFit(NamedTuple):
    """What was fitted: heights are f in every bin, with mean zero over the observations."""

    intercept: float
    slope: float
    heights: Array
    deviance: float  # twice the negative log-likelihood


def fit_monotone(x: Array, bins: Index, positive: Flags, count: int) -> MonotoneFit:
    """Fit the model growing and falling, and keep the likelier of the two.

    Args:
        x: the feature whose slope is linear.
        bins: the bin of the other feature, from 0.
        positive: what is to be explained.
        count: how many bins there are.

    Returns:
        The fit; a flat one where there are too few positives, or negatives, to say anything.
    """
    if min(positive.sum(), (~positive).sum()) < FEWEST_POSITIVES:
        return MonotoneFit(0.0, 0.0, np.zeros(count), np.nan)
    fits = [_fit(x, bins, positive, count, sign) for sign in (1.0, -1.0)]
    return min(fits, key=lambda fit: fit.deviance)


def _fit(x: Array, bins: Index, positive: Flags, count: int, sign: float) -> MonotoneFit:
    """Fit with f growing (sign 1) or falling (sign -1)."""
    from scipy.optimize import isotonic_regression

    y, heights = positive.astype(np.float64), np.zeros(count)
    share = y.mean()
    intercept, slope = float(np.log(share / (1 - share))), 0.0
    deviance = _deviance(intercept + slope * x, y)
    for _ in range(STEPS):
        value = intercept + slope * x + heights[bins]
        chance = 1 / (1 + np.exp(-value))
        weight = np.maximum(chance * (1 - chance), 1e-6)
        target = value + (y - chance) / weight
        intercept, slope = _line(x, target - heights[bins], weight)
        left = np.bincount(bins, weight * (target - intercept - slope * x), count)
        total = np.bincount(bins, weight, count) + PSEUDO
        heights = sign * np.asarray(isotonic_regression(sign * left / total, weights=total).x)
        heights -= np.average(heights, weights=np.bincount(bins, minlength=count))
        before, deviance = deviance, _deviance(intercept + slope * x + heights[bins], y)
        if abs(before - deviance) < CLOSE * abs(deviance):
            break
    return MonotoneFit(intercept, slope, heights, deviance)


def _line(x: Array, target: Array, weight: Array) -> tuple[float, float]:
    """Weighted least squares with an intercept."""
    total = weight.sum()
    mean_x, mean_target = weight @ x / total, weight @ target / total
    spread = weight @ (x - mean_x) ** 2
    slope = weight @ ((x - mean_x) * (target - mean_target)) / spread if spread > 0 else 0.0
    return float(mean_target - slope * mean_x), float(slope)


def _deviance(value: Array, y: Array) -> float:
    return float(2 * (np.logaddexp(0, value) - y * value).sum())
