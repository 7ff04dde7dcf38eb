"""Equivalence: what could there be to gain at most? Where that is less than matters, "no difference" is an answer."""

from __future__ import annotations

from math import nan

import numpy as np

from offsphere.base.arrays import Array

LEAST_WORTH = 0.01  # a gain that nobody would notice, on the scale of a metric from 0 to 1
WORTH_SHARE = 0.02  # the same as a share of the baseline's value


def usual_worth(value: float) -> float:
    """Give the smallest gain that matters where nobody said one: 0.01, or 2 % of the baseline's value where more.

    Args:
        value: of the baseline.

    Returns:
        The gain, on the scale of the value.

    Example:
        >>> usual_worth(0.3), usual_worth(0.8)
        (0.01, 0.016)
    """
    return max(LEAST_WORTH, WORTH_SHARE * value) if np.isfinite(value) else LEAST_WORTH


def upper_bounds(differences: Array, samples: Array, level: float = 0.95) -> Array:
    """Bound from above what each of several comparisons really gains, so that all bounds hold together.

    Each is as many standard errors above its observed difference as the largest studentised error of all reaches in
    95 % of the resamples.

    Args:
        differences: of each comparison, as observed.
        samples: the same in each bootstrap resample: (resamples, comparisons).
        level: how sure all bounds together are to be.

    Returns:
        A bound for each comparison; not a number where it has no value.

    Example:
        >>> import numpy as np
        >>> samples = np.random.default_rng(0).normal(0.01, 0.001, (2_000, 1))
        >>> upper_bounds(np.array([0.01]), samples).round(4).tolist()
        [0.0116]
    """
    bounds = np.full(len(differences), nan)
    known = np.isfinite(differences) & np.isfinite(samples).all(axis=0)
    observed, drawn = differences[known], samples[:, known]
    errors = drawn.std(axis=0)
    spread = errors > 0
    below = (drawn[:, spread].mean(axis=0) - drawn[:, spread]) / errors[spread]
    reach = np.quantile(below.max(axis=1), level) if spread.any() else 0.0
    bounds[known] = observed + reach * errors
    return bounds


def most_to_gain(differences: Array, samples: Array, level: float = 0.95) -> float:
    """Bound from above what the best of several comparisons really gains.

    The bounds of all comparisons hold together (``upper_bounds``), so the largest of them bounds the best gain,
    whichever comparison it is of.

    Args:
        differences: of each comparison from the baseline, as observed.
        samples: the same in each bootstrap resample: (resamples, comparisons).
        level: how sure the bound is to be.

    Returns:
        The bound, never below 0, which is what the baseline itself gains; not a number where no comparison has a value.

    Example:
        >>> import numpy as np
        >>> samples = np.random.default_rng(0).normal(0.01, 0.001, (2_000, 1))
        >>> round(most_to_gain(np.array([0.01]), samples), 4)
        0.0116
    """
    if not len(differences):
        return 0.0
    bounds = upper_bounds(differences, samples, level)
    return float(max(np.nanmax(bounds), 0.0)) if np.isfinite(bounds).any() else nan
