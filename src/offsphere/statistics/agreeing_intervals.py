"""Intervals that belong to a test: they leave out zero exactly where its p is below 0.05.

A gain of x stays possible where the test, with x taken from everything that was measured, does not call it different.
An interval and a p that were made in two ways contradict each other in a row in twenty, and nobody knows which to
believe.
"""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array
from offsphere.statistics.significance import ALPHA, Interval

_ROUNDING = 1e-9  # equal statistics may differ by rounding, and the test counts them as equal


def tolerated(permutations: int, level: float = ALPHA) -> int:
    """Tell how many permuted statistics may reach an observed one so that its p is still below the level.

    The observed pattern counts as one of the permutations (Phipson & Smyth 2010).

    Args:
        permutations: how many there are.
        level: below which p is called small; half of it for one of two tails.

    Returns:
        A count; below zero where there are too few permutations for any p to be so small.

    Example:
        >>> tolerated(999), (1 + tolerated(999)) / 1_000, tolerated(10)
        (48, 0.049, -1)
    """
    return int(np.ceil(level * (1 + permutations) - _ROUNDING)) - 2


def around_means(columns: Array, reach: Array) -> Interval:
    """Put intervals around the means of columns that were tested by ``|sum| / sqrt(sum of squares)``.

    With the bound c that a statistic must exceed, ``|sum| / sqrt(sum of squares) <= c`` is a quadratic in what is taken
    from every unit, solved by the mean and c deviations over ``sqrt(units - c^2)``. Where nothing bounds a mean it lies
    between the smallest and the largest of its parts, and zero.

    Args:
        columns: what was tested: (units, comparisons).
        reach: beyond which statistic a gain and a loss are called different: (comparisons, 2).

    Returns:
        The 95 % interval of each mean.

    Example:
        >>> import numpy as np
        >>> around = around_means(np.array([[1.0], [2.0], [3.0], [2.0]]), np.array([[1.5, 1.5]]))
        >>> around.low.round(2), around.high.round(2)
        (array([1.2]), array([2.8]))
    """
    columns = np.asarray(columns, np.float64)
    means = columns.mean(axis=0)
    squares = (reach.T * (1 + _ROUNDING)) ** 2  # (2, comparisons)
    room = len(columns) - squares
    wide = np.sqrt(np.divide(squares, room, out=np.zeros_like(room), where=room > 0)) * columns.std(axis=0)
    gains, losses = np.where(room > 0, wide, np.inf)
    least, most = np.minimum(columns.min(axis=0), 0), np.maximum(columns.max(axis=0), 0)
    return Interval(np.maximum(means - gains, least), np.minimum(means + losses, most))


def around_statistics(observed: Array, errors: Array, reach: Array) -> Interval:
    """Put intervals around statistics that were tested by their size in standard errors.

    Args:
        observed: of each comparison.
        errors: the standard error of each.
        reach: beyond how many of them a gain and a loss are called different: (comparisons, 2).

    Returns:
        The 95 % interval of each.

    Example:
        >>> import numpy as np
        >>> around_statistics(np.array([1.0]), np.array([0.5]), np.array([[3.0, 3.0]]))
        Interval(low=array([-0.5]), high=array([2.5]))
    """
    gains, losses = reach.T * (1 + _ROUNDING)
    with np.errstate(invalid="ignore"):  # no reach is so far that it counts where there is no error
        return Interval(
            observed - np.where(errors > 0, gains * errors, 0.0), observed + np.where(errors > 0, losses * errors, 0.0)
        )


def around_values(values: Array, told: Array, tested: Array, reach: Array) -> Interval:
    """Put intervals around differences that may be told on another scale than they were tested on.

    Args:
        values: the differences as they are told.
        told: what each unit adds to them: (units, comparisons).
        tested: what was tested of each unit, on the scale of the test.
        reach: beyond which statistic a gain and a loss are called different: (comparisons, 2).

    Returns:
        The interval of each difference; ``around_means`` where both scales are one.

    Example:
        >>> import numpy as np
        >>> tested = np.array([[0.2], [0.5], [0.3], [0.4]])
        >>> around = around_values(np.array([0.7]), 2 * tested, tested, np.array([[1.5, 1.5]]))
        >>> around.low.round(2), around.high.round(2)
        (array([0.45]), array([0.95]))
    """
    return on_scale(values, told, tested, around_means(tested, reach))


def on_scale(values: Array, told: Array, tested: Array, around: Interval) -> Interval:
    """Bring intervals of what was tested to the scale on which differences are told.

    Pairs are tested by what each adds to a correlation, and what is told is the correlation, which may be another one
    (Kendall's) or measured anew of scores that were put together. Where a difference is surely one its interval keeps
    its proportion to it. Elsewhere it keeps its width in deviations and reaches zero: both as in the test.

    Args:
        values: the differences as they are told.
        told: what each unit adds to them: (units, comparisons).
        tested: what was tested of each unit, on the scale of the test.
        around: the interval of each mean of what was tested.

    Returns:
        The interval of each difference.

    Example:
        >>> import numpy as np
        >>> tested, around = np.array([[0.2], [0.4]]), Interval(np.array([-0.2]), np.array([0.8]))
        >>> on_scale(np.array([0.6]), 2 * tested, tested, around)
        Interval(low=array([-0.4]), high=array([1.6]))
    """
    means, deviations = tested.mean(axis=0), tested.std(axis=0)
    times = np.divide(told.std(axis=0), deviations, out=np.ones_like(deviations), where=deviations > 0)
    sure = ((around.low > 0) | (around.high < 0)) & (means * values > 0)
    ratio = np.divide(values, means, out=np.ones_like(means), where=sure)
    low = np.minimum(values - (means - around.low) * times, 0)
    high = np.maximum(values + (around.high - means) * times, 0)
    return Interval(np.where(sure, around.low * ratio, low), np.where(sure, around.high * ratio, high))
