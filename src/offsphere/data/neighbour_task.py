"""Classification by nearest neighbours: labelled items are documents, and those found first vote for their class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.data.family import CLASSIFICATION
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Votes(Judgments):
    """Judgments whose gains tell, for each number of voters, whether they vote for the right class.

    Of classes with as many votes the one whose first voter stands before the other's wins.
    """

    query_classes: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    document_classes: Index = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def by_document(self) -> bool:
        """Not so: voters before a document decide, too."""
        return False

    def gains(self, ranked: Index) -> Array:
        """Whether the first, the first two, the first three ... vote rightly: (queries, depth)."""
        classes = np.where(ranked >= 0, self.document_classes[ranked], -1)
        result = np.zeros(ranked.shape)
        votes = np.zeros(ranked.shape)  # of the class at each rank, among all ranks so far
        for depth in range(ranked.shape[1]):
            same = (classes[:, : depth + 1] == classes[:, depth, None]) & (classes[:, : depth + 1] >= 0)
            votes[:, : depth + 1] += same
            votes[:, depth] = same.sum(axis=1)
            winner = votes[:, : depth + 1].argmax(axis=1)  # the first of those with most votes
            result[:, depth] = classes[np.arange(len(classes)), winner] == self.query_classes
        return result

    def only(self, rows: Index) -> Votes:
        """The votes on some queries."""
        part = Judgments.only(self, rows)
        return Votes(
            part.queries,
            part.documents,
            part.grades,
            part.query_count,
            part.document_count,
            self.query_classes[rows],
            self.document_classes,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NeighbourTask(RankingTask):
    """A ranking task whose documents have classes, one of which each query belongs to.

    Attributes:
        query_classes: The number of the class of each query.
        document_classes: The number of the class of each document.
        voters: How many neighbours vote, unless the metric says.
    """

    query_classes: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    document_classes: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    voters: int = 10

    @property
    def usual_metric(self) -> str:
        """How often the neighbours vote for the right class."""
        return f"knn@{self.voters}"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error message."""
        return "knn@10, success@1, map@100, ..."

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one of rankings, or of votes."""
        return metric.label == "knn" or RankingTask.fits(self, metric)

    def judged_by(self, metric: QualityMetric) -> Judgments:
        """The votes of neighbours where the metric asks for these, else which documents have the same class."""
        if metric.label != "knn":
            return self.judgments
        plain = self.judgments
        counts = plain.query_count, plain.document_count
        return Votes(plain.queries, plain.documents, plain.grades, *counts, self.query_classes, self.document_classes)

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its queries."""
        return replace(RankingTask.only(self, rows, split), query_classes=self.query_classes[rows])

    def among_documents(self, rows: Index) -> Self:
        """The same queries among some of the documents."""
        return replace(RankingTask.among_documents(self, rows), document_classes=self.document_classes[rows])


def neighbour_task(
    name: str,
    queries: tuple[ItemList, Sequence[str]],
    documents: tuple[ItemList, Sequence[str]],
    voters: int = 10,
    split: str | None = None,
) -> NeighbourTask:
    """Make the task of labelled items: each query's class is voted for by the documents nearest to it.

    Args:
        name: What the task is called in tables.
        queries: The items to sort, and the label of each; those of a class that no document has are left out.
        documents: The items that vote, and the label of each; where it is the same list, nobody votes for itself.
        voters: How many vote, unless a metric says.
        split: Which part of the data the queries are.

    Returns:
        The task.

    Example:
        >>> from offsphere.data.items import ItemList
        >>> from offsphere.data.neighbour_task import neighbour_task
        >>> pool = ItemList(["p0", "p1", "p2"]), ["cat", "cat", "dog"]
        >>> neighbour_task("pets", (ItemList(["q"]), ["cat"]), pool, voters=1).usual_metric
        'knn@1'
    """
    classes = {label: number for number, label in enumerate(sorted({*documents[1]}))}
    document_classes = np.array([classes[label] for label in documents[1]], np.int64)
    query_classes = np.array([classes.get(label, -1) for label in queries[1]], np.int64)
    members = [np.flatnonzero(document_classes == number) for number in range(len(classes))]
    same = queries[0] is documents[0]
    kept = np.array(
        [row for row, number in enumerate(query_classes.tolist()) if number >= 0 and len(members[number]) > same],
        np.int64,
    )
    rows = [members[number] for number in query_classes[kept].tolist()]
    asking = np.repeat(np.arange(len(kept)), [len(each) for each in rows])
    relevant = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    counts = len(kept), len(documents[0].ids)
    itself = Judgments.of(np.arange(len(kept)), kept, np.ones(len(kept)), *counts) if same else None
    others = relevant != kept[asking] if same else np.ones(len(relevant), np.bool_)
    ids, items = queries[0].ids, queries[0].items
    return NeighbourTask(
        name=name,
        query_ids=[ids[row] for row in kept.tolist()],
        document_ids=documents[0].ids,
        judgments=Judgments.of(asking[others], relevant[others], np.ones(int(others.sum())), *counts),
        query_texts=[items[row] for row in kept.tolist()] if items is not None else None,
        document_texts=documents[0].items,
        split=split,
        listed_query_ids=ids,
        left_out=len(ids) - len(kept),
        excluded=itself,
        family=CLASSIFICATION,
        query_classes=query_classes[kept],
        document_classes=document_classes,
        voters=voters,
    )
