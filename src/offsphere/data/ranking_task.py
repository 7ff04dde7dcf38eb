"""Ranking tasks: queries, documents, and graded judgments between them. Retrieval and recommendation are such."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.data.family import RETRIEVAL, Family
from offsphere.data.grouping import Grouping, groups_in_words
from offsphere.data.items import Item, ItemList, as_items, pick
from offsphere.data.judgments import Judgment, Judgments, judgments_in
from offsphere.data.numbering import number_judgments, row_numbers
from offsphere.data.ranking_evaluator import RankingEvaluator
from offsphere.data.splits import DEFAULT_SHARES, deal_out, linked_queries
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
from offsphere.data.task_vectors import RankingVectors
from offsphere.data.vector_files import of_split
from offsphere.statistics.metrics import QualityMetric


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingTask:
    """Queries, each with a relevant document, the documents they search, and the judgments between them.

    Make one with ``from_judgments`` from a dictionary, with ``build`` from lists, or with ``osp.load_task`` from files.

    Attributes:
        name: What the task is called in tables.
        query_ids: The ids of the queries, in the order of their vectors.
        document_ids: The ids of the documents, in the order of their vectors.
        judgments: The grades, by the row numbers of query and document.
        query_texts: The items to encode, where there are any.
        document_texts: The items to encode, where there are any.
        split: Which part of the data this is.
        listed_query_ids: All queries that the data lists, judged or not, in its order.
        left_out: How many judged queries have no relevant document.
        ignored: How many judgments are for unknown queries or documents.
        made: How the judgments were made, where no human judged.
        excluded: What a query must not get, with a grade above zero: what a user has already, or the query itself.
        notes: A sentence for everything that was left out or converted while the items were read.
        documents_apart: Whether each split has documents of its own, so that their vectors are kept apart.
        reversed: Whether what was searched asks now, so that vectors of the other direction are kept apart.
        family: What the two sides are to each other.
        groups: How the data groups its queries, a label each: hops, type, ...

    Example:
        >>> import offsphere as osp
        >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}, "q2": {"d1": 2, "d3": 0}}, ["d1", "d2", "d3"])
        >>> task
        RankingTask(task: 2 queries, 3 documents)
        >>> [rows.tolist() for rows in task.positives()]
        [[0, 1], [1, 0]]
    """

    name: str
    query_ids: Sequence[str]
    document_ids: Sequence[str]
    judgments: Judgments
    _: KW_ONLY
    query_texts: Sequence[Item] | None = None
    document_texts: Sequence[Item] | None = None
    split: str | None = None
    listed_query_ids: Sequence[str] = ()
    left_out: int = 0
    ignored: int = 0
    made: str | None = None
    excluded: Judgments | None = None
    notes: Sequence[str] = ()
    documents_apart: bool = False
    reversed: bool = False
    family: Family = RETRIEVAL
    groups: Sequence[Grouping] = ()

    @classmethod
    def build(
        cls,
        name: str,
        queries: ItemList,
        documents: ItemList,
        judged: Iterable[Judgment],
        *,
        split: str | None = None,
        ignore_missing: bool = False,
        made: str | None = None,
        groups: Sequence[Grouping] = (),
    ) -> Self:
        """Make a task from lists: number queries and documents, check the judgments, leave out queries without any.

        Args:
            name: What the task is called in tables.
            queries: The queries that the data lists.
            documents: The documents that are searched.
            judged: The judgments; documents that are not judged count as not relevant.
            split: Which part of the data this is.
            ignore_missing: Go on without judgments for queries or documents that are not listed.
            made: How the judgments were made, where no human judged.
            groups: Groupings of all queries that the data lists, a label each.

        Returns:
            The task with those of the queries that have a relevant document.

        Raises:
            DataError: An id is no text or stands there twice, a judgment is for something unknown, a grade is no finite
                number, a pair is judged in two ways, an item is neither a text nor an image, or nothing is relevant.

        Example:
            >>> from offsphere.data import RankingTask
            >>> from offsphere.data.items import ItemList
            >>> from offsphere.data.judgments import Judgment
            >>> queries = ItemList(["q1", "q2"], ["what is a length?", "never judged"])
            >>> documents = ItemList(["d1", "d2"], ["a norm", "a direction"])
            >>> task = RankingTask.build("small", queries, documents, [Judgment("q1", "d1", 1.0)])
            >>> task.query_texts, task.listed_query_ids
            (['what is a length?'], ['q1', 'q2'])
        """
        judged = list(judged)
        query_rows = row_numbers(queries, "query")
        document_rows = row_numbers(documents, "document", {judgment.document for judgment in judged})
        if not len(documents.ids):
            raise DataError(f"{documents.source} lists no documents: the corpus is empty")
        counts = len(queries.ids), len(documents.ids)
        judgments, missing = number_judgments(judged, query_rows, document_rows, counts)
        if missing and not ignore_missing:
            first = missing[0]
            side = "query" if first.query not in query_rows else "document"
            unknown = first.query if side == "query" else first.document
            raise DataError(
                f"{first.where or name}: judgment for unknown {side} {unknown!r} ({len(missing)} such in all): "
                "add what is missing, or go on without them with --ignore-missing"
            )
        judged_queries = {judgment.query for judgment in judged} & query_rows.keys()
        rows = np.flatnonzero(judgments.relevant > 0)
        if not len(rows):
            raise DataError(
                f"{name}: no query has a relevant document (a judgment above 0): there is nothing to measure"
            )
        return cls(
            name=name,
            query_ids=pick(queries.ids, rows),
            document_ids=documents.ids,
            judgments=judgments.only(rows),
            query_texts=pick(as_items(queries.items, "query"), rows),
            document_texts=as_items(documents.items, "document"),
            split=split,
            listed_query_ids=queries.ids,
            left_out=len(judged_queries) - len(rows),
            ignored=len(missing),
            made=made,
            groups=[grouping.only(rows) for grouping in groups],
        )

    @classmethod
    def from_judgments(
        cls, judgments: Mapping[str, Mapping[str, float]], document_ids: Sequence[str], name: str = "task"
    ) -> Self:
        """Make a task without texts from a dictionary, as pytrec_eval and ranx hold judgments.

        Args:
            judgments: ``{query id: {document id: grade}}``.
            document_ids: All documents that are searched, in the order of their vectors.
            name: What the task is called in tables.

        Returns:
            The task with those of the queries that have a relevant document.

        Raises:
            DataError: An id is no text or stands there twice, a grade is no finite number, a judged document is not
                listed, or nothing is relevant to anything.

        Example:
            >>> import offsphere as osp
            >>> osp.RankingTask.from_judgments({"q1": {"d1": 1}}, ["d1", "d2"], "tiny")
            RankingTask(tiny: 1 queries, 2 documents)
        """
        queries, documents = ItemList(list(judgments), None, name), ItemList(document_ids, None, name)
        return cls.build(name, queries, documents, list(judgments_in(judgments, name)))

    def __repr__(self) -> str:
        """The name and the counts, not the texts."""
        split = f", {self.split}" if self.split else ""
        return f"RankingTask({self.name}{split}: {len(self.query_ids)} queries, {len(self.document_ids)} documents)"

    @property
    def units(self) -> int:
        """How many queries there are."""
        return len(self.query_ids)

    @property
    def unit(self) -> str:
        """What a metric is computed over: queries."""
        return "queries"

    @property
    def symmetric(self) -> bool:
        """Whether both sides play one role, as nodes of a graph do; queries and documents do not."""
        return self.family.one_role

    @property
    def usual_metric(self) -> str:
        """The metric that is used when nobody names one."""
        return "ndcg@10"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error message."""
        return "ndcg@10, mrr@10, recall@100, map@100, pooled-ap, ..."

    def fits(self, metric: QualityMetric) -> bool:
        """Whether a metric is one of rankings."""
        return metric.kind != "pairs" and metric.general

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """The queries, which ask, and the documents, which are asked for."""
        queries, documents = ("queries-reversed", "documents-reversed") if self.reversed else ("queries", "documents")
        return (
            TaskSide(
                name="query",
                plural=queries,
                stored_as=of_split(queries, self.split),
                ids=self.query_ids,
                items=self.query_texts,
                listed=self.listed_query_ids,
                made_from_other=self.queries_from_documents,
            ),
            TaskSide(
                name="document",
                plural=documents,
                stored_as=of_split(documents, self.split) if self.documents_apart else documents,
                ids=self.document_ids,
                items=self.document_texts,
            ),
        )

    @property
    def queries_from_documents(self) -> Callable[[Vectors], Vectors] | None:
        """What makes the queries' vectors of the documents'; nothing, unless they are linked."""
        return None

    def positives(self) -> tuple[Index, Index]:
        """Rows of every query with each of its relevant documents."""
        relevant = self.judgments.grades > 0
        return self.judgments.queries[relevant], self.judgments.documents[relevant]

    def judged_negatives(self) -> tuple[Index, Index]:
        """Rows of every query with each document that was judged not to be relevant."""
        refused = self.judgments.grades <= 0
        return self.judgments.queries[refused], self.judgments.documents[refused]

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Rows of every query with each document that it must not get."""
        return self.excluded.pairs if self.excluded is not None else NO_PAIRS

    def relevant_to_any(self) -> Flags | None:
        """Which documents are relevant to some query."""
        return self.judgments.relevant_to_any

    def digest(self) -> str:
        """A digest of everything the task is, by which its results are known again."""
        return digest_of_task(self)

    def summary(self) -> dict[str, Any]:
        """Names and counts, as they stand in every output."""
        return {
            "name": self.name,
            "kind": "ranking",
            "family": self.family.name,
            "symmetric": self.symmetric,
            "split": self.split,
            "queries": len(self.query_ids),
            "documents": len(self.document_ids),
            "judgments": len(self.judgments.grades),
            "queries_left_out": self.left_out,
            "judgments_ignored": self.ignored,
            "judgments_made": self.made,
        }

    def info(self) -> dict[str, Any]:
        """The summary, how many relevant documents a query has, and how long the texts are."""
        known: dict[str, Any] = {"exchange": self.family.exchange} | groups_in_words(self.groups)
        known["relevant_per_query"] = float(self.judgments.relevant.mean())
        query, document = self.sides
        return self.summary() | known | words_per_item(query) | words_per_item(document)

    def warnings(self) -> list[str]:
        """A sentence for each kind of data that was left out."""
        sentences = list(self.notes)
        if self.left_out:
            sentences.append(f"{self.left_out} judged queries have no relevant document and are left out")
        if self.ignored:
            sentences.append(f"{self.ignored} judgments are for unknown queries or documents and are ignored")
        return sentences

    def only(self, rows: Index, split: str | None = None) -> Self:
        """The same task with some of its queries, among all documents.

        Args:
            rows: Numbers of queries; the part has them in this order.
            split: What the part is called; without a name it keeps the task's.

        Returns:
            The part.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}, "q2": {"d1": 1}}, ["d1", "d2"])
            >>> task.only(np.array([1]), "dev")
            RankingTask(task, dev: 1 queries, 2 documents)
        """
        return replace(
            self,
            query_ids=pick(self.query_ids, rows),
            query_texts=pick(self.query_texts, rows),
            judgments=self.judgments.only(rows),
            excluded=self.excluded.only(rows) if self.excluded is not None else None,
            split=split or self.split,
            groups=[grouping.only(rows) for grouping in self.groups],
        )

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Queries to learn from and queries to keep; ``by_document`` keeps relevant documents apart too."""
        parts = self._deal_out({"train": 1 - share, "kept": share}, seed, by_document=by_document)
        return np.flatnonzero(parts == "train"), np.flatnonzero(parts == "kept")

    def parts(
        self, shares: Mapping[str, float] = DEFAULT_SHARES, *, seed: int = 0, by_document: bool = False
    ) -> dict[str, Self]:
        """Deal the queries out to parts, such as train, dev and test.

        Args:
            shares: The parts, and how much of the queries each gets.
            seed: Which queries each gets; the same seed gives the same parts.
            by_document: Keep queries that share a relevant document in one part. So no document that is relevant to a
                query one learns from is relevant to a query one judges by.

        Returns:
            The parts by their names, which are their splits.

        Raises:
            ParameterError: A share is not above zero, or a part would be empty.

        Example:
            >>> import offsphere as osp
            >>> judgments = {f"q{n}": {f"d{n}": 1} for n in range(10)}
            >>> task = osp.RankingTask.from_judgments(judgments, [f"d{n}" for n in range(10)])
            >>> {name: part.units for name, part in task.parts().items()}
            {'train': 7, 'dev': 1, 'test': 2}
        """
        part_of = self._deal_out(shares, seed, by_document=by_document)
        return {part: self.only(np.flatnonzero(part_of == part), part) for part in shares}

    def _deal_out(self, shares: Mapping[str, float], seed: int, *, by_document: bool) -> NDArray[np.str_]:
        """The part of each query."""
        groups = linked_queries(self.judgments) if by_document else np.arange(len(self.query_ids))
        return deal_out(groups, shares, seed, self.name)

    def with_fewer_documents(self, most: int, seed: int) -> Self:
        """The same queries among at most so many documents: all that are judged, and others at random."""
        if len(self.document_ids) <= most:
            return self
        judged = np.unique(self.judgments.documents)
        free = np.setdiff1d(np.arange(len(self.document_ids)), judged)
        extra = np.random.default_rng(seed).permutation(free)[: max(0, most - len(judged))]
        return self.among_documents(np.sort(np.concatenate([judged, extra])))

    def only_documents(self, rows: Index) -> Self:
        """The same task among some of its documents, as if the others had never been listed.

        Args:
            rows: Numbers of documents; the part has them in this order.

        Returns:
            The part, without queries whose relevant documents are all left out, which it counts.

        Raises:
            DataError: No query is left.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}, "q2": {"d1": 1}}, ["d1", "d2"])
            >>> part = task.only_documents(np.array([1]))
            >>> part, part.left_out, part.ignored
            (RankingTask(task: 1 queries, 1 documents), 1, 1)
        """
        part = self.among_documents(rows)
        kept = np.flatnonzero(part.judgments.relevant > 0)
        if not len(kept):
            raise DataError(f"{self.name}: none of the {len(rows):,} documents that are left is relevant to any query")
        return replace(
            part.only(kept),
            left_out=self.left_out + part.units - len(kept),
            ignored=self.ignored + len(self.judgments.grades) - len(part.judgments.grades),
        )

    def turned(self) -> RankingTask:
        """The same judgments the other way round: documents ask for the queries that they are relevant to.

        So images ask for their captions where captions asked for images.

        Returns:
            The task with those of the documents that are relevant to some query.

        Example:
            >>> import offsphere as osp
            >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}, "q2": {"d2": 1}}, ["d1", "d2"], "small")
            >>> turned = task.turned()
            >>> turned, turned.query_ids
            (RankingTask(small reversed: 1 queries, 2 documents), ['d2'])
        """
        rows = np.flatnonzero(self.judgments.relevant_to_any)
        return replace(
            self,
            name=f"{self.name} reversed",
            query_ids=pick(self.document_ids, rows),
            document_ids=self.query_ids,
            judgments=self.judgments.turned().only(rows),
            query_texts=pick(self.document_texts, rows),
            document_texts=self.query_texts,
            listed_query_ids=self.document_ids,
            excluded=self.excluded.turned().only(rows) if self.excluded is not None else None,
            documents_apart=True,
            reversed=not self.reversed,
        )

    def among_documents(self, rows: Index) -> Self:
        """The same queries among some of the documents.

        Args:
            rows: Numbers of documents; the part has them in this order.

        Returns:
            The part; a query may have no relevant document left.
        """
        return replace(
            self,
            document_ids=pick(self.document_ids, rows),
            document_texts=pick(self.document_texts, rows),
            judgments=self.judgments.only_documents(rows),
            excluded=self.excluded.only_documents(rows) if self.excluded is not None else None,
        )

    def unit_items(self) -> list[Hashable]:
        """Each query by its text."""
        queries, _ = items_of(self)
        return list(queries)

    def items_to_view(self, rows: Index) -> list[Item]:  # noqa: ARG002  # every document can be learned from
        """All documents: whoever learns without judgments makes pairs from two views of one of them."""
        _, documents = items_of(self)
        return list(documents)

    def vectors(
        self, first: Vectors, second: Vectors, tokens: tuple[Counts | None, Counts | None] = (None, None)
    ) -> RankingVectors:
        """The vectors of this task from arrays in its order, checked.

        Args:
            first: A row for each query.
            second: A row for each document.
            tokens: How many tokens the model saw of each query and of each document, where that is known.

        Returns:
            The vectors, for ``osp.compare``, ``osp.measure`` and the like.

        Raises:
            VectorError: There are more or fewer rows than queries or documents, the widths differ, or a number is not
                finite.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> task = osp.RankingTask.from_judgments({"q1": {"d2": 1}}, ["d1", "d2"])
            >>> task.vectors(np.ones((1, 4), np.float32), np.ones((2, 4), np.float32))
            RankingVectors(queries (1, 4), documents (2, 4))
        """
        return replace(RankingVectors.of(self, first, second), query_tokens=tokens[0], document_tokens=tokens[1])

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of another kind of task, and of more or fewer queries or documents."""
        self._checked(vectors)

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: QualityMetric,
        folds: Index,
        progress: Progress | None = None,
        memo: Memo | None = None,
    ) -> RankingEvaluator:
        """What measures scorers on this task: one exact search for all of them, then the metric."""
        return RankingEvaluator(
            judgments=self.judged_by(metric),
            excluded=self.excluded,
            vectors=self._checked(vectors),
            document_ids=self.document_ids,
            metric=metric,
            folds=folds,
            progress=progress,
            memo=memo or Memo(),
        )

    def judged_by(self, metric: QualityMetric) -> Judgments:  # noqa: ARG002  # other tasks have more than one kind
        """What says which documents are right under a metric: the judgments.

        Args:
            metric: One of rankings.

        Returns:
            The judgments of this task.
        """
        return self.judgments

    def _checked(self, vectors: TaskVectors) -> RankingVectors:
        task_vectors = check_kind(self, vectors, RankingVectors)
        queries = ("queries", len(self.query_ids), len(task_vectors.queries))
        check_row_counts(self, [queries, ("documents", len(self.document_ids), len(task_vectors.documents))])
        return task_vectors
