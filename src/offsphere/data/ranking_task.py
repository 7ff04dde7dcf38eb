"""A ranking task: queries, documents, graded judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, VectorError
from offsphere.base.progress import Progress
from offsphere.data.items import Item
from offsphere.data.judgments import Judgments
from offsphere.data.ranking_evaluator import RankingEvaluator
from offsphere.data.splits import DEFAULT_SHARES, deal_out, linked_queries
from offsphere.data.task import TaskSide, TaskVectors, check_counts, items_of, words_per_item
from offsphere.data.task_vectors import RankingVectors
from offsphere.data.vector_files import of_split
from offsphere.statistics.metrics import Metric


class Judgment(NamedTuple):
    """One judgment as it was read, and where it stands."""

    query: str
    document: str
    grade: float
    place: str = ""


class ItemList(NamedTuple):
    """Ids in their order, with the texts where there are any."""

    ids: Sequence[str]
    texts: Sequence[Item] | None = None
    source: str = "the task"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingTask:
    """Queries that have a relevant document, the documents, and the judgments between them, by number."""

    name: str
    query_ids: Sequence[str]
    document_ids: Sequence[str]
    judgments: Judgments
    query_texts: Sequence[Item] | None = None
    document_texts: Sequence[Item] | None = None
    split: str | None = None
    listed_query_ids: Sequence[str] = field(default=())  # all that the data lists, judged or not, in its order
    left_out: int = 0  # judged queries without a relevant document
    ignored: int = 0  # judgments for unknown queries or documents
    made: str | None = None  # how the judgments were made, where no human judged
    excluded: Judgments | None = None  # what a query must not get: what a user has already, or the query itself

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
    ) -> RankingTask:
        """Number everything, check it, and leave out queries that have nothing to find."""
        query_number = _numbered(queries, "query")
        document_number = _numbered(documents, "document")
        if not document_number:
            raise DataError(f"{documents.source} lists no documents: the corpus is empty")
        judged = list(judged)
        grades, missing = _known(judged, query_number, document_number)
        if missing and not ignore_missing:
            first = missing[0]
            side = "query" if first.query not in query_number else "document"
            unknown = first.query if side == "query" else first.document
            raise DataError(
                f"{first.place or name}: judgment for unknown {side} {unknown!r} ({len(missing)} such in all): "
                "add what is missing, or go on without them with --ignore-missing"
            )
        everything = _numbers(grades, len(query_number), len(document_number))
        judged_queries = {judgment.query for judgment in judged} & query_number.keys()
        chosen = np.flatnonzero(everything.relevant > 0)
        numbers = chosen.tolist()
        if not len(chosen):
            raise DataError(
                f"{name}: no query has a relevant document (a judgment above 0): there is nothing to measure"
            )
        return cls(
            name,
            [queries.ids[number] for number in numbers],
            documents.ids,
            everything.only(chosen),
            [queries.texts[number] for number in numbers] if queries.texts is not None else None,
            documents.texts,
            split,
            queries.ids,
            len(judged_queries) - len(chosen),
            len(missing),
            made,
        )

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
        """A metric is computed over queries."""
        return "queries"

    @property
    def symmetric(self) -> bool:
        """Queries and documents play different roles."""
        return False

    @property
    def usual_metric(self) -> str:
        """The metric when nobody names one."""
        return "ndcg@10"

    @property
    def fitting_metrics(self) -> str:
        """Examples of metrics that fit, for an error."""
        return "ndcg@10, mrr@10, recall@100, map@100, pooled-ap, ..."

    def fits(self, metric: Metric) -> bool:
        """Whether a metric is one of rankings."""
        return metric.kind != "pairs"

    @property
    def sides(self) -> tuple[TaskSide, TaskSide]:
        """Queries, then documents."""
        stored_as = of_split("queries", self.split)
        return (
            TaskSide("query", "queries", stored_as, self.query_ids, self.query_texts, self.listed_query_ids),
            TaskSide("document", "documents", "documents", self.document_ids, self.document_texts),
        )

    def positives(self) -> tuple[Index, Index]:
        """Every query with each of its relevant documents."""
        relevant = self.judgments.grades > 0
        return self.judgments.queries[relevant], self.judgments.documents[relevant]

    def judged_negatives(self) -> tuple[Index, Index]:
        """Every query with each document that was judged not to be relevant."""
        refused = self.judgments.grades <= 0
        return self.judgments.queries[refused], self.judgments.documents[refused]

    def excluded_pairs(self) -> tuple[Index, Index]:
        """Every query with what it must not get."""
        nothing = np.zeros(0, np.int64)
        return (self.excluded.queries, self.excluded.documents) if self.excluded is not None else (nothing, nothing)

    def wanted(self) -> Flags | None:
        """Which documents are relevant to some query."""
        return self.judgments.relevant_to_any

    def judged(self) -> list[bytes]:
        """The judgments as bytes, for a digest."""
        return [part.tobytes() for part in (self.judgments.queries, self.judgments.documents, self.judgments.grades)]

    def described(self) -> dict[str, Any]:
        """Names and counts."""
        return {
            "name": self.name,
            "kind": "ranking",
            "split": self.split,
            "queries": len(self.query_ids),
            "documents": len(self.document_ids),
            "judgments": len(self.judgments.grades),
            "queries_left_out": self.left_out,
            "judgments_ignored": self.ignored,
            "judgments_made": self.made,
        }

    def info(self) -> dict[str, Any]:
        """Names, counts, how many relevant documents a query has, and how long the texts are."""
        relevant = {"relevant_per_query": float(self.judgments.relevant.mean())}
        query, document = self.sides
        return self.described() | relevant | words_per_item(query) | words_per_item(document)

    def warnings(self) -> list[str]:
        """What of the data was left out."""
        said = []
        if self.left_out:
            said.append(f"{self.left_out} judged queries have no relevant document and are left out")
        if self.ignored:
            said.append(f"{self.ignored} judgments are for unknown queries or documents and are ignored")
        return said

    def only(self, rows: Index, split: str | None = None) -> RankingTask:
        """The same task with some of its queries, by number."""
        numbers = rows.tolist()
        return replace(
            self,
            query_ids=[self.query_ids[number] for number in numbers],
            query_texts=[self.query_texts[number] for number in numbers] if self.query_texts is not None else None,
            judgments=self.judgments.only(rows),
            excluded=self.excluded.only(rows) if self.excluded is not None else None,
            split=split or self.split,
        )

    def rows_apart(self, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
        """Queries to learn from and queries to keep; ``by_document`` keeps relevant documents apart too."""
        parts = self._dealt_out({"train": 1 - share, "kept": share}, seed, by_document=by_document)
        return np.flatnonzero(parts == "train"), np.flatnonzero(parts == "kept")

    def parts(
        self, shares: Mapping[str, float] = DEFAULT_SHARES, *, seed: int = 0, by_document: bool = False
    ) -> dict[str, RankingTask]:
        """Parts of the task's queries. ``by_document`` keeps queries that share a relevant document in one part.

        So no document that is relevant to a query one learns from is relevant to a query one judges with.
        """
        dealt = self._dealt_out(shares, seed, by_document=by_document)
        return {part: self.only(np.flatnonzero(dealt == part), part) for part in shares}

    def _dealt_out(self, shares: Mapping[str, float], seed: int, *, by_document: bool) -> NDArray[np.str_]:
        groups = linked_queries(self.judgments) if by_document else np.arange(len(self.query_ids))
        return deal_out(groups, shares, seed, self.name)

    def with_fewer_documents(self, most: int, seed: int) -> RankingTask:
        """The same queries among at most so many documents: all that are judged, and others at random."""
        if len(self.document_ids) <= most:
            return self
        judged = np.unique(self.judgments.documents)
        free = np.setdiff1d(np.arange(len(self.document_ids)), judged)
        extra = np.random.default_rng(seed).permutation(free)[: max(0, most - len(judged))]
        kept = np.sort(np.concatenate([judged, extra]))
        own, texts = self.judgments, self.document_texts
        renumbered = np.searchsorted(kept, own.documents)
        return replace(
            self,
            document_ids=[self.document_ids[row] for row in kept.tolist()],
            document_texts=[texts[row] for row in kept.tolist()] if texts is not None else None,
            judgments=Judgments.of(own.queries, renumbered, own.grades, own.query_count, len(kept)),
            excluded=None,
        )

    def unit_items(self) -> list[Hashable]:
        """Each query by its text."""
        queries, _ = items_of(self)
        return list(queries)

    def items_to_view(self, rows: Index) -> list[Item]:  # noqa: ARG002  # every document can be learned from
        """All documents."""
        _, documents = items_of(self)
        return list(documents)

    def vectors(
        self, first: Vectors, second: Vectors, tokens: tuple[Counts | None, Counts | None] = (None, None)
    ) -> RankingVectors:
        """Query and document vectors of this task, checked."""
        return replace(RankingVectors.of(self, first, second), query_tokens=tokens[0], document_tokens=tokens[1])

    def check(self, vectors: TaskVectors) -> None:
        """Refuse vectors of pairs, and of more or fewer queries or documents."""
        self._own(vectors)
        queries, documents = vectors.sides
        check_counts(
            self,
            [
                ("queries", len(self.query_ids), len(queries)),
                ("documents", len(self.document_ids), len(documents)),
            ],
        )

    def evaluator(
        self,
        vectors: TaskVectors,
        metric: Metric,
        folds: Index,
        progress: Progress | None = None,
        memo: Memo | None = None,
    ) -> RankingEvaluator:
        """One exact search for all scorers, then the metric."""
        self.check(vectors)
        own = self._own(vectors)
        return RankingEvaluator(self.judgments, self.excluded, own, metric, folds, progress, memo or Memo())

    def _own(self, vectors: TaskVectors) -> RankingVectors:
        if not isinstance(vectors, RankingVectors):
            raise VectorError(f"{self.name} is not a task for {type(vectors).__name__}")
        return vectors

    @classmethod
    def from_judgments(
        cls, judgments: Mapping[str, Mapping[str, float]], document_ids: Sequence[str], name: str = "task"
    ) -> RankingTask:
        """A task from ``{query id: {document id: grade}}``, as pytrec_eval and ranx hold judgments."""
        judged = [Judgment(q, d, float(grade)) for q, row in judgments.items() for d, grade in row.items()]
        return cls.build(name, ItemList(list(judgments)), ItemList(document_ids), judged)


def _numbered(listed: ItemList, kind: str) -> dict[str, int]:
    numbers = {name: number for number, name in enumerate(listed.ids)}
    if len(numbers) < len(listed.ids):
        name, times = Counter(listed.ids).most_common(1)[0]
        raise DataError(f"{listed.source}: {kind} id {name!r} stands there {times} times: ids must not repeat")
    return numbers


def _known(
    judged: Iterable[Judgment], queries: dict[str, int], documents: dict[str, int]
) -> tuple[dict[tuple[int, int], float], list[Judgment]]:
    """Grades by number, and the judgments whose query or document nobody knows."""
    grades: dict[tuple[int, int], float] = {}
    missing = []
    for judgment in judged:
        query, document = queries.get(judgment.query), documents.get(judgment.document)
        if query is None or document is None:
            missing.append(judgment)
            continue
        before = grades.setdefault((query, document), judgment.grade)
        if before != judgment.grade:
            raise DataError(
                f"{judgment.place or 'judgments'}: query {judgment.query!r}, document {judgment.document!r}: judged "
                f"{before:g} and {judgment.grade:g}: keep one"
            )
    return grades, missing


def _numbers(grades: dict[tuple[int, int], float], queries: int, documents: int) -> Judgments:
    pairs = np.array(list(grades), np.int64).reshape(-1, 2)
    return Judgments.of(pairs[:, 0], pairs[:, 1], np.array(list(grades.values()), np.float64), queries, documents)
