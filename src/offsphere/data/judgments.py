"""Judgments: how relevant documents are to queries, read one by one and then looked up for whole rankings at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.errors import DataError
from offsphere.base.reading.tables import LARGEST
from offsphere.base.short_repr import short_repr


class Judgment(NamedTuple):
    """One judgment as it was read, by the ids of its query and document, and where it stands in which file."""

    query: str
    document: str
    grade: float
    where: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """The grades of (query, document) pairs by their row numbers, sorted by query and then by document."""

    queries: Index
    documents: Index
    grades: Array
    query_count: int
    document_count: int

    __repr__ = short_repr

    @classmethod
    def of(cls, queries: Index, documents: Index, grades: Array, query_count: int, document_count: int) -> Judgments:
        """Judgments that were collected in any order, sorted."""
        order = np.lexsort((documents, queries))
        return cls(queries[order], documents[order], grades[order], query_count, document_count)

    @property
    def by_document(self) -> bool:
        """Whether a document's gain is its own grade, whatever else the list holds: parts of a corpus can be ranked."""
        return True

    @property
    def pairs(self) -> tuple[Index, Index]:
        """Rows of every query with each document that it was judged with."""
        return self.queries, self.documents

    @property
    def relevant(self) -> Index:
        """How many relevant documents (grade above zero) each query has."""
        return np.bincount(self.queries[self.grades > 0], minlength=self.query_count)

    @property
    def relevant_to_any(self) -> Flags:
        """Which documents are relevant to some query."""
        flags = np.zeros(self.document_count, np.bool_)
        flags[self.documents[self.grades > 0]] = True
        return flags

    def gains(self, ranked: Index) -> Array:
        """The grade of each ranked document (queries, depth); zero for no judgment, and for no document (-1)."""
        if not len(self.grades):
            return np.zeros(ranked.shape)
        keys = self.queries * self.document_count + self.documents
        wanted = np.arange(self.query_count)[:, None] * self.document_count + ranked
        positions = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[positions] == wanted) & (ranked >= 0), self.grades[positions], 0.0)

    def ideal(self) -> Array:
        """Each query's positive grades, best first, filled up with zeros: (queries, most relevant documents)."""
        positive = self.grades > 0
        queries, grades = self.queries[positive], self.grades[positive]
        order = np.lexsort((-grades, queries))
        queries, grades = queries[order], grades[order]
        counts = self.relevant
        result = np.zeros((self.query_count, int(counts.max(initial=0))))
        starts = np.cumsum(counts) - counts
        result[queries, np.arange(len(queries)) - starts[queries]] = grades
        return result

    def only(self, rows: Index) -> Judgments:
        """The judgments of some queries, which are renumbered in the order given."""
        numbers = _renumber(rows, self.query_count)[self.queries]
        kept = numbers >= 0
        return Judgments.of(numbers[kept], self.documents[kept], self.grades[kept], len(rows), self.document_count)

    def turned(self) -> Judgments:
        """The same judgments with queries and documents exchanged."""
        return Judgments.of(self.documents, self.queries, self.grades, self.document_count, self.query_count)

    def only_documents(self, rows: Index) -> Judgments:
        """The judgments of some documents, which are renumbered in the order given."""
        numbers = _renumber(rows, self.document_count)[self.documents]
        kept = numbers >= 0
        return Judgments.of(self.queries[kept], numbers[kept], self.grades[kept], self.query_count, len(rows))

    def between(self, rows: range) -> Judgments:
        """The judgments of documents that stand one below the other, which are counted from the first of them.

        Args:
            rows: Of the documents.

        Returns:
            Their judgments, for all queries; nothing is made that grows with the number of documents.
        """
        mine = (self.documents >= rows.start) & (self.documents < rows.stop)
        return Judgments(
            self.queries[mine], self.documents[mine] - rows.start, self.grades[mine], self.query_count, len(rows)
        )


def judgments_in(given: Mapping[str, Mapping[str, Any]], name: str) -> Iterator[Judgment]:
    """The judgments of a dictionary ``{query id: {document id: grade}}``.

    Args:
        given: The dictionary, as somebody made it.
        name: What it is called in errors.

    Raises:
        DataError: It holds something else, or a grade is no number.
    """
    for query, grades in given.items():
        if not isinstance(grades, Mapping):
            raise DataError(
                f"{name}: the judgments of query {query!r} are of type {type(grades).__name__}: expected a dictionary "
                "{document id: grade}"
            )
        for document, grade in grades.items():
            try:
                yield Judgment(query, document, float(grade), name)
            except (TypeError, ValueError) as error:
                raise DataError(f"{_pair(name, query, document)}: the grade {grade!r} is not a number") from error


def check_grade(judgment: Judgment) -> None:
    """Refuse a grade that is not finite, or larger than anybody means: sums of such numbers mean nothing.

    Raises:
        DataError: It is one.
    """
    if not abs(judgment.grade) <= LARGEST:  # what is no number is not below it either
        raise DataError(
            f"{_pair(judgment.where or 'judgments', judgment.query, judgment.document)}: the grade {judgment.grade:g} "
            f"is not finite or above {LARGEST:g}: give another, or leave the pair out"
        )


def _pair(where: str, query: str, document: str) -> str:
    return f"{where}: query {query!r}, document {document!r}"


def _renumber(rows: Index, count: int) -> Index:
    """For each of ``count`` old numbers the new one; -1 for those that are left out."""
    numbers = np.full(count, -1)
    numbers[rows] = np.arange(len(rows))
    return numbers
