"""What storing costs: the scorers that matter, on every stored form that was asked for, beside themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.progress import Progress, say
from offsphere.comparison.row import Row
from offsphere.comparison.stored_row import StoredRow
from offsphere.comparison.stored_tests import judge_stored
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.comparison.verdict import recommended_choice
from offsphere.data.evaluator import Evaluator, TwoStepEvaluator
from offsphere.data.task import TaskVectors
from offsphere.ranking.reranking import TwoSteps
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT, Polar
from offsphere.scoring.stored.stored_form import StoredForm
from offsphere.scoring.stored.stored_vectors import NotStorableError, store
from offsphere.vectors.moments import Moments


class StoringSource(NamedTuple):
    """A row whose scorer is stored, what was measured of it, and whether it was asked for before any look."""

    row: Row
    candidate: MeasuredCandidate
    asked: bool


class _Plan(NamedTuple):
    """A stored row that is to be measured: its searches, one for each option that a fold of a tuned row chose."""

    name: str
    source: int
    form: StoredForm
    searches: Mapping[int, Scorer]  # by the number of the option


def with_stored_rows(
    table: Comparison,
    forms: Sequence[StoredForm],
    evaluator: Evaluator,
    vectors: TaskVectors,
    results: Sequence[MeasuredCandidate],
    moments: Moments,
    *,
    named: bool,
    permutations: int,
    progress: Progress | None = None,
) -> Comparison:
    """Add to a comparison what storing costs.

    Stored are the baseline, the planned rows and what is recommended; all rows where the user named them.

    Args:
        table: the comparison on whole vectors.
        forms: what is stored.
        evaluator: what measures scorers on the task.
        vectors: of the task.
        results: what was measured of each row of the table.
        moments: of what transforms are fitted on.
        named: whether the user named the scorers that were compared.
        permutations: of the tests.
        progress: is told what is done now.

    Returns:
        The same comparison with its ``stored`` rows, and with notes on scorers that have no such form.
    """
    say(progress, "searching stored forms")
    sources = _sources(table, results, named=named)
    by_query = evaluator.metric.agreement == "query"
    plans, notes = _plans(sources, forms, vectors, moments, by_query=by_query)
    if not isinstance(evaluator, TwoStepEvaluator) and any(plan.form.oversampling is not None for plan in plans):
        plans = [plan for plan in plans if plan.form.oversampling is None]
        notes.append("nothing is re-ranked: this task has no lists of results, every pair is scored by what is stored")
    if not plans:
        return replace(table, notes=[*table.notes, *notes])
    measured = _measure(plans, sources, evaluator)
    say(progress, "testing what storing costs")
    rows = _rows(plans, sources, measured, evaluator, vectors, table.seed, permutations)
    return replace(table, stored=rows, notes=[*table.notes, *notes])


def _sources(table: Comparison, results: Sequence[MeasuredCandidate], *, named: bool) -> list[StoringSource]:
    """Choose whose vectors are stored: the baseline first, then what was planned, then what is recommended."""
    baseline = table[table.baseline]
    asked = [row for row in table.rows if row is not baseline and (row.planned or named)]
    chosen = recommended_choice(table).row
    by_name = {result.candidate.name: result for result in results}
    sources = [StoringSource(row, by_name[row.name], asked=True) for row in (baseline, *asked)]
    if all(chosen is not source.row for source in sources):
        sources.append(StoringSource(chosen, by_name[chosen.name], asked=False))
    return sources


def _plans(
    sources: Sequence[StoringSource],
    forms: Sequence[StoredForm],
    vectors: TaskVectors,
    moments: Moments,
    *,
    by_query: bool,
) -> tuple[list[_Plan], list[str]]:
    """Make the searches of every scorer on every form, and tell which scorer has no such form, and why."""
    plans: list[_Plan] = []
    refused: dict[str, list[str]] = {}
    for number, (row, candidate, _) in enumerate(sources):
        used = sorted({*candidate.tuned.by_fold, candidate.tuned.overall})
        options = {option: candidate.candidate.options[option] for option in used}
        for form in forms:
            if form.sliced and _cuts_alike(row.scorer, by_query=by_query):
                continue
            try:
                searches = {
                    option: store(scorer, form, vectors.sides[1], moments, by_query=by_query)
                    for option, scorer in options.items()
                }
            except NotStorableError as error:
                refused.setdefault(f"{row.deployed} is not stored as {{}}: {error}", []).append(form.name)
                continue
            plans.append(_Plan(f"{row.deployed}, stored as {form.name}", number, form, searches))
    return plans, [note.format(", ".join(names)) for note, names in refused.items()]


def _cuts_alike(scorer: Scorer, *, by_query: bool) -> bool:
    """Tell whether a scorer takes no length of documents, so that it cannot matter when a vector is cut."""
    similarity = scorer.similarity
    alike = similarity == DOT or (by_query and isinstance(similarity, Polar) and similarity.document == 0)
    return alike and not scorer.transforms


def _measure(plans: Sequence[_Plan], sources: Sequence[StoringSource], evaluator: Evaluator) -> list[Array]:
    """Measure every plan; of a tuned row each fold by the option that the other folds chose on whole vectors."""
    steps = {
        (number, option): TwoSteps(
            search, sources[plan.source].candidate.candidate.options[option], plan.form.oversampling
        )
        for number, plan in enumerate(plans)
        if plan.form.oversampling is not None
        for option, search in plan.searches.items()
    }
    at_once = {
        (number, option): search
        for number, plan in enumerate(plans)
        if plan.form.oversampling is None
        for option, search in plan.searches.items()
    }
    measured = dict(zip(at_once, evaluator.values(list(at_once.values())), strict=True))
    if isinstance(evaluator, TwoStepEvaluator):
        measured |= dict(zip(steps, evaluator.two_step_values(list(steps.values())), strict=True))
    assembled = []
    for number, plan in enumerate(plans):
        tuned, options = sources[plan.source].candidate.tuned, list(plan.searches)
        choice = np.array([options.index(option) for option in tuned.by_fold])[evaluator.folds]
        assembled.append(evaluator.evaluation.assemble([measured[number, option] for option in options], choice))
    return assembled


def _rows(
    plans: Sequence[_Plan],
    sources: Sequence[StoringSource],
    measured: Sequence[Array],
    evaluator: Evaluator,
    vectors: TaskVectors,
    seed: int,
    permutations: int,
) -> list[StoredRow]:
    """Put intervals and tests around what was measured."""
    tests = judge_stored(
        evaluator.metric,
        evaluator.evaluation,
        [source.candidate.tuned.measured for source in sources],
        measured,
        np.array([plan.source for plan in plans]),
        seed=seed,
        permutations=permutations,
    )
    rows = []
    for number, plan in enumerate(plans):
        source = sources[plan.source]
        search, whole = plan.searches[source.candidate.tuned.overall], source.row.scorer
        change, apart = tests.from_whole, tests.from_baseline
        rows.append(
            StoredRow(
                name=plan.name,
                of=source.row,
                form=plan.form,
                scorer=search,
                vector_bytes=plan.form.stored_bytes(_width(search, vectors)),
                whole_bytes=StoredForm().stored_bytes(whole.lower().queries(vectors.sides[0][:1]).shape[1]),
                value=float(tests.values[number]),
                low=float(tests.around.low[number]),
                high=float(tests.around.high[number]),
                change=float(change.difference[number]),
                change_low=float(change.around.low[number]),
                change_high=float(change.around.high[number]),
                change_p=float(change.p[number]),
                costs_at_most=float(change.at_most[number]),
                difference=float(apart.difference[number]),
                difference_low=float(apart.around.low[number]),
                difference_high=float(apart.around.high[number]),
                p=float(apart.p[number]) if source.asked else None,
                values=measured[number] if evaluator.metric.kind == "ranking" else None,
            )
        )
    return rows


def _width(search: Scorer, vectors: TaskVectors) -> int:
    """Count the numbers of a stored vector."""
    return int(search.transform(vectors.sides[0][:1], "query").shape[1])
