"""What a threshold shows: how many documents a query gets, how many of them are relevant, and what comes unasked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.data.evaluator import JudgedEvaluator
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.significance import bootstrap, interval

RESAMPLES = 1_000


@dataclass(frozen=True, slots=True, eq=False)
class ScoredQueries:
    """The lists of one scorer with what is relevant in them: all that a threshold is chosen and judged by."""

    scores: Array  # (queries, depth), falling
    relevant: Flags  # (queries, depth)
    totals: Index  # relevant documents of each query, found or not

    @classmethod
    def of(cls, evaluator: JudgedEvaluator, scorer: Scorer, totals: Index, depth: int) -> ScoredQueries:
        """Search for all queries of a task."""
        top, grades = evaluator.judged_lists(scorer, depth)
        return cls(top.scores, grades > 0, totals)

    def only(self, rows: Index | Flags) -> ScoredQueries:
        """The lists of some queries."""
        return ScoredQueries(self.scores[rows], self.relevant[rows], self.totals[rows])

    @property
    def highest_wrong(self) -> Array:
        """For each query the highest score of a document that is not relevant: what it would get if nothing were."""
        return np.asarray(np.where(self.relevant, -np.inf, self.scores).max(axis=1))

    def counts(self, thresholds: Array) -> tuple[Index, Index]:
        """How many documents each query is shown at each threshold, and how many of them are relevant."""
        passed = [self.scores >= threshold for threshold in thresholds.tolist()]
        right = [(some & self.relevant).sum(axis=1) for some in passed]
        return np.stack([some.sum(axis=1) for some in passed], axis=1), np.stack(right, axis=1)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ThresholdOutcome:
    """What a threshold gives on queries that it was not chosen by, each number with its 95 % interval.

    Attributes:
        precision: of what a query is shown, how much is relevant, on average over queries that are shown something.
        recall: of what is relevant to a query, how much it is shown, on average over queries.
        false_alarms: the share of queries that are shown something although nothing is relevant: their relevant
            documents were taken out of the corpus.
        answered: the share of queries that are shown something.
        shown: documents a query is shown, on average.
        queries: how many there are.
    """

    precision: tuple[float, float, float]
    recall: tuple[float, float, float]
    false_alarms: tuple[float, float, float]
    answered: tuple[float, float, float]
    shown: tuple[float, float, float]
    queries: int


def threshold_outcome(scored: ScoredQueries, thresholds: Array, seed: int) -> ThresholdOutcome:
    """Judge thresholds, one for each query, by what is relevant.

    Args:
        scored: the lists.
        thresholds: of each query: one number for all, or that of its fold.
        seed: of the resamples behind the intervals.
    """
    passed = scored.scores >= thresholds[:, None]
    shown, right = passed.sum(axis=1), (passed & scored.relevant).sum(axis=1)
    some = shown > 0
    precision = np.where(some, right / np.maximum(shown, 1), 0.0)
    columns = np.stack(
        [precision, right / scored.totals, scored.highest_wrong >= thresholds, some, shown], axis=1
    ).astype(np.float64)

    def means(weights: Array) -> Array:
        values = weights @ columns / weights.sum(axis=1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            values[:, 0] /= values[:, 3]  # of those that are shown something
        return np.asarray(values)

    low, high = interval(bootstrap(means, len(columns), RESAMPLES, seed))
    numbers = zip(means(np.ones((1, len(columns))))[0].tolist(), low.tolist(), high.tolist(), strict=True)
    precision_, recall, alarms, answered, count = numbers
    return ThresholdOutcome(
        precision=precision_, recall=recall, false_alarms=alarms, answered=answered, shown=count, queries=len(columns)
    )
