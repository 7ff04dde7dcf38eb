"""A pair task: left, right, and a gold score for each pair."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, ParameterError, VectorError
from offsphere.base.progress import Progress
from offsphere.data.items import Item
from offsphere.data.pair_evaluator import PairEvaluator
from offsphere.data.task import TaskSide, TaskVectors, check_counts, items_of, words_per_item
from offsphere.data.task_vectors import PairVectors
from offsphere.data.vector_files import of_split
from offsphere.statistics.metrics import Metric

FEWEST = 3  # pairs a correlation needs
SIMILAR_FROM = 0.8  # of the way from the lowest gold score to the highest; 4 of 5 on the usual scale


@dataclass(frozen=True, slots=True, eq=False)
class PairTask:
    """Pairs of texts (or of vectors alone) and how similar people say they are."""

    name: str
    gold: Array
    left_texts: Sequence[Item] | None = None
    right_texts: Sequence[Item] | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        """Correlation needs at least three pairs whose gold scores differ."""
        if not np.isfinite(self.gold).all():
            row = int(np.flatnonzero(~np.isfinite(self.gold))[0])
            raise DataError(f"{self.name}: the gold score of pair {row} is not finite")
        if len(self.gold) < FEWEST:
            raise DataError(f"{self.name}: {len(self.gold)} pairs are too few: a correlation needs at least {FEWEST}")
        if np.ptp(self.gold) == 0:
            raise DataError(f"{self.name}: all gold scores are {self.gold[0]:g}: nothing can agree with them")

    @property
    def made(self) -> str | None:
        """Gold scores are people's."""
        return None

    @property
    def units(self) -> int:
        """How many pairs there are."""
        return len(self.gold)

    @property
    def unit(self) -> str:
        """A metric is computed over pairs."""
        return "pairs"

    @property
    def symmetric(self) -> bool:
        """Left and right could be exchanged."""
        return True

    @property
    def usual_metric(self) -> str:
        """The metric when nobody names one."""
        return "spearman"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error."""
        return "spearman, pearson or kendall"

    def fits(self, metric: Metric) -> bool:
        """Whether a metric is a correlation."""
        return metric.kind == "pairs"

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """Left, then right."""
        return (
            TaskSide("left", "left", of_split("left", self.split), None, self.left_texts),
            TaskSide("right", "right", of_split("right", self.split), None, self.right_texts),
        )

    def positives(self) -> tuple[Index, Index]:
        """The pairs that people call similar."""
        rows = np.flatnonzero(self.gold >= self.gold.min() + SIMILAR_FROM * np.ptp(self.gold))
        return rows, rows

    def judged_negatives(self) -> tuple[Index, Index]:
        """A low gold score is no judgment that two texts are apart."""
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Nothing is excluded."""
        return np.zeros(0, np.int64), np.zeros(0, np.int64)

    def wanted(self) -> Flags | None:
        """Pairs have no documents that nobody wants."""
        return None

    def judged(self) -> list[bytes]:
        """The gold scores as bytes, for a digest."""
        return [self.gold.tobytes()]

    def described(self) -> dict[str, Any]:
        """Names and counts."""
        return {"name": self.name, "kind": "pairs", "split": self.split, "pairs": len(self.gold)}

    def info(self) -> dict[str, Any]:
        """Names, counts, the range of the gold scores, and how long the texts are."""
        gold = {"lowest_gold": float(self.gold.min()), "highest_gold": float(self.gold.max())}
        left, right = self.sides
        return self.described() | gold | words_per_item(left) | words_per_item(right)

    def warnings(self) -> list[str]:
        """Nothing of the data is left out."""
        return []

    def only(self, rows: Index, split: str | None = None) -> PairTask:
        """The same task with some of its pairs, by number."""
        left, right = (
            [texts[row] for row in rows.tolist()] if texts is not None else None
            for texts in (self.left_texts, self.right_texts)
        )
        return replace(self, gold=self.gold[rows], left_texts=left, right_texts=right, split=split or self.split)

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Pairs to learn from and pairs to keep."""
        if by_document:
            raise ParameterError(f"{self.name} has pairs, no documents that could be new: leave out new_documents")
        order = np.random.default_rng(seed).permutation(len(self.gold))
        kept = max(FEWEST, int(share * len(self.gold)))
        return np.sort(order[kept:]), np.sort(order[:kept])

    def with_fewer_documents(self, most: int, seed: int) -> PairTask:  # noqa: ARG002
        """Every pair is its own document."""
        return self

    def unit_items(self) -> list[Hashable]:
        """Each pair by its two texts."""
        return list(zip(*items_of(self), strict=True))

    def items_to_view(self, rows: Index) -> list[Item]:
        """Both sides of some pairs."""
        return [side[row] for side in items_of(self) for row in rows.tolist()]

    def vectors(
        self, first: Vectors, second: Vectors, tokens: tuple[Counts | None, Counts | None] = (None, None)
    ) -> PairVectors:
        """Left and right vectors of this task, checked."""
        return replace(PairVectors.of(self, first, second), left_tokens=tokens[0], right_tokens=tokens[1])

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of queries and documents, and of more or fewer pairs."""
        check_counts(self, [("pairs", len(self.gold), len(self._own(vectors).left))])

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: Metric,
        folds: Index,
        progress: Progress | None = None,  # noqa: ARG002  # it takes no time
        memo: Memo | None = None,
    ) -> PairEvaluator:
        """The correlation of the values of all pairs with the gold scores."""
        self.check(vectors)
        return PairEvaluator(self.gold, self._own(vectors), metric, folds, memo or Memo())

    def _own(self, vectors: TaskVectors) -> PairVectors:
        if not isinstance(vectors, PairVectors):
            raise VectorError(f"{self.name} is not a task for {type(vectors).__name__}")
        return vectors
