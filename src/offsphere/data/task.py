"""The face of every task, whatever its kind: its units and sides, its positives, its parts, its evaluator.

A *unit* is what a metric is computed over and what is resampled: a query of a ranking task, a pair of a pair task. The
first side asks (queries, or left), the second is asked for (documents, or right). A new kind of task is a class with
this face, the vectors that go with it, and an evaluator: ``tests/data/test_task.py`` adds one in its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, VectorError
from offsphere.base.progress import Progress
from offsphere.base.short_repr import short_repr
from offsphere.data.evaluator import Evaluator
from offsphere.data.grouping import Grouping
from offsphere.data.items import Item, ItemSide, is_empty
from offsphere.statistics.metrics import QualityMetric

NO_PAIRS: tuple[Index, Index] = (np.zeros(0, np.int64), np.zeros(0, np.int64))


class TaskSide(NamedTuple):
    """One side of a task: what it is called, and what is known of its rows."""

    name: ItemSide
    plural: str  # queries, documents, left, right: the name of its vectors in a folder
    stored_as: str  # the name with the split, where its vectors are kept apart from those of other splits
    ids: Sequence[str] | None = None  # pairs have none
    items: Sequence[Item] | None = None  # what is encoded; nothing where there are vectors alone
    listed: Sequence[str] | None = None  # all ids that the data lists, judged or not, in its order
    made_from_other: Callable[[Vectors], Vectors] | None = None  # gives its vectors from the other side's, if any can

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


@runtime_checkable
class TaskVectors(Protocol):
    """The vectors of both sides of a task, in the task's order."""

    @property
    def empty(self) -> Sequence[str]:
        """The names of the vectors that have length zero."""
        ...

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """What the two sides are called, for whoever has vectors and no task."""
        ...

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of the side that asks, and of the side that is asked for."""
        ...

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each item of both sides, where that is known."""
        ...

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """The vectors that transforms are fitted on: the documents, or both sides of pairs."""
        ...

    @property
    def dimension(self) -> int:
        """How many numbers a vector has on the side that is asked for."""
        ...

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a vector has on the side that asks, and on the side that is asked for."""
        ...

    def unit_keys(self) -> Index:
        """A number for each unit that depends on its vectors alone, to know it again in other data."""
        ...

    def only(self, rows: Index) -> Self:
        """The vectors of some units, by their rows, and of all that they are compared with.

        Args:
            rows: The numbers of the units.

        Returns:
            Their vectors.
        """
        ...


class Task(Protocol):
    """A task of any kind: what the rest of the package asks of it."""

    @property
    def name(self) -> str:
        """What the task is called in tables."""
        ...

    @property
    def split(self) -> str | None:
        """Which part of the data this is: test, train, ..."""
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
        """What the units are called: queries, or pairs."""
        ...

    @property
    def symmetric(self) -> bool:
        """Whether the two sides play one role, so that they could be exchanged."""
        ...

    @property
    def usual_metric(self) -> str:
        """The metric that is used when nobody names one."""
        ...

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit this kind of task, for an error message."""
        ...

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """The side that asks, and the side that is asked for."""
        ...

    @property
    def groups(self) -> Sequence[Grouping]:
        """How the data groups the units, a label each; nothing where it does not."""
        ...

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one for this kind of task.

        Args:
            metric: As ``parse_metric`` reads it.

        Returns:
            Whether the values of this task can be its values.
        """
        ...

    def positives(self) -> tuple[Index, Index]:
        """Rows of both sides of every pair that belongs together, sorted by the first side."""
        ...

    def judged_negatives(self) -> tuple[Index, Index]:
        """Rows of both sides of every pair that people judged not to belong together."""
        ...

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Rows of both sides of every pair that counts neither as a positive nor as a negative."""
        ...

    def relevant_to_any(self) -> Flags | None:
        """Which rows of the second side are relevant to some unit; nothing where each belongs to one unit."""
        ...

    def digest(self) -> str:
        """A digest of everything the task is, ids and items included; ``digest_of_task`` gives it for a dataclass."""
        ...

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output: name, kind, split, and how many queries (or pairs)."""
        ...

    def info(self) -> dict[str, Any]:
        """The summary, and what the judgments and items are like."""
        ...

    def warnings(self) -> list[str]:
        """A sentence for each kind of data that was left out."""
        ...

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its units, in the order of ``rows``, under another split's name.

        Args:
            rows: The numbers of the units.
            split: What the part is called; as the whole is without.

        Returns:
            The part; whatever is asked for stays all there.
        """
        ...

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Rows of the units to learn from, and of a share of units to judge by.

        Args:
            share: Of the units, that is judged by.
            seed: Of the choice.
            by_document: Whether the documents that are relevant to both are kept apart too.

        Returns:
            The rows to learn from, and those to judge by.
        """
        ...

    def with_fewer_documents(self, most: int, seed: int) -> Self:
        """The same units among at most so many documents: all that are judged, and others at random.

        Args:
            most: How many documents there are, unless more are judged.
            seed: Of the choice of the others.

        Returns:
            The task among fewer documents; itself where nothing has to go.
        """
        ...

    def unit_items(self) -> list[Hashable]:
        """Each unit by its items, to know it again in other data: a query's text, or both texts of a pair."""
        ...

    def items_to_view(self, rows: Index) -> list[Item]:
        """Items that can be learned from without judgments: all documents, or both sides of the pairs ``rows``.

        Args:
            rows: The numbers of the units that may be learned from.

        Returns:
            The items.
        """
        ...

    def vectors(
        self,
        first: Vectors,
        second: Vectors,
        tokens: tuple[Counts | None, Counts | None] = (None, None),
    ) -> TaskVectors:
        """The vectors of this task from arrays in its order, checked.

        Args:
            first: The vectors of the side that asks.
            second: The vectors of the side that is asked for.
            tokens: How many tokens the model saw of each item of both sides, where that is known.

        Returns:
            The vectors, which know their sides.
        """
        ...

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of another kind of task, or of more or fewer rows than this one has.

        Args:
            vectors: To be used with this task.
        """
        ...

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: QualityMetric,
        folds: Index,
        progress: Progress | None = None,
        memo: Memo | None = None,
    ) -> Evaluator:
        """What measures scorers on this task under a metric.

        Args:
            vectors: Of this task.
            metric: That fits this kind of task.
            folds: The fold of each unit, for what is tuned.
            progress: Called now and then with how far it is.
            memo: What keeps measurements.

        Returns:
            It gives the measurement of each scorer, and sums measurements up.
        """
        ...


EmbeddedTask = tuple[Task, TaskVectors]
SomeVectors = TypeVar("SomeVectors")


def items_of(task: Task, why: str = "") -> tuple[Sequence[Item], Sequence[Item]]:
    """The items of both sides; an error that says ``why`` they are needed where a task has ids or vectors alone."""
    first, second = (side.items for side in task.sides)
    if first is None or second is None:
        raise DataError(f"{task.name} has no texts, only vectors or ids{why}")
    return first, second


def check_kind(task: Task, vectors: TaskVectors, kind: type[SomeVectors]) -> SomeVectors:
    """The vectors, known to be of the kind that a task needs; an error where they are of another."""
    if not isinstance(vectors, kind):
        raise VectorError(f"{task.name} is not a task for {type(vectors).__name__}")
    return vectors


def check_row_counts(task: Task, counts: Sequence[tuple[str, int, int]]) -> None:
    """Refuse vectors of more or fewer rows than the task has, given as (what, in the task, in the vectors)."""
    for what, needed, given in counts:
        if needed != given:
            raise VectorError(
                f"there are vectors of {given} {what}, {task.name} has {needed}: a part of a task needs the vectors of "
                "that part, in its order"
            )


def words_per_item(side: TaskSide) -> dict[str, str | float]:
    """How many words the texts of a side have, and how many images there are, for ``Task.info``."""
    if side.items is None:
        return {f"{side.name}_texts": "none"}
    texts = [item for item in side.items if isinstance(item, str)]
    images = len(side.items) - len(texts)
    numbers: dict[str, str | float] = {f"{side.name}_images": images} if images else {}
    if texts:
        numbers[f"{side.name}_words_mean"] = float(np.mean([len(text.split()) for text in texts]))
        numbers[f"{side.name}_texts_empty"] = sum(is_empty(text) for text in texts)
    return numbers
