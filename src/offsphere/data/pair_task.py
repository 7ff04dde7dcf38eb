"""Pair tasks: a left and a right item, and a gold score of how similar people find them. STS is such."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.data.family import PAIRS
from offsphere.data.grouping import Grouping
from offsphere.data.items import Item, as_items, pick
from offsphere.data.pair_evaluator import PairEvaluator
from offsphere.data.task import (
    NO_PAIRS,
    TaskSide,
    TaskVectors,
    check_kind,
    check_row_counts,
    items_of,
    words_per_item,
)
from offsphere.data.task_digest import digest_of_task
from offsphere.data.task_vectors import PairVectors
from offsphere.data.vector_files import of_split
from offsphere.statistics.metrics import QualityMetric

FEWEST = 3  # pairs a correlation needs
SIMILAR_FROM = 0.8  # of the way from the lowest gold score to the highest; 4 of 5 on the usual scale


@dataclass(frozen=True, slots=True, eq=False)
class PairTask:
    """Pairs of texts or images, or of vectors alone, and how similar people say they are.

    Attributes:
        name: What the task is called in tables.
        gold: How similar each pair is, on any scale; higher is more similar.
        left_texts: The items to encode, where there are any.
        right_texts: The items to encode, where there are any.
        split: Which part of the data this is.

    Raises:
        DataError: There are fewer than three pairs, all gold scores are equal, one is not finite, or a text is none.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> task = osp.PairTask("animals", np.array([5.0, 2.0, 0.0]), ["cat"] * 3, ["kitten", "dog", "tax"])
        >>> task.units, task.usual_metric
        (3, 'spearman')
        >>> task.unit_items()[0]
        ('cat', 'kitten')
    """

    name: str
    gold: Array
    left_texts: Sequence[Item] | None = None
    right_texts: Sequence[Item] | None = None
    split: str | None = None

    def __repr__(self) -> str:
        """The name and the count, not the texts."""
        split = f", {self.split}" if self.split else ""
        return f"PairTask({self.name}{split}: {len(self.gold)} pairs)"

    def __post_init__(self) -> None:
        """Refuse what cannot be correlated with: it takes at least three pairs whose gold scores differ."""
        for side in ("left", "right"):
            items = as_items(getattr(self, f"{side}_texts"), f"{side} text")
            object.__setattr__(self, f"{side}_texts", items)
            if items is not None and len(items) != len(self.gold):
                raise DataError(
                    f"{self.name}: {len(items)} {side} texts for {len(self.gold)} gold scores: give one each"
                )
        if not np.isfinite(self.gold).all():
            row = int(np.flatnonzero(~np.isfinite(self.gold))[0])
            raise DataError(f"{self.name}: the gold score of pair {row} is not finite")
        if len(self.gold) < FEWEST:
            raise DataError(f"{self.name}: {len(self.gold)} pairs are too few: a correlation needs at least {FEWEST}")
        if np.ptp(self.gold) == 0:
            raise DataError(f"{self.name}: all gold scores are {self.gold[0]:g}: nothing can agree with them")

    @property
    def made(self) -> str | None:
        """Nothing: gold scores are people's."""
        return None

    @property
    def units(self) -> int:
        """How many pairs there are."""
        return len(self.gold)

    @property
    def unit(self) -> str:
        """What a metric is computed over: pairs."""
        return "pairs"

    @property
    def symmetric(self) -> bool:
        """Left and right play one role, so that they could be exchanged."""
        return True

    @property
    def usual_metric(self) -> str:
        """The metric that is used when nobody names one."""
        return "spearman"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error message."""
        return "spearman, pearson or kendall"

    @property
    def groups(self) -> Sequence[Grouping]:
        """None: the data names no groups."""
        return ()

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is a correlation."""
        return metric.kind == "pairs"

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """The left side, then the right; pairs have no ids."""
        return (
            TaskSide("left", "left", of_split("left", self.split), None, self.left_texts),
            TaskSide("right", "right", of_split("right", self.split), None, self.right_texts),
        )

    def positives(self) -> tuple[Index, Index]:
        """Rows of the pairs that people call similar: those in the upper fifth of the scale of gold scores."""
        rows = np.flatnonzero(self.gold >= self.gold.min() + SIMILAR_FROM * np.ptp(self.gold))
        return rows, rows

    def judged_negatives(self) -> tuple[Index, Index]:
        """Nothing: a low gold score is no judgment that two texts do not belong together."""
        return NO_PAIRS

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Nothing: every pair counts."""
        return NO_PAIRS

    def relevant_to_any(self) -> Flags | None:
        """Nothing: each right side belongs to its pair."""
        return None

    def digest(self) -> str:
        """A digest of everything the task is, by which its results are known again."""
        return digest_of_task(self)

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output."""
        return {
            "name": self.name,
            "kind": "pairs",
            "family": PAIRS.name,
            "symmetric": self.symmetric,
            "split": self.split,
            "pairs": len(self.gold),
        }

    def info(self) -> dict[str, Any]:
        """The summary, the range of the gold scores, and how long the texts are."""
        gold: dict[str, Any] = {"exchange": PAIRS.exchange}
        gold |= {"lowest_gold": float(self.gold.min()), "highest_gold": float(self.gold.max())}
        left, right = self.sides
        return self.summary() | gold | words_per_item(left) | words_per_item(right)

    def warnings(self) -> list[str]:
        """Nothing: no pair is left out."""
        return []

    def only(self, rows: Index, split: str | None = None) -> PairTask:
        """The same task with some of its pairs.

        Args:
            rows: Numbers of pairs; the part has them in this order.
            split: What the part is called; without a name it keeps the task's.

        Returns:
            The part.

        Raises:
            DataError: Fewer than three pairs are left, or their gold scores are all equal.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> osp.PairTask("pairs", np.arange(6.0)).only(np.array([5, 0, 2])).gold.tolist()
            [5.0, 0.0, 2.0]
        """
        return replace(
            self,
            gold=self.gold[rows],
            left_texts=pick(self.left_texts, rows),
            right_texts=pick(self.right_texts, rows),
            split=split or self.split,
        )

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Pairs to learn from and pairs to keep, at least three; pairs cannot be kept apart ``by_document``."""
        if by_document:
            raise ParameterError(f"{self.name} has pairs, no documents that could be new: leave out new_documents")
        order = np.random.default_rng(seed).permutation(len(self.gold))
        kept = max(FEWEST, int(share * len(self.gold)))
        return np.sort(order[kept:]), np.sort(order[:kept])

    def with_fewer_documents(self, most: int, seed: int) -> PairTask:  # noqa: ARG002
        """The task itself: a pair is compared with nothing else."""
        return self

    def unit_items(self) -> list[Hashable]:
        """Each pair by its two texts."""
        return list(zip(*items_of(self), strict=True))

    def items_to_view(self, rows: Index) -> list[Item]:
        """The left texts, then the right ones, of some pairs."""
        return [side[row] for side in items_of(self) for row in rows.tolist()]

    def vectors(
        self, first: Vectors, second: Vectors, tokens: tuple[Counts | None, Counts | None] = (None, None)
    ) -> PairVectors:
        """The vectors of this task from arrays in its order, checked.

        Args:
            first: A row for the left side of each pair.
            second: A row for the right side of each pair.
            tokens: How many tokens the model saw of each left and of each right item, where that is known.

        Returns:
            The vectors, for ``osp.compare``, ``osp.measure`` and the like.

        Raises:
            VectorError: There are more or fewer rows than pairs, the widths differ, or a number is not finite.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.PairTask("pairs", np.arange(3.0))
            >>> task.vectors(np.ones((3, 4), np.float32), np.zeros((3, 4), np.float32)).empty
            ["right 'row 0'", "right 'row 1'", "right 'row 2'"]
        """
        return replace(PairVectors.of(self, first, second), left_tokens=tokens[0], right_tokens=tokens[1])

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of another kind of task, and of more or fewer pairs."""
        self._checked(vectors)

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: QualityMetric,
        folds: Index,
        progress: Progress | None = None,  # noqa: ARG002  # it takes no time
        memo: Memo | None = None,
    ) -> PairEvaluator:
        """What measures scorers on this task: the correlation of the scores of all pairs with the gold scores."""
        return PairEvaluator(self.gold, self._checked(vectors), metric, folds, memo or Memo())

    def _checked(self, vectors: TaskVectors) -> PairVectors:
        task_vectors = check_kind(self, vectors, PairVectors)
        check_row_counts(self, [("pairs", len(self.gold), len(task_vectors.left))])
        return task_vectors
