"""Intervals and tests of what storing costs: each stored row against the same scorer on whole vectors.

Stored rows are a family of their own. They are named before anybody looks, and their question is another one than that
of the table: not which scorer is best, but what this one loses. So they are corrected for each other, and no other row
of the table changes because somebody asked for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.paired_differences import paired_differences
from offsphere.comparison.row_tests import POOLED_RESAMPLES, RESAMPLES
from offsphere.statistics.equivalence import upper_bounds
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.metrics import QualityMetric
from offsphere.statistics.significance import Interval, bootstrap, interval


class StoredDifferences(NamedTuple):
    """How stored rows differ from what they are held against: a number a row."""

    difference: Array
    around: Interval
    p: Array  # corrected for each other
    at_most: Array  # what is lost at most, all bounds together


class StoredTests(NamedTuple):
    """Values of stored rows, and how they differ from whole vectors and from the baseline."""

    values: Array
    around: Interval
    from_whole: StoredDifferences
    from_baseline: StoredDifferences


def judge_stored(
    metric: QualityMetric,
    evaluation: Evaluation,
    whole: Sequence[Array],
    stored: Sequence[Array],
    whole_of: Index,
    *,
    seed: int,
    permutations: int,
) -> StoredTests:
    """Put intervals and tests around measurements of stored vectors.

    Args:
        metric: under which they were measured.
        evaluation: how measurements are summed up.
        whole: the measurement of each scorer on whole vectors; that of the baseline is the first.
        stored: the measurement of each stored row.
        whole_of: which of the scorers each row stores.
        seed: of resamples and sign patterns.
        permutations: of the test behind each p.
    """
    measured = [*whole, *stored]
    everything = np.ones((1, evaluation.units))
    values = np.array([evaluation.evaluate(row, everything)[0] for row in measured])
    samples = bootstrap(
        lambda weights: evaluation.evaluate_all(measured, weights),
        evaluation.units,
        count=POOLED_RESAMPLES if metric.kind == "pooled" else RESAMPLES,
        seed=seed,
    )  # (resamples, measurements)
    rows = np.arange(len(whole), len(measured))

    def against(others: Index) -> StoredDifferences:
        apart = paired_differences(evaluation, measured, (rows, others), samples, seed=seed, permutations=permutations)
        lost = upper_bounds(-apart.values, samples[:, others] - samples[:, rows])
        return StoredDifferences(apart.values, apart.around, apart.p, lost)

    return StoredTests(values[rows], interval(samples[:, rows]), against(whole_of), against(np.zeros_like(whole_of)))
