"""A task whose questions a reader answered from what scorers found: exact match and F1 as metrics of rankings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.data.answer_text import answer_f1, exact_match
from offsphere.data.answered_task import AnsweredTask
from offsphere.data.items import pick
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask
from offsphere.statistics.metrics import QualityMetric

SCORES: Mapping[str, Callable[[str, Sequence[str]], float]] = {"exact-match": exact_match, "answer-f1": answer_f1}
QueryPassages = tuple[str, tuple[int, ...]]  # a query's id, and the rows of the passages that were found for it


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class ReaderScores(Judgments):
    """Judgments whose gains tell what a reader's answer from the first passages is worth."""

    ids: Sequence[str] = ()
    answers: Sequence[Sequence[str]] = ()
    told: Mapping[QueryPassages, str] = field(default_factory=dict)
    score: Callable[[str, Sequence[str]], float] = exact_match

    @property
    def by_document(self) -> bool:
        """Not so: the reader answers from all passages together."""
        return False

    def gains(self, ranked: Index) -> Array:
        """The worth of the answer from all ranked passages together, at the last of them: (queries, depth)."""
        result = np.zeros(ranked.shape)
        for row, (name, documents) in enumerate(zip(self.ids, ranked.tolist(), strict=True)):
            result[row, -1] = self.score(self.told[name, tuple(documents)], self.answers[row])
        return result

    def only(self, rows: Index) -> ReaderScores:
        """The answers to some questions."""
        part = Judgments.only(self, rows)
        counts = part.query_count, part.document_count
        ids, answers = pick(self.ids, rows), pick(self.answers, rows)
        return ReaderScores(
            part.queries,
            part.documents,
            part.grades,
            *counts,
            ids=ids,
            answers=answers,
            told=self.told,
            score=self.score,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReadTask(AnsweredTask):
    """An answered task, and what a reader said to each question from each set of passages."""

    told: Mapping[QueryPassages, str] = field(default_factory=dict)

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one of rankings, of answers in them, or of what a reader made of them."""
        return metric.label in SCORES or AnsweredTask.fits(self, metric)

    def judged_by(self, metric: QualityMetric) -> Judgments:
        """What the reader's answers are worth where the metric asks for that."""
        if metric.label not in SCORES:
            return AnsweredTask.judged_by(self, metric)
        plain = self.judgments
        counts = plain.query_count, plain.document_count
        score = SCORES[metric.label]
        return ReaderScores(
            plain.queries,
            plain.documents,
            plain.grades,
            *counts,
            ids=self.query_ids,
            answers=self.answers,
            told=self.told,
            score=score,
        )


def read_task(task: AnsweredTask, told: Mapping[QueryPassages, str]) -> ReadTask:
    """The task with what a reader said."""
    fields = {name: getattr(task, name) for name in RankingTask.__dataclass_fields__}
    return ReadTask(**fields, answers=task.answers, told=told)
