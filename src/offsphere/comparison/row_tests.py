"""Intervals and tests of the rows of a comparison: planned ones alone, all others corrected for each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.progress import Progress
from offsphere.comparison.row import Row
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.statistics.agreeing_intervals import around_statistics, around_values
from offsphere.statistics.cross_validation import TunedMeasurement
from offsphere.statistics.equivalence import most_to_gain
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.max_t import Tests, max_t_by_bootstrap
from offsphere.statistics.metrics import QualityMetric
from offsphere.statistics.significance import Interval, bootstrap, interval, win_tie_loss
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

RESAMPLES = 2_000
POOLED_RESAMPLES = 400  # each one costs a walk through the whole pool


class RowMeasurements(Protocol):
    """What was measured of a row: its held-out measurement, and that of each option it was tuned over."""

    @property
    def tuned(self) -> TunedMeasurement:
        """The held-out measurement, and what was chosen."""
        ...

    @property
    def options(self) -> Sequence[Array]:
        """The measurement of each option; nothing where nobody chooses by them."""
        ...

    @property
    def by_fold(self) -> Sequence[Sequence[Array]]:
        """The options of each fold, where they were made without it."""
        ...


class RowTests(NamedTuple):
    """Values with intervals, a number a row; differences from the first row, whose own are zero and have no p."""

    values: Array
    around: Interval
    difference: Array
    difference_around: Interval
    p: Sequence[float | None]
    p_alone: Sequence[float | None]
    most_to_gain: float  # what the best row really gains at most: an upper bound for all rows together


def judge_measured(
    metric: QualityMetric,
    evaluation: Evaluation,
    results: Sequence[RowMeasurements],
    *,
    folds: Index,
    planned: Sequence[bool],
    seed: int,
    permutations: int,
    progress: Progress | None = None,
) -> RowTests:
    """Put intervals and tests around held-out measurements, each against the first.

    Args:
        metric: under which they were measured.
        evaluation: how measurements are summed up.
        results: the first is what the others are held against.
        folds: of each unit, over which was tuned.
        planned: which rows were asked for before any look: their p stands alone, that of the others is corrected.
        seed: of resamples and sign patterns.
        permutations: of the test behind each p.
        progress: is told how far the test is.
    """
    measured = [result.tuned.measured for result in results]
    everything = np.ones((1, evaluation.units))
    values = np.array([evaluation.evaluate(row, everything)[0] for row in measured])
    samples = bootstrap(
        lambda weights: evaluation.evaluate_all(measured, weights),
        evaluation.units,
        count=RESAMPLES if metric.kind != "pooled" else POOLED_RESAMPLES,
        seed=seed,
    )  # (resamples, rows)
    apart, drawn = values[1:] - values[0], samples[:, 1:] - samples[:, :1]
    exploratory = ~np.array(planned[1:], bool)
    tests, around = _test(
        evaluation, results, apart, drawn, folds, exploratory, (seed, permutations), progress=progress
    )
    return RowTests(
        values,
        interval(samples),
        values - values[0],
        Interval(np.append(0.0, around.low), np.append(0.0, around.high)),
        [None, *tests.corrected.tolist()],
        [None, *tests.alone.tolist()],
        most_to_gain(apart, drawn),
    )


def row_fields(
    metric: QualityMetric, tests: RowTests, results: Sequence[RowMeasurements], number: int
) -> dict[str, Any]:
    """Give what every kind of row says of one result, by the names of the fields of a row."""
    measured = results[number].tuned.measured
    per_query = metric.kind == "ranking"
    return {
        "value": float(tests.values[number]),
        "low": float(tests.around.low[number]),
        "high": float(tests.around.high[number]),
        "difference": float(tests.difference[number]),
        "difference_low": float(tests.difference_around.low[number]),
        "difference_high": float(tests.difference_around.high[number]),
        "p": tests.p[number],
        "p_alone": tests.p_alone[number],
        "tally": win_tie_loss(measured - results[0].tuned.measured) if per_query else None,
        "values": measured if per_query else None,
    }


def judge_rows(
    metric: QualityMetric,
    evaluation: Evaluation,
    results: Sequence[MeasuredCandidate],
    *,
    folds: Index,
    asked: Collection[str],
    seed: int,
    permutations: int,
    progress: Progress | None = None,
) -> tuple[list[Row], float]:
    """Put intervals and tests around the held-out measurements, and bound the best gain; the baseline is the first.

    Rows that rank as one of the names ``asked`` were planned: asked for before any look.
    """
    planned = [not set(asked).isdisjoint((candidate.name, *candidate.same)) for candidate, *_ in results]
    tests = judge_measured(
        metric,
        evaluation,
        results,
        folds=folds,
        planned=planned,
        seed=seed,
        permutations=permutations,
        progress=progress,
    )
    rows = [
        Row(
            **row_fields(metric, tests, results, number),
            name=candidate.name,
            planned=bool(number) and planned[number],
            scorer=candidate.options[tuned.overall],
            parameters=candidate.parameters[tuned.overall],
            fold_parameters=[candidate.parameters[o] for o in tuned.by_fold] if len(candidate.options) > 1 else [],
            same_ranking_as=candidate.same,
            tuned=candidate.tuned,
        )
        for number, (candidate, tuned, *_) in enumerate(results)
    ]
    return rows, tests.most_to_gain


def _test(
    evaluation: Evaluation,
    results: Sequence[RowMeasurements],
    apart: Array,
    drawn: Array,
    folds: Index,
    exploratory: Flags,
    drawing: tuple[int, int],
    *,
    progress: Progress | None,
) -> tuple[Tests, Interval]:
    """Test every row but the first, and put the interval around its difference that belongs to its p."""
    if len(results) < 2:  # noqa: PLR2004
        nothing = np.zeros(0)
        return Tests(nothing, nothing, np.zeros((0, 2))), Interval(nothing, nothing)
    options = _differences_by_row(evaluation, results, folds)
    if options is None:
        tests = max_t_by_bootstrap(apart, drawn, together=exploratory)
        return tests, around_statistics(apart, drawn.std(axis=0), tests.reach)
    columns, rows = options
    seed, permutations = drawing
    tests = max_t_by_tuned_signs(columns, rows, folds, permutations, seed, together=exploratory, progress=progress)
    chosen = [row[folds, np.array(result.tuned.by_fold)[folds]] for row, result in zip(rows, results[1:], strict=True)]
    held_out = np.stack([columns[np.arange(len(folds)), numbers] for numbers in chosen], axis=1)
    each = [evaluation.contributions(result.tuned.measured) for result in results]
    told = np.stack([part for part in each if part is not None], axis=1)
    return tests, around_values(apart, told[:, 1:] - told[:, :1], held_out, tests.reach)


def _differences_by_row(
    evaluation: Evaluation, results: Sequence[RowMeasurements], folds: Index
) -> tuple[Array, list[Index]] | None:
    """Give what every option gains over the baseline, unit by unit, and which options belong to each row and fold.

    Nothing where units have no values of their own, and only resampling can test. The baseline is no row.
    """
    columns: list[Array] = []
    rows: list[Index] = []
    count = int(folds.max()) + 1
    for number, result in enumerate(results):
        tuned, options, by_fold = result.tuned, result.options, result.by_fold
        if not number:  # what all are held against is what was measured, tuned or not
            options, by_fold = [], ()
        # a row that is not tuned over these folds is one option
        groups = by_fold or ([options] * count if len(options) > 1 else [[tuned.measured]] * count)
        start = len(columns)
        for group in groups if by_fold else groups[:1]:
            values = [evaluation.to_choose_by(option) for option in group]
            columns += [column for column in values if column is not None]
        numbers = np.arange(len(groups[0]))
        rows.append(np.stack([start + numbers + (fold * len(numbers) if by_fold else 0) for fold in range(count)]))
    if not columns:
        return None
    return np.stack(columns, axis=1) - columns[0][:, None], rows[1:]
