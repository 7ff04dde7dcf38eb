"""Intervals and tests of the rows of a comparison: planned ones alone, all others corrected for each other."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.row import Row
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.statistics.equivalence import most_to_gain
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.max_t import Tests, max_t_by_bootstrap
from offsphere.statistics.metrics import Metric
from offsphere.statistics.significance import bootstrap, interval, win_tie_loss
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

RESAMPLES = 2_000
POOLED_RESAMPLES = 400  # each one costs a walk through the whole pool


def judge_rows(
    metric: Metric,
    evaluation: Evaluation,
    results: Sequence[MeasuredCandidate],
    *,
    folds: Index,
    asked: Collection[str],
    seed: int,
    permutations: int,
) -> tuple[list[Row], float]:
    """Put intervals and tests around the held-out measurements, and bound the best gain; the baseline is the first.

    Rows that rank as one of the names ``asked`` were planned: asked for before any look.
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
    around = interval(samples)
    gained = interval(samples - samples[:, :1])
    apart, drawn = values[1:] - values[0], samples[:, 1:] - samples[:, :1]
    planned = [not set(asked).isdisjoint((candidate.name, *candidate.same)) for candidate, *_ in results]
    exploratory = ~np.array(planned[1:], bool)
    p = Tests(np.zeros(0), np.zeros(0))
    if len(measured) > 1:
        every_option = _differences_by_row(evaluation, results, folds)
        p = (
            max_t_by_tuned_signs(*every_option, folds, permutations, seed, together=exploratory)
            if every_option is not None
            else max_t_by_bootstrap(apart, drawn, together=exploratory)
        )
    per_query = metric.kind == "ranking"
    rows = [
        Row(
            name=candidate.name,
            value=float(values[number]),
            low=float(around.low[number]),
            high=float(around.high[number]),
            difference=float(values[number] - values[0]),
            difference_low=float(gained.low[number]),
            difference_high=float(gained.high[number]),
            p=float(p.corrected[number - 1]) if number else None,
            p_alone=float(p.alone[number - 1]) if number else None,
            planned=bool(number) and planned[number],
            scorer=candidate.options[tuned.overall],
            parameters=candidate.parameters[tuned.overall],
            fold_parameters=[candidate.parameters[o] for o in tuned.by_fold] if len(candidate.options) > 1 else [],
            same_ranking_as=candidate.same,
            tally=win_tie_loss(measured[number] - measured[0]) if per_query else None,
            values=measured[number] if per_query else None,
            tuned=candidate.tuned,
        )
        for number, (candidate, tuned, *_) in enumerate(results)
    ]
    return rows, most_to_gain(apart, drawn)


def _differences_by_row(
    evaluation: Evaluation, results: Sequence[MeasuredCandidate], folds: Index
) -> tuple[Array, list[Index]] | None:
    """Give what every option gains over the baseline, unit by unit, and which options belong to each row and fold.

    Nothing where units have no values of their own, and only resampling can test. The baseline is no row.
    """
    columns: list[Array] = []
    rows: list[Index] = []
    count = int(folds.max()) + 1
    for _, tuned, options, by_fold in results:
        # a row that is not tuned over these folds is one option: what was measured
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
