"""Is one difference chance? Paired randomisation tests, bootstrap intervals, Holm's correction.

Of many at once: ``max_t.py``, and ``tuned_signs.py`` where they were tuned; of the choice ``nested_choice.py``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError

ALPHA = 0.05  # the chance of a false alarm that is taken: a difference whose p is below is called one
SEEN = 1.959964  # standard errors, in either tail, at 5 %
_SIGNS_AT_ONCE, _FEWEST_AT_ONCE = 2_000_000, 16  # signs in memory, and patterns whatever they take
_RESAMPLED_AT_ONCE = 4_000_000  # weights in memory


class Interval(NamedTuple):
    """An interval and the level at which it was asked for."""

    low: Array
    high: Array


class Tally(NamedTuple):
    """On how many queries the first was better, equal, worse."""

    win: int
    tie: int
    loss: int


def randomization_test(differences: Array, permutations: int = 10_000, seed: int = 0) -> Array:
    """Test each column of paired differences (queries, comparisons) by flipping their signs at random: two-sided p.

    Under the null hypothesis the two scorers could be exchanged on any query, so every sign pattern is as likely
    (Fisher 1935; Smucker et al. 2007). All comparisons share the sign patterns and are one matrix product. The
    observed pattern counts as one of the permutations, so p is never zero (Phipson & Smyth 2010).
    """
    values = as_columns(differences)
    observed = np.abs(values.sum(axis=0))
    # equal sums may differ by rounding: count what is equal up to that as equal, which errs on the side of caution
    reached = observed * (1 - 1e-12) - 1e-12 * np.abs(values).sum(axis=0)
    exceeded = np.zeros(values.shape[1])
    for signs in random_signs(len(values), permutations, seed):
        exceeded += (np.abs(signs @ values) >= reached).sum(axis=0)
    p = (1 + exceeded) / (1 + permutations)
    return np.where(np.isnan(observed), 1.0, p)  # a scorer without a value is not different


def randomization_test_pairs(values: Array, permutations: int = 10_000, seed: int = 0) -> Array:
    """Test every pair of columns of ``values`` (queries, scorers): a symmetric matrix of p, with ones on its diagonal.

    Since a difference of columns flips with its query, the permuted sums of all pairs are differences of the permuted
    sums of the columns: one product for the scorers serves all of their pairs.
    """
    columns = as_columns(values)
    scorers = columns.shape[1]
    first, second = np.triu_indices(scorers, 1)
    centred = columns - columns.mean(axis=1, keepdims=True)  # what all have in common cancels in every difference
    observed = np.abs(centred.sum(axis=0)[first] - centred.sum(axis=0)[second])
    scale = np.array([np.abs(columns[:, i] - columns[:, j]).sum() for i, j in zip(first, second, strict=True)])
    reached = observed * (1 - 1e-12) - 1e-12 * scale
    exceeded = np.zeros(len(first))
    for signs in random_signs(len(columns), permutations, seed):
        sums = signs @ centred
        exceeded += (np.abs(sums[:, first] - sums[:, second]) >= reached).sum(axis=0)
    result = np.ones((scorers, scorers))
    result[first, second] = result[second, first] = (1 + exceeded) / (1 + permutations)
    return result


def bootstrap(statistic: Callable[[Array], Array], units: int, count: int = 2_000, seed: int = 0) -> Array:
    """Compute a statistic in each of ``count`` resamples of the units (queries or pairs), drawn with replacement.

    Args:
        statistic: gets weights (some resamples, units), how often each unit was drawn, and gives a value or a row of
            values for each resample.
        units: how many there are to draw from.
        count: how many resamples.
        seed: of the drawing.
    """
    if units < 1:
        raise ParameterError("there is nothing to resample: the task has no queries")
    rng = np.random.default_rng(seed)
    at_once = max(1, _RESAMPLED_AT_ONCE // units)
    samples = []
    for start in range(0, count, at_once):
        some = min(at_once, count - start)
        drawn = rng.integers(0, units, size=(some, units)) + np.arange(some)[:, None] * units
        weights = np.bincount(drawn.ravel(), minlength=some * units).reshape(some, units)
        samples.append(statistic(weights.astype(np.float64)))
    return np.concatenate(samples)


def bootstrap_means(values: Array, count: int = 2_000, seed: int = 0) -> Array:
    """Compute the means of the columns of ``values`` (units, columns) in each resample: (resamples, columns)."""
    columns = as_columns(values)
    return bootstrap(lambda weights: weights @ columns / len(columns), len(columns), count, seed)


def interval(samples: Array, level: float = 0.95) -> Interval:
    """Take the percentile interval of bootstrap samples along their first axis."""
    tail = (1 - level) / 2
    with warnings.catch_warnings():  # a statistic that has no value in any resample has no interval either
        warnings.simplefilter("ignore", RuntimeWarning)
        low, high = np.nanquantile(samples, [tail, 1 - tail], axis=0)
    return Interval(low, high)


def bootstrap_p(differences: Array, samples: Array) -> Array:
    """Test observed differences as normal with the standard error of their bootstrap samples: two-sided p.

    For statistics that are no mean over queries, where no randomisation test by sign flips exists.
    """
    from scipy.stats import norm

    error = np.nan_to_num(samples.std(axis=0))
    differences = np.nan_to_num(differences)
    away = np.divide(np.abs(differences), error, out=np.zeros_like(error), where=error > 0)
    return np.where(error > 0, 2 * norm.sf(away), np.where(differences == 0, 1.0, 0.0))


def holm(p: Array) -> Array:
    """Correct p for many comparisons, by Holm's step-down (1979): the chance of any false alarm keeps the level."""
    order = np.argsort(p, kind="stable")
    scaled = p[order] * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected


def win_tie_loss(differences: Array, tolerance: float = 1e-12) -> Tally:
    """Count on how many queries a difference is above, at and below zero."""
    return Tally(
        int((differences > tolerance).sum()),
        int((np.abs(differences) <= tolerance).sum()),
        int((differences < -tolerance).sum()),
    )


def random_signs(units: int, permutations: int, seed: int, at_once: int | None = None) -> Iterator[Array]:
    """Draw random signs, (some permutations, units) at a time; as many as memory allows unless said."""
    rng = np.random.default_rng(seed)
    row = -(-units // 8)
    some = at_once or max(_SIGNS_AT_ONCE // units, _FEWEST_AT_ONCE)
    for start in range(0, permutations, some):
        count = min(some, permutations - start)
        bits = np.frombuffer(rng.bytes(count * row), np.uint8).reshape(count, row)
        yield np.unpackbits(bits, axis=1, count=units).astype(np.float64) * 2 - 1


def as_columns(values: Array) -> Array:
    """Make a matrix of what may be a single column."""
    array = np.asarray(values, dtype=np.float64)
    return array[:, None] if array.ndim == 1 else array
