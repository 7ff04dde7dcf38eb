"""Differences of measurements by pairs, tested and corrected together, each with the interval that belongs to its p."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.statistics.agreeing_intervals import around_statistics, around_values
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.max_t import max_t_by_bootstrap, max_t_by_signs
from offsphere.statistics.significance import Interval


class PairedDifferences(NamedTuple):
    """A number a pair: the difference of the two values, its interval, and its p."""

    values: Array
    around: Interval
    p: Array  # corrected for each other


def paired_differences(
    evaluation: Evaluation,
    measured: Sequence[Array],
    pairs: tuple[Index, Index],
    samples: Array,
    *,
    seed: int = 0,
    permutations: int = 10_000,
) -> PairedDifferences:
    """Test one measurement less another, for each of some pairs.

    By random signs, or by the samples where units have no values of their own.

    Args:
        evaluation: how measurements are summed up.
        measured: the measurements.
        pairs: the numbers of those that gain, and of those that they are held against.
        samples: the value of each measurement in each bootstrap resample: (resamples, measurements).
        seed: of the sign patterns.
        permutations: how many of them.

    Returns:
        A difference a pair.
    """
    first, second = pairs
    values = np.array([evaluation.evaluate(row, np.ones((1, evaluation.units)))[0] for row in measured])
    apart = values[first] - values[second]
    tested, told = (_columns(measured, each) for each in (evaluation.to_choose_by, evaluation.contributions))
    if tested is None or told is None:
        drawn = samples[:, first] - samples[:, second]
        tests = max_t_by_bootstrap(apart, drawn)
        return PairedDifferences(apart, around_statistics(apart, drawn.std(axis=0), tests.reach), tests.corrected)
    gained = tested[:, first] - tested[:, second]
    tests = max_t_by_signs(gained, permutations, seed)
    around = around_values(apart, told[:, first] - told[:, second], gained, tests.reach)
    return PairedDifferences(apart, around, tests.corrected)


def _columns(measured: Sequence[Array], each: Callable[[Array], Array | None]) -> Array | None:
    """A column a measurement, with a value a unit: (units, measurements); nothing where units have no such values."""
    known = [column for row in measured if (column := each(row)) is not None]
    return np.stack(known, axis=1) if known else None
