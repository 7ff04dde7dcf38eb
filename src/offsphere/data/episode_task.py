"""Few-shot classification: in each episode some items are sorted into a few classes, each known by a few shots.

A class is the mean of its shots (a prototype, Snell et al. 2017, arXiv:1703.05175); the length of that mean says how
much the shots agree. An item goes to the class whose prototype scores highest. The unit is an episode, its value the
metric over the items that it sorts. What an item is, a text or an image, does not matter here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.data.episode_evaluator import EpisodeEvaluator
from offsphere.data.episode_vectors import EpisodeVectors
from offsphere.data.family import CLASSIFICATION
from offsphere.data.grouping import Grouping
from offsphere.data.items import Item, ItemList
from offsphere.data.task import NO_PAIRS, TaskSide, TaskVectors, check_kind, check_row_counts, items_of, words_per_item
from offsphere.data.task_digest import digest_of_task
from offsphere.data.vector_files import of_split
from offsphere.statistics.metrics import QualityMetric

TO_JUDGE_BY = "episodes are drawn to judge by, not to learn from: learn from labelled items with a ranking (?knn=10)"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class EpisodeTask:
    """Episodes of few-shot classification, drawn from labelled items.

    Attributes:
        name: What the task is called in tables.
        classes: The names of all classes.
        query_ids: The items that are sorted.
        query_classes: The class of each.
        shot_ids: The items that shots are drawn from.
        shot_classes: The class of each.
        asked: Rows of the items that an episode sorts, (episodes, items).
        shots: Rows of the shots of its classes, (episodes, ways, shots).
        query_items: What is encoded, where there are items.
        shot_items: What is encoded, where there are items.
        split: Which part of the data the sorted items are.
        made: How the judgments were made, where no human judged.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.episode_task import EpisodeTask
        >>> task = EpisodeTask(
        ...     name="two",
        ...     classes=["a", "b"],
        ...     query_ids=["q0", "q1"],
        ...     query_classes=np.array([0, 1]),
        ...     shot_ids=["s0", "s1"],
        ...     shot_classes=np.array([0, 1]),
        ...     asked=np.array([[0, 1]]),
        ...     shots=np.array([[[0], [1]]]),
        ... )
        >>> task, task.targets().tolist()
        (EpisodeTask(two: 1 episodes, 2-way 1-shot), [[0, 1]])
    """

    name: str
    classes: Sequence[str]
    query_ids: Sequence[str]
    query_classes: Index
    shot_ids: Sequence[str]
    shot_classes: Index
    asked: Index
    shots: Index
    query_items: Sequence[Item] | None = None
    shot_items: Sequence[Item] | None = None
    split: str | None = None
    made: str | None = None

    def __repr__(self) -> str:
        """The name and the counts, not the items."""
        return f"EpisodeTask({self.name}: {self.units} episodes, {self.ways}-way {self.shots.shape[2]}-shot)"

    @property
    def ways(self) -> int:
        """How many classes an episode has."""
        return int(self.shots.shape[1])

    @property
    def units(self) -> int:
        """How many episodes there are."""
        return len(self.asked)

    @property
    def unit(self) -> str:
        """What a metric is computed over: episodes."""
        return "episodes"

    @property
    def symmetric(self) -> bool:
        """An item and a class play different roles."""
        return CLASSIFICATION.one_role

    @property
    def usual_metric(self) -> str:
        """Accuracy: how often the class that scores highest is the right one."""
        return "success@1"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error message."""
        return "success@1 (accuracy), mrr@5"

    @property
    def groups(self) -> Sequence[Grouping]:
        """None: the data names no groups."""
        return ()

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one of rankings: an item ranks the classes of its episode."""
        return metric.kind == "ranking" and metric.general

    def targets(self) -> Index:
        """For each item that an episode sorts, the number of its class among the episode's: (episodes, items)."""
        of_episode = self.shot_classes[self.shots[:, :, 0]]  # (episodes, ways)
        return np.asarray((self.query_classes[self.asked][:, :, None] == of_episode[:, None, :]).argmax(axis=2))

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """The items that are sorted, and those that shots are drawn from."""
        return (
            TaskSide("query", "queries", of_split("queries", self.split), self.query_ids, self.query_items),
            TaskSide("document", "documents", "documents", self.shot_ids, self.shot_items),
        )

    def positives(self) -> tuple[Index, Index]:
        """Rows of every item with each possible shot of its class."""
        members = [np.flatnonzero(self.shot_classes == number) for number in range(len(self.classes))]
        rows = [members[number] for number in self.query_classes.tolist()]
        counts = np.array([len(each) for each in rows], np.int64)
        return np.repeat(np.arange(len(rows)), counts), np.concatenate(rows) if rows else NO_PAIRS[0]

    def judged_negatives(self) -> tuple[Index, Index]:
        """None: an item of another class is simply not of this one."""
        return NO_PAIRS

    def excluded_pairs(self) -> tuple[Index, Index]:
        """None: every shot counts."""
        return NO_PAIRS

    def relevant_to_any(self) -> Flags | None:
        """Nothing: every shot is of somebody's class."""
        return None

    def digest(self) -> str:
        """A digest of everything the task is, by which its results are known again."""
        return digest_of_task(self)

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output."""
        return {
            "name": self.name,
            "kind": "episodes",
            "family": CLASSIFICATION.name,
            "symmetric": self.symmetric,
            "split": self.split,
            "unit": self.unit,
            "episodes": self.units,
            "ways": self.ways,
            "shots": int(self.shots.shape[2]),
            "classes": len(self.classes),
            "queries": len(self.query_ids),
            "documents": len(self.shot_ids),
            "judgments": int(self.asked.size),
        }

    def info(self) -> dict[str, Any]:
        """The summary, what may be exchanged, and how long the items are."""
        query, document = self.sides
        known = {"exchange": CLASSIFICATION.exchange}
        return self.summary() | known | words_per_item(query) | words_per_item(document)

    def warnings(self) -> list[str]:
        """Nothing is left out."""
        return []

    def only(self, rows: Index, split: str | None = None) -> EpisodeTask:
        """The same items in some of the episodes."""
        return replace(self, asked=self.asked[rows], shots=self.shots[rows], split=split or self.split)

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:  # noqa: ARG002
        """Refused: one does not learn from episodes."""
        raise DataError(f"{self.name}: {TO_JUDGE_BY}")

    def with_fewer_documents(self, most: int, seed: int) -> EpisodeTask:  # noqa: ARG002
        """The task itself: an episode has few classes already."""
        return self

    def unit_items(self) -> list[Hashable]:
        """Each episode by the items it sorts."""
        queries, _ = items_of(self)
        return [tuple(queries[row] for row in rows) for rows in self.asked.tolist()]

    def items_to_view(self, rows: Index) -> list[Item]:  # noqa: ARG002
        """All items that shots are drawn from."""
        _, shots = items_of(self)
        return list(shots)

    def vectors(
        self, first: Vectors, second: Vectors, tokens: tuple[Counts | None, Counts | None] = (None, None)
    ) -> EpisodeVectors:
        """The vectors of this task from arrays in its order, checked."""
        return EpisodeVectors.of(self, first, second, self.asked, tokens)

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of another kind of task, and of more or fewer items."""
        self._checked(vectors)

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: QualityMetric,
        folds: Index,
        progress: Progress | None = None,
        memo: Memo | None = None,
    ) -> EpisodeEvaluator:
        """What measures scorers on this task: means of shots, scored with the items of their episode."""
        return EpisodeEvaluator(
            vectors=self._checked(vectors),
            shots=self.shots,
            targets=self.targets(),
            metric=metric,
            folds=folds,
            progress=progress,
            memo=memo or Memo(),
        )

    def _checked(self, vectors: TaskVectors) -> EpisodeVectors:
        checked = check_kind(self, vectors, EpisodeVectors)
        queries, shots = (
            (what, needed, len(rows))
            for what, needed, rows in zip(
                ("items", "shots"), (len(self.query_ids), len(self.shot_ids)), checked.sides, strict=True
            )
        )
        check_row_counts(self, [queries, shots, ("episodes", self.units, len(checked.asked))])
        return checked


def draw_episodes(
    name: str,
    queries: tuple[ItemList, Sequence[str]],
    shots: tuple[ItemList, Sequence[str]],
    *,
    ways: int | None = 5,
    count: int = 5,
    items: int = 15,
    episodes: int = 600,
    seed: int = 0,
    split: str | None = None,
) -> EpisodeTask:
    """Draw episodes from labelled items.

    Args:
        name: What the task is called in tables.
        queries: The items to sort, and the label of each.
        shots: The items to draw shots from, and the label of each; the same list where there is only one, and then no
            item of an episode is a shot of it.
        ways: How many classes an episode has; all without a number.
        count: How many shots a class has.
        items: How many items of each class an episode sorts.
        episodes: How many there are.
        seed: Of the draw.
        split: Which part of the data the sorted items are.

    Returns:
        The task.

    Raises:
        DataError: A class has too few items, or there are fewer classes than ways.

    Example:
        >>> from offsphere.data.episode_task import draw_episodes
        >>> from offsphere.data.items import ItemList
        >>> labels = ["cat", "dog"] * 10
        >>> pool = ItemList([f"p{row}" for row in range(20)], [f"a {label}" for label in labels]), labels
        >>> draw_episodes("pets", pool, pool, ways=2, count=1, items=3, episodes=4)
        EpisodeTask(pets: 4 episodes, 2-way 1-shot)
    """
    classes = sorted({*queries[1]} & {*shots[1]})
    ways = len(classes) if ways is None else ways
    if ways < 2 or len(classes) < ways:  # noqa: PLR2004
        raise DataError(f"{name} has {len(classes)} classes in both parts: too few for {ways}-way episodes, set ?ways=")
    same = queries[0] is shots[0]
    asked_from, shots_from = ([_members(labels, label) for label in classes] for labels in (queries[1], shots[1]))
    for label, one, other in zip(classes, asked_from, shots_from, strict=True):
        needed = count + items if same else count
        if len(other) < needed or len(one) < items:
            few, what = (len(other), needed) if len(other) < needed else (len(one), items)
            raise DataError(
                f"{name}: class {label!r} has {few} items, an episode needs {what} ({count} shots, {items} to sort): "
                "ask for fewer with ?shots=1&items=1, or leave the class out"
            )
    rng = np.random.default_rng(seed)
    asked, chosen = np.empty((episodes, ways, items), np.int64), np.empty((episodes, ways, count), np.int64)
    for episode in range(episodes):
        for way, number in enumerate(rng.permutation(len(classes))[:ways].tolist()):
            shuffled = rng.permutation(shots_from[number])
            chosen[episode, way] = shuffled[:count]
            rest = shuffled[count:] if same else rng.permutation(asked_from[number])
            asked[episode, way] = rest[:items]
    number_of = {label: number for number, label in enumerate(classes)}
    query_classes, shot_classes = (
        np.array([number_of.get(label, -1) for label in labels], np.int64) for labels in (queries[1], shots[1])
    )
    return EpisodeTask(
        name=name,
        classes=classes,
        query_ids=queries[0].ids,
        query_classes=query_classes,
        shot_ids=shots[0].ids,
        shot_classes=shot_classes,
        asked=asked.reshape(episodes, ways * items),
        shots=chosen,
        query_items=queries[0].items,
        shot_items=shots[0].items,
        split=split,
    )


def _members(labels: Sequence[str], label: str) -> Index:
    """Rows of a class."""
    return np.array([row for row, each in enumerate(labels) if each == label], np.int64)
