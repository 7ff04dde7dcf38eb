"""What every task can be asked, whatever its kind: its units and sides, its positives, its parts, its evaluator.

A *unit* is what a metric is computed over and what is resampled: a query of a ranking task, a pair of a pair task. The
first side asks (queries, or left), the second is asked for (documents, or right). A new kind of task is a class with
this face, the vectors that go with it, and an evaluator; nothing else in the package asks which kind it has.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, VectorError
from offsphere.base.progress import Progress
from offsphere.data.evaluator import Evaluator
from offsphere.data.items import Item, ItemSide
from offsphere.statistics.metrics import Metric


class TaskSide(NamedTuple):
    """One side of a task: what it is called, and what is known of its rows."""

    name: ItemSide
    plural: str  # queries, documents, left, right: what its vectors are called
    stored_as: str  # the same, with the split where its vectors are kept apart from those of other splits
    ids: Sequence[str] | None = None
    items: Sequence[Item] | None = None
    listed: Sequence[str] | None = None  # all ids that the data lists, judged or not, in its order


@runtime_checkable
class TaskVectors(Protocol):
    """The vectors of both sides of a task, in the task's order."""

    @property
    def empty(self) -> Sequence[str]:
        """The names of the vectors of length zero."""
        ...

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """Both sides where no task says more of them."""
        ...

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The side that asks, and the side that is asked for."""
        ...

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each item of both sides, where that is known."""
        ...

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """What transforms are fitted on: the documents, or both sides of pairs."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        ...

    def unit_keys(self) -> Index:
        """A number for each unit, which depends on its vectors alone."""
        ...

    def only(self, rows: Index) -> Self:
        """The vectors of some units."""
        ...


class Task(Protocol):
    """A task of any kind."""

    @property
    def name(self) -> str:
        """What it is called in tables."""
        ...

    @property
    def split(self) -> str | None:
        """Which part of the data it is: test, train, ..."""
        ...

    @property
    def made(self) -> str | None:
        """How the judgments were made, where no human judged."""
        ...

    @property
    def units(self) -> int:
        """How many queries or pairs there are."""
        ...

    @property
    def unit(self) -> str:
        """What they are called: queries, or pairs."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether the two sides play one role, so that they could be exchanged."""
        ...

    @property
    def usual_metric(self) -> str:
        """The metric when nobody names one."""
        ...

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit this kind of task, for an error."""
        ...

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """The side that asks, and the side that is asked for."""
        ...

    def fits(self, metric: Metric) -> bool:
        """Whether a metric is one for this kind of task."""
        ...

    def positives(self) -> tuple[Index, Index]:
        """Rows of both sides of every positive pair."""
        ...

    def judged_negatives(self) -> tuple[Index, Index]:
        """Rows of both sides of every pair that people judged not to belong together."""
        ...

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Rows of both sides of what is neither a positive nor a negative."""
        ...

    def wanted(self) -> Flags | None:
        """Which rows of the second side are relevant to some unit; nothing where a unit is a pair."""
        ...

    def judged(self) -> list[bytes]:
        """The judgments as bytes, for a digest."""
        ...

    def described(self) -> dict[str, Any]:
        """Names and counts."""
        ...

    def info(self) -> dict[str, Any]:
        """Names, counts, and what the judgments are like."""
        ...

    def warnings(self) -> list[str]:
        """What of the data was left out."""
        ...

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its units."""
        ...

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Units to learn from and units to keep; ``by_document`` keeps relevant documents apart too."""
        ...

    def with_fewer_documents(self, most: int, seed: int) -> Self:
        """The same units among fewer documents: all that are judged, and others at random."""
        ...

    def unit_items(self) -> list[Hashable]:
        """Each unit by its items: a query's text, or both texts of a pair."""
        ...

    def items_to_view(self, rows: Index) -> list[Item]:
        """Items that can be learned from without judgments: all documents, or both sides of some pairs."""
        ...

    def vectors(
        self,
        first: Vectors,
        second: Vectors,
        tokens: tuple[Counts | None, Counts | None] = (None, None),
    ) -> TaskVectors:
        """Vectors of this task from arrays in its order, checked."""
        ...

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of another task, or of more or fewer units than this one has."""
        ...

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: Metric,
        folds: Index,
        progress: Progress | None = None,
        memo: Memo | None = None,
    ) -> Evaluator:
        """What measures scorers on this task under a metric."""
        ...


EmbeddedTask = tuple[Task, TaskVectors]


def items_of(task: Task, why: str = "") -> tuple[Sequence[Item], Sequence[Item]]:
    """The items of both sides; an error, with ``why`` they are needed, where a task has ids or vectors alone."""
    first, second = (side.items for side in task.sides)
    if first is None or second is None:
        raise DataError(f"{task.name} has no texts, only vectors or ids{why}")
    return first, second


def check_counts(task: Task, sides: Sequence[tuple[str, int, int]]) -> None:
    """Refuse vectors of which a side (name, wanted, there) has more or fewer than the task."""
    for name, wanted, there in sides:
        if wanted != there:
            raise VectorError(
                f"there are vectors of {there} {name}, {task.name} has {wanted}: a part of a task needs the vectors of "
                "that part, in its order"
            )


def words_per_item(side: TaskSide) -> dict[str, str | float]:
    """How long the items of a side are, for the description of a task."""
    if side.items is None:
        return {f"{side.name}_texts": "none"}
    words = np.array([len(text.split()) for text in side.items])
    return {f"{side.name}_words_mean": float(words.mean()), f"{side.name}_texts_empty": int((words == 0).sum())}
