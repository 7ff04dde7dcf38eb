"""How far apart two groups are: Cohen's d, and the chance that one of the first is above one of the second."""

from __future__ import annotations

from math import nan, sqrt

import numpy as np
from scipy.stats import rankdata

from offsphere.base.arrays import Array
from offsphere.statistics.estimate import Estimate

RESAMPLES = 2_000
DRAWN = 5_000  # values beyond which resampled moments are drawn from their limiting normal distribution
CELLS = 200_000  # numbers that are drawn together
FEW = 30  # in a group: below, percentiles of a bootstrap are too narrow
BANDS = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "negligible"))  # Cohen 1988


def band(d: float) -> str:
    """Give Cohen's word for an effect of this size."""
    return next(word for least, word in BANDS if abs(d) >= least)


def cohen_d(first: Array, second: Array, seed: int = 0) -> Estimate:
    """Compute ``(mean of the first - mean of the second) / pooled deviation``, with an interval.

    By bootstrap; with fewer than 30 in a group, where that is too narrow, from the error of Hedges & Olkin (1985). Zero
    where all numbers are equal.
    """
    value = cohen_d_value(first, second)
    few, many = sorted((len(first), len(second)))
    if few < FEW and value:
        error = sqrt(1 / few + 1 / many + value**2 / (2 * (few + many)))
        return Estimate.around(value, error, few + many - 2)
    return Estimate.resampled(value, cohen_d_samples(first, second, seed))


def cohen_d_value(first: Array, second: Array) -> float:
    """Compute Cohen's d without an interval."""
    return float(_d(first.mean(), first.var(ddof=1), len(first), second.mean(), second.var(ddof=1), len(second)))


def cohen_d_samples(first: Array, second: Array, seed: int = 0) -> Array:
    """Compute Cohen's d in each of many resamples of both groups; the same rows for the same seed and sizes."""
    rng = np.random.default_rng(seed)
    means, variances = _resample(first, rng)
    means2, variances2 = _resample(second, rng)
    return np.asarray(_d(means, variances, len(first), means2, variances2, len(second)))


def superiority(first: Array, second: Array) -> Estimate:
    """Estimate the chance that one of the first is above one of the second, ties at a half: the area under the ROC.

    The interval is that of DeLong, DeLong & Clarke-Pearson (1988), from the placements of each group in the other.
    """
    both = np.concatenate([first, second])
    ranks = rankdata(both)
    above = (ranks[: len(first)] - rankdata(first)) / len(second)  # share of the second below each of the first
    below = 1 - (ranks[len(first) :] - rankdata(second)) / len(first)
    error = sqrt(_error(above) + _error(below))
    value = float(above.mean())
    around = Estimate.around(value, error)
    return Estimate(value, max(around.low or 0.0, 0.0), min(around.high or 1.0, 1.0))


def _d(mean: Array, variance: Array, count: int, mean2: Array, variance2: Array, count2: int) -> Array:
    """Divide the difference of two means by the pooled deviation; zero where nothing varies."""
    pooled = np.sqrt(((count - 1) * variance + (count2 - 1) * variance2) / (count + count2 - 2))
    difference = np.asarray(mean - mean2)
    return np.divide(difference, pooled, out=np.zeros(np.broadcast(difference, pooled).shape), where=pooled > 0)


def _resample(values: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Compute mean and variance in many resamples; for many values from the normal distribution they tend to."""
    count = len(values)
    if count <= DRAWN:
        centre = values.mean()
        centred = values - centre
        squared = centred**2
        means, squares = np.empty(RESAMPLES), np.empty(RESAMPLES)
        step = max(CELLS // count, 1)
        for start in range(0, RESAMPLES, step):
            resamples = slice(start, min(start + step, RESAMPLES))
            # a resample a column: sums are taken over rows, one after the other, for all columns together
            rows = np.ascontiguousarray(rng.integers(0, count, (resamples.stop - start, count)).T)
            means[resamples], squares[resamples] = centred[rows].mean(axis=0), squared[rows].mean(axis=0)
        return means + centre, np.maximum(squares - means**2, 0) * (count / (count - 1))
    centred = values - values.mean()
    second, third, fourth = ((centred**power).mean() for power in (2, 3, 4))
    covariance = np.array([[second, third], [third, fourth - second**2]]) / count
    drawn = rng.multivariate_normal([values.mean(), values.var(ddof=1)], covariance, RESAMPLES, check_valid="ignore")
    return drawn[:, 0], np.maximum(drawn[:, 1], 0)


def _error(values: Array) -> float:
    """Compute the squared standard error of a mean."""
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else nan
