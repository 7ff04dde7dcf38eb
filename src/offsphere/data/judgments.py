"""Graded judgments, looked up for whole rankings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Flags, Index


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Grades of (query, document) pairs, by their numbers, sorted by query and then by document."""

    queries: Index
    documents: Index
    grades: Array
    query_count: int
    document_count: int

    @classmethod
    def of(cls, queries: Index, documents: Index, grades: Array, query_count: int, document_count: int) -> Judgments:
        """Sort what was collected in any order."""
        order = np.lexsort((documents, queries))
        return cls(queries[order], documents[order], grades[order], query_count, document_count)

    @property
    def relevant(self) -> Index:
        """How many relevant documents (grade above zero) each query has."""
        return np.bincount(self.queries[self.grades > 0], minlength=self.query_count)

    @property
    def places(self) -> tuple[Index, Index]:
        """Query and document of every judgment."""
        return self.queries, self.documents

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
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where((keys[place] == wanted) & (ranked >= 0), self.grades[place], 0.0)

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

    def only(self, chosen: Index) -> Judgments:
        """The judgments of some queries, renumbered in the order given."""
        place = np.full(self.query_count, -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.queries] >= 0
        renumbered = place[self.queries[kept]]
        return Judgments.of(renumbered, self.documents[kept], self.grades[kept], len(chosen), self.document_count)
