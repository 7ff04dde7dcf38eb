"""Questions with short answers, and the passages that support them: the ranking behind retrieval-augmented generation.

Besides judgments of passages there are answers. ``answer-recall@5`` asks whether one of the first five passages holds
an answer, ``full-recall@5`` whether all supporting passages (all hops) are among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.data.answer_text import holds_answer, normalize_answer
from offsphere.data.items import pick, texts_alone
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import items_of
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class AnswerJudgments(Judgments):
    """Judgments whose gains tell whether a passage holds an answer; only passages that are ranked are looked at."""

    answers: Sequence[Sequence[str]] = ()  # of each query, normalised
    texts: Sequence[str] = ()  # of all documents, as they are
    normalized: dict[int, str] = field(default_factory=dict)  # of those that were looked at

    @property
    def by_document(self) -> bool:
        """False: a passage counts by its text, not by a grade of the document."""
        return False

    def gains(self, ranked: Index) -> Array:
        """One for each ranked passage that holds an answer to its question: (queries, depth)."""
        result = np.zeros(ranked.shape)
        for row, (documents, answers) in enumerate(zip(ranked.tolist(), self.answers, strict=True)):
            for column, document in enumerate(documents):
                result[row, column] = document >= 0 and holds_answer(self._text(document), answers)
        return result

    def only(self, rows: Index) -> AnswerJudgments:
        """The answers to some questions."""
        part = Judgments.only(self, rows)
        counts = part.query_count, part.document_count
        answers = pick(self.answers, rows)
        return AnswerJudgments(
            part.queries,
            part.documents,
            part.grades,
            *counts,
            answers=answers,
            texts=self.texts,
            normalized=self.normalized,
        )

    def _text(self, document: int) -> str:
        if document not in self.normalized:
            self.normalized[document] = normalize_answer(self.texts[document])
        return self.normalized[document]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnsweredTask(RankingTask):
    """A ranking task whose queries have short answers.

    Attributes:
        answers: What is a right answer to each query; several may be.
    """

    answers: Sequence[Sequence[str]] = ()

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error message."""
        return "ndcg@10, recall@5, full-recall@5 (all hops), answer-recall@5, ..."

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one of rankings, or of answers in them."""
        return metric.label == "answer-recall" or RankingTask.fits(self, metric)

    def judged_by(self, metric: QualityMetric) -> Judgments:
        """Which passages hold an answer where the metric asks for that, else which were judged relevant."""
        if metric.label != "answer-recall":
            return self.judgments
        plain = self.judgments
        answers = [[text for text in map(normalize_answer, right) if text] for right in self.answers]
        _, texts = items_of(self, ": answers are looked for in texts")
        counts = plain.query_count, plain.document_count
        held_in = texts_alone(texts, self.name)
        return AnswerJudgments(plain.queries, plain.documents, plain.grades, *counts, answers=answers, texts=held_in)

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its queries."""
        return replace(RankingTask.only(self, rows, split), answers=pick(self.answers, rows))
