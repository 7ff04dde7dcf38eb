"""A ranking task: queries, documents, graded judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.data.judgments import Judgments


class Judgment(NamedTuple):
    """One judgment as it was read, and where it stands."""

    query: str
    document: str
    grade: float
    place: str = ""


class ItemList(NamedTuple):
    """Ids in their order, with the texts where there are any."""

    ids: Sequence[str]
    texts: Sequence[str] | None = None
    source: str = "the task"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingTask:
    """Queries that have a relevant document, the documents, and the judgments between them, by number."""

    name: str
    query_ids: Sequence[str]
    document_ids: Sequence[str]
    judgments: Judgments
    query_texts: Sequence[str] | None = None
    document_texts: Sequence[str] | None = None
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

    def only(self, chosen: Index, split: str | None = None) -> RankingTask:
        """The same task with some of its queries, by number."""
        numbers = chosen.tolist()
        return replace(
            self,
            query_ids=[self.query_ids[number] for number in numbers],
            query_texts=[self.query_texts[number] for number in numbers] if self.query_texts is not None else None,
            judgments=self.judgments.only(chosen),
            excluded=self.excluded.only(chosen) if self.excluded is not None else None,
            split=split or self.split,
        )

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
