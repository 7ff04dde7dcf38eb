"""Merged states become a comparison: an evaluator that has the lists already, and the table that one run makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError
from offsphere.base.progress import Progress, say
from offsphere.comparison.judged_table import TableOptions, judged_table, with_breakdown
from offsphere.comparison.table import Comparison
from offsphere.comparison.tuning import list_candidates, tune_listed
from offsphere.data.grouping import grouping_named
from offsphere.data.ranking_evaluator import NamedDocuments
from offsphere.scoring.scorer import Scorer
from offsphere.shards.compare_question import CompareQuestion
from offsphere.shards.compare_state import CompareState, list_numbers, lists_by_map, turns_of
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries
from offsphere.statistics.metrics import QualityMetric
from offsphere.vectors.contents import keys_of


@dataclass(frozen=True, slots=True, eq=False)
class MergedEvaluator:
    """Measures scorers by the lists that all shards found; it has no documents, so that a bias is the bank's alone."""

    state: CompareState
    folds: Index
    memo: Memo = field(default_factory=Memo)

    @property
    def question(self) -> CompareQuestion:
        """The question that these lists answer."""
        return self.state.question

    @property
    def metric(self) -> QualityMetric:
        """The metric under which scorers are measured."""
        return self.question.metric

    @property
    def evaluation(self) -> Evaluation:
        """A mean over queries."""
        return MeanOverQueries(self.question.judgments.query_count)

    @property
    def bank(self) -> NamedDocuments:
        """The queries, from which a document that comes gets its bias; no documents."""
        width = len(self.question.fit.moments.mean)
        return NamedDocuments(self.question.queries, np.empty((0, width), np.float32), [])

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """Measure each scorer by its list.

        Raises:
            DataError: The lists are not those of these scorers.
        """
        labels, numbers = list_numbers(scorers, self.metric)
        digest = digest_of([self.question.digest().encode(), *(label.encode() for label in labels)])
        if digest != self.state.origin.question or len(self.state.documents) != len(labels):
            raise DataError(
                "the states were searched with transforms that are fitted otherwise here: merge them on the kind of "
                "processor on which they were searched"
            )
        distinct = list(dict(zip(numbers, scorers, strict=True)).values())
        measured: dict[int, Array] = {}
        for group in lists_by_map(distinct):
            measured |= self._measure_group(group)
        return [measured[number] for number in numbers]

    def _measure_group(self, group: Sequence[int]) -> dict[int, Array]:
        """Measure lists that were searched together."""
        judgments, metric = self.question.judgments, self.metric
        parts: list[list[Array]] = []
        for rows in turns_of(self.question, len(group)):
            mine = judgments.only(rows)
            ideal = mine.ideal()
            lists = (self.state.documents[number, rows] for number in group)
            parts.append([np.asarray(metric.function(mine.gains(list_), ideal, metric.depth)) for list_ in lists])
        joined = (np.concatenate(part) for part in zip(*parts, strict=True))
        return dict(zip(group, joined, strict=True))


def compared(state: CompareState, progress: Progress | None = None) -> Comparison:
    """Make the table of merged states: the very one that ``compare`` makes of all documents.

    Args:
        state: Of all shards.
        progress: Is told how far it is.

    Returns:
        The comparison. Its scorers with a bias know no document: each gets its bias from the query bank.

    Raises:
        DataError: A shard is missing, or the lists are not those of the question.
    """
    state.origin.check_whole()
    question, options = state.question, state.question.options
    evaluator = MergedEvaluator(state, assign_folds(question.facts.units, options.folds, options.seed))
    rows = question.rows()
    say(progress, "measuring")
    measured = tune_listed(evaluator, list_candidates(evaluator, rows.distinct, extra=rows.given is None))
    table, _ = judged_table(
        question.facts,
        TableOptions(options.folds, options.seed, options.permutations, options.declared, None, options.worth),
        question.fit,
        evaluator,
        rows,
        measured,
        lambda: keys_of(question.queries),
        progress=progress,
    )
    if options.by is None:
        return table
    grouping = grouping_named(question.facts.groups, options.by, question.facts.name)
    return with_breakdown(table, grouping, named=rows.given is not None)
