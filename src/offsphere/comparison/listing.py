"""Lists from elsewhere beside the scorers of a comparison: measured by the same metric, tested by the same tests.

Like stored rows they are a family of their own: they are named before anybody looks, they are corrected for each other,
and no row of a scorer changes because somebody asked for them. Nothing of them is recommended, since no vector index
could serve it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import NamedTuple

from offsphere.base.arrays import Array
from offsphere.base.errors import ParameterError
from offsphere.comparison.list_row import ListRow
from offsphere.comparison.list_source import ListCandidate, ListRequest, ListSource, NotListedError
from offsphere.comparison.row_tests import RowTests, judge_measured, row_fields
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.comparison.verdict import recommended_choice
from offsphere.data.evaluator import Evaluator, ListEvaluator, lists_measured
from offsphere.data.task_kinds import has_lists_or_pairs
from offsphere.statistics.cross_validation import TunedMeasurement, tune


class MeasuredLists(NamedTuple):
    """A row of lists, its held-out measurement, and that of each of its options."""

    candidate: ListCandidate
    tuned: TunedMeasurement
    options: Sequence[Array]
    by_fold: Sequence[Sequence[Array]] = ()


def make_lists(
    sources: Sequence[ListSource], asked: ListRequest, evaluator: Evaluator
) -> tuple[list[ListCandidate], list[str]]:
    """Make all lists, under names that differ; a source that this task has nothing for is told in a note.

    Args:
        sources: where the lists come from.
        asked: the task they are made for.
        evaluator: what is to measure them.

    Returns:
        The rows of lists, and notes on them and on those that fell out.

    Raises:
        ParameterError: where two rows have one name.
    """
    made: list[ListCandidate] = []
    notes: list[str] = []
    known = has_lists_or_pairs(asked.task) and isinstance(evaluator, ListEvaluator)
    if sources and not known:  # so that a source that meets no ranking has met pairs
        return [], [f"other systems are left out: {asked.task.name} has neither lists of documents nor pairs"]
    for source in sources:
        try:
            candidates = source.candidates(asked)
        except NotListedError as error:
            notes.append(str(error))
            continue
        for candidate in candidates:
            if any(candidate.name == other.name for other in made):
                raise ParameterError(f"two rows are called {candidate.name!r}: give each list once, under its own name")
            made.append(candidate)
            notes += candidate.notes
    return made, notes


def with_list_rows(
    table: Comparison,
    made: Sequence[ListCandidate],
    evaluator: Evaluator,
    results: Sequence[MeasuredCandidate],
    *,
    permutations: int,
) -> Comparison:
    """Add to a comparison what other systems' lists are worth.

    The recommended row was picked on the same units, so that the differences from it are a little too small.

    Args:
        table: the comparison of scorers.
        made: the rows of lists, as ``make_lists`` made them.
        evaluator: what measures lists on the task.
        results: what was measured of each row of the table.
        permutations: of the tests.

    Returns:
        The same comparison with its ``lists``.
    """
    measured = [_measure(candidate, evaluator) for candidate in made]
    by_name = {result.candidate.name: result for result in results}
    chosen = recommended_choice(table).row.name

    def against(name: str) -> tuple[list[MeasuredCandidate | MeasuredLists], RowTests]:
        rows: list[MeasuredCandidate | MeasuredLists] = [by_name[name], *measured]
        tests = judge_measured(
            evaluator.metric,
            evaluator.evaluation,
            rows,
            folds=evaluator.folds,
            planned=[False] * len(rows),
            seed=table.seed,
            permutations=permutations,
        )
        return rows, tests

    rows, tests = against(table.baseline)
    over = tests if chosen == table.baseline else against(chosen)[1]
    lists = [
        ListRow(
            **row_fields(evaluator.metric, tests, rows, number),
            name=candidate.name,
            phrase=candidate.phrase,
            cost=candidate.cost,
            contrast=candidate.contrast,
            parameters=candidate.parameters[tuned.overall],
            fold_parameters=[candidate.parameters[o] for o in tuned.by_fold] if len(candidate.options) > 1 else [],
            tuned=len(candidate.options) > 1,
            over_chosen=float(over.difference[number]),
            over_chosen_low=float(over.difference_around.low[number]),
            over_chosen_high=float(over.difference_around.high[number]),
            over_chosen_p=None if chosen == table.baseline else over.p[number],
        )
        for number, (candidate, tuned, *_) in enumerate(measured, 1)
    ]
    return replace(
        table, lists=sorted(lists, key=lambda row: (isnan(row.value), -row.value))
    )  # what has no value comes last


def _measure(candidate: ListCandidate, evaluator: Evaluator) -> MeasuredLists:
    """Measure every option of a row, and choose among them on folds that each unit is not in."""
    options = lists_measured(evaluator, candidate.options)
    tuned = tune(options, evaluator.evaluation, evaluator.folds)
    return MeasuredLists(candidate, tuned, options if evaluator.metric.kind != "pooled" else [])
