"""What scorers are worth on a pair task: the correlation of their values with the gold scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_vectors import PairVectors
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import Evaluation, OverPairs
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, eq=False)
class PairEvaluator:
    """Measures scorers by gold scores of pairs, under one correlation."""

    gold: Array
    vectors: PairVectors
    metric: QualityMetric
    folds: Index
    memo: Memo = field(default_factory=Memo)

    @property
    def evaluation(self) -> Evaluation:
        """A correlation over pairs."""
        function, each = cast("Any", self.metric.function), cast("Any", self.metric.contributions)
        return OverPairs(self.gold, function, each, by_rank=self.metric.label != "pearson")

    @property
    def bank(self) -> None:
        """Pairs have no queries that could tell which documents are near to everything."""
        return

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """Score the pairs under each scorer. A pair that has no value ranks last."""
        return [_finite_scores(scorer.score_pairs(self.vectors.left, self.vectors.right)) for scorer in scorers]

    def list_values(self, lists: Sequence[ScoredLists]) -> list[Array]:
        """Take the scores that some other system gave the pairs. A pair that has none ranks last."""
        for scored in lists:
            scored.check(len(self.gold), listed=False, what="what is compared")
        return [_finite_scores(scored.scores) for scored in lists]


def _finite_scores(scores: Array) -> Array:
    """Put what has no finite score below everything that has one."""
    finite = scores[np.isfinite(scores)]
    return np.where(np.isfinite(scores), scores, finite.min() - 1 if len(finite) else 0.0)
