"""From measured candidates to the table: intervals, corrected tests, what the choice is worth, and what to mind.

Who measured them, in one run or shard by shard, makes no difference here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.progress import Progress, in_phase, say
from offsphere.comparison.breakdown import TableRow, break_down
from offsphere.comparison.candidate_rows import CandidateRows
from offsphere.comparison.candidates import Candidate, ranking_key
from offsphere.comparison.corpus_fit import CorpusFit
from offsphere.comparison.long_tails import notes_on_long_tails
from offsphere.comparison.procedure import judge_choice, options_of
from offsphere.comparison.row import label_apart
from offsphere.comparison.row_tests import judge_rows
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.data.evaluator import Evaluator
from offsphere.data.grouping import Grouping
from offsphere.statistics.cross_validation import few_folds
from offsphere.statistics.equivalence import usual_worth
from offsphere.statistics.metrics import QualityMetric

NARROW = (
    "whitening was fitted on {count:,} vectors of {dimensions:,} dimensions: directions in which these do not vary are "
    "dropped, so its rows tell how it ranks these documents, not how it would rank others"
)
EQUAL_LENGTHS_NOTE = "the vectors are normalised: their length was discarded before they came here"
NAMED_BEFORE = "p is right for scorers that were named before any look at these queries, too small for others"


class ComparedTask(Protocol):
    """What a table says of its task."""

    @property
    def units(self) -> int:
        """How many queries or pairs there are."""
        ...

    @property
    def unit(self) -> str:
        """What the units are called: queries, or pairs."""
        ...

    @property
    def made(self) -> str | None:
        """How the judgments were made, where no human judged."""
        ...

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output."""
        ...


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How a table is judged: folds, seed, permutations, and what was asked for before any look."""

    folds: int
    seed: int
    permutations: int
    declared: str | None
    deployed: str | None
    worth: float | None


class JudgedTable(NamedTuple):
    """The table, and the measurements that its rows were made of."""

    table: Comparison
    results: list[MeasuredCandidate]


def judged_table(
    task: ComparedTask,
    options: TableOptions,
    fit: CorpusFit,
    evaluator: Evaluator,
    rows: CandidateRows,
    measured: Sequence[MeasuredCandidate],
    unit_keys: Callable[[], Index],
    *,
    told: Sequence[str] = (),
    progress: Progress | None = None,
) -> JudgedTable:
    """Put intervals and tests around what was measured.

    Args:
        task: what was compared on.
        options: how it is judged.
        fit: what is known of the documents.
        evaluator: what measured, or the like of it.
        rows: what was to be measured.
        measured: a measurement for each distinct row, and for what was made from queries.
        unit_keys: a number for each unit, to know it again in what adapters have learned from.
        told: what other systems have to say, for the notes.
        progress: is told how far it is.
    """
    metric, moments, given = evaluator.metric, fit.moments, rows.given
    results = _merge_families(measured, metric)
    notes = [EQUAL_LENGTHS_NOTE] if fit.equal_lengths else []
    notes += few_folds(task.units, task.unit, options.folds)
    if given is not None:
        notes.append(NAMED_BEFORE)
        notes += _notes_on_learned(given, unit_keys)
    if moments.count <= len(moments.mean) and given is None:
        notes.append(NARROW.format(count=moments.count, dimensions=len(moments.mean)))
    notes += told
    if task.made is not None:
        notes.append(f"the judgments were made by a program, not by people: {task.made}")
    notes += notes_on_long_tails(metric, results)
    say(progress, "intervals and tests")
    tested, bound = judge_rows(
        metric,
        evaluator.evaluation,
        results,
        folds=evaluator.folds,
        asked={"dot", *(name for name in (options.declared, options.deployed) if name is not None)},
        seed=options.seed,
        permutations=options.permutations,
        progress=in_phase(progress, "intervals and tests"),
    )
    say(progress, "testing the choice")
    best_first = np.argsort([-row.value for row in tested], kind="stable")  # what has no value comes last
    table = Comparison(
        metric=metric.name,
        task=task.summary(),
        rows=label_apart([tested[number] for number in best_first]),
        baseline=tested[0].name,
        folds=min(options.folds, task.units),
        seed=options.seed,
        notes=notes,
        procedure=judge_choice(
            evaluator.evaluation,
            options_of(measured),
            folds=options.folds,
            seed=options.seed,
            permutations=options.permutations,
            progress=in_phase(progress, "testing the choice"),
        ),
        worth=options.worth if options.worth is not None else usual_worth(tested[0].value),
        most_to_gain=bound,
        declared=options.declared,
        deployed=options.deployed,
    )
    return JudgedTable(table, results)


def with_breakdown(table: Comparison, grouping: Grouping, *, named: bool) -> Comparison:
    """The table with its rows in each group: of scorers those that were asked for, and of what is no scorer all.

    Args:
        table: complete, with its lists and stored rows.
        grouping: the group of each query.
        named: whether the scorers were named, so that all of them were asked for.
    """
    scorers = [row for row in table.rows if named or row.planned or row is table.chosen]
    rows: list[TableRow] = [*scorers, *table.lists, *table.stored]
    return replace(table, breakdown=break_down(rows, table[table.baseline], grouping, table.seed))


def _notes_on_learned(rows: Sequence[Candidate], unit_keys: Callable[[], Index]) -> list[str]:
    """Warn of adapters that have seen some of these queries or pairs."""
    notes = []
    for row in rows:
        for transform in row.options[0].transforms:
            if transform.record is None or not len(transform.record.learned):
                continue
            keys = unit_keys()
            count = int(np.isin(keys, transform.record.learned).sum())
            if count:
                seen = f"{count:,} of these {len(keys):,}"
                notes.append(f"{row.name} was trained or stopped by {seen}: on them its value is no evidence")
    return notes


def _merge_families(results: Sequence[MeasuredCandidate], metric: QualityMetric) -> list[MeasuredCandidate]:
    """Drop a family that chose one and the same fixed scorer always, and name it in that scorer's row."""
    fixed = {
        ranking_key(candidate, 0, metric.agreement): number
        for number, (candidate, *_) in enumerate(results)
        if len(candidate.options) == 1 and candidate.options[0].is_plain
    }
    kept = dict(enumerate(results))
    for number, (candidate, tuned, *_) in enumerate(results):
        chosen = {*tuned.by_fold, tuned.overall}
        if len(candidate.options) == 1 or len(chosen) > 1 or not candidate.options[0].is_plain:
            continue
        home = fixed.get(ranking_key(candidate, tuned.by_fold[0], metric.agreement))
        if home is not None:
            first = kept[home].candidate
            kept[home] = kept[home]._replace(candidate=replace(first, same=(*first.same, candidate.name)))
            del kept[number]
    return list(kept.values())
