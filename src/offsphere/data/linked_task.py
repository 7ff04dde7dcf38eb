"""Tasks of links, some of which are known: who asks is known by its links, and what it has it does not get again.

Users have items, nodes have neighbours. The known links are what vectors can be made from: by factorising them, by
propagating features along them, or, where items have vectors, by taking a user for the mean of what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.data.family import Family
from offsphere.data.items import Item, pick
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_task import RankingTask

NOTHING = Judgments.of(*(np.zeros(0, np.int64),) * 2, np.zeros(0), 0, 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class LinkedTask(RankingTask):
    """A ranking task whose queries are users or nodes, with the links that are known of everybody.

    Attributes:
        known: The links to learn from, with their weights: of all sources (users or nodes), asked or not.
        asked: The source that each query is.
        nodes: Whether the sources are the documents themselves, as in a graph.
        notes: What a reader of the data must know of it, a sentence each.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.family import RECOMMENDATION
        >>> from offsphere.data.judgments import Judgments
        >>> from offsphere.data.linked_task import LinkedTask
        >>> links = Judgments.of(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), 2, 3)
        >>> wanted = Judgments.of(np.array([0]), np.array([2]), np.ones(1), 2, 3)
        >>> task = LinkedTask.of_links("shop", ["ann", "bob"], ["a", "b", "c"], links, wanted, RECOMMENDATION)
        >>> task.query_ids, task.excluded_pairs()[1].tolist()
        (['ann'], [0, 1])
        >>> task.mean_of_known(np.array([[2, 0], [0, 4], [9, 9]], np.float32)).tolist()
        [[1.0, 2.0]]
    """

    known: Judgments = field(default=NOTHING)
    asked: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    nodes: bool = False
    notes: Sequence[str] = ()

    @classmethod
    def of_links(
        cls,
        name: str,
        source_ids: Sequence[str],
        document_ids: Sequence[str],
        known: Judgments,
        wanted: Judgments,
        family: Family,
        *,
        seen: Judgments | None = None,
        nodes: bool = False,
        document_texts: Sequence[Item] | None = None,
        left_out: int = 0,
        notes: Sequence[str] = (),
    ) -> Self:
        """Make the task of links: who has something to want asks, and what it has, and itself, it does not get.

        Args:
            name: What the task is called in tables.
            source_ids: All users, or all nodes.
            document_ids: All items, or all nodes.
            known: The links that are left to learn from, over sources and documents.
            wanted: Those that were taken away, over the same.
            family: What the two sides are to each other.
            seen: What sources have, liked or not, and do not get again; what is known unless said.
            nodes: Whether sources and documents are the same things.
            document_texts: What is encoded, where there are texts.
            left_out: How many sources had too few links to take one away.
            notes: What a reader of the data must know of it.

        Returns:
            The task.
        """
        asked = np.flatnonzero(wanted.relevant > 0)
        has = (seen or known).only(asked)
        rows, documents = has.queries, has.documents
        if nodes:  # nobody links to itself
            rows, documents = np.concatenate([rows, np.arange(len(asked))]), np.concatenate([documents, asked])
        excluded = Judgments.of(rows, documents, np.ones(len(rows)), len(asked), len(document_ids))
        return cls(
            name=name,
            query_ids=pick(source_ids, asked),
            document_ids=document_ids,
            judgments=wanted.only(asked),
            query_texts=pick(document_texts, asked) if nodes else None,
            document_texts=document_texts,
            listed_query_ids=source_ids,
            left_out=left_out,
            excluded=excluded,
            family=family,
            known=known,
            asked=asked,
            nodes=nodes,
            notes=notes,
        )

    @property
    def queries_from_documents(self) -> Callable[[Vectors], Vectors]:
        """What makes the vectors of those who ask from those of the documents."""
        return self.as_documents if self.nodes else self.mean_of_known

    def mean_of_known(self, documents: Vectors) -> Vectors:
        """For each query the mean of the documents it has; zero for one that has none.

        The mean of vectors that point apart is shorter than they are: its length says how much they agree.
        """
        has = self.known.only(self.asked)
        ends = np.cumsum(np.bincount(has.queries, minlength=len(self.asked)))
        means = np.zeros((len(self.asked), documents.shape[1]), np.float32)
        for row, (start, end) in enumerate(zip(np.append(0, ends[:-1]).tolist(), ends.tolist(), strict=True)):
            if end > start:
                means[row] = documents[has.documents[start:end]].mean(axis=0, dtype=np.float64)
        return means

    def as_documents(self, documents: Vectors) -> Vectors:
        """For each query its vector as a document: a node is one thing, whoever asks."""
        return documents[self.asked]

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its queries; all known links stay known."""
        return replace(RankingTask.only(self, rows, split), asked=self.asked[rows])

    def among_documents(self, rows: Index) -> Self:
        """The same queries among some of the documents, and the links to these."""
        if self.nodes:  # a graph without some of its nodes is another graph
            return RankingTask.among_documents(self, rows)
        return replace(RankingTask.among_documents(self, rows), known=self.known.only_documents(rows))

    def info(self) -> dict[str, Any]:
        """The summary, how long the texts are, and how many links are known."""
        return RankingTask.info(self) | {"known_links": len(self.known.grades), "sources": self.known.query_count}

    def warnings(self) -> list[str]:
        """A sentence for each thing that was left out, or that one must know."""
        few = f"{self.left_out:,} users or nodes have too few links to hold one out: they are learned from alone"
        return [*([few] if self.left_out else []), *self.notes]
