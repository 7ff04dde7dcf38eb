"""Pairs of a query and a document, looked up query by query: what a query must not get, or what it wants."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import VectorError

Pairs = tuple[Index, Index]  # rows of queries, each with a row of a document


class PairsByQuery(NamedTuple):
    """The documents of each query, in rising order, one query after the other."""

    starts: Index  # (queries + 1,): where the documents of each query begin and end
    documents: Index

    @classmethod
    def of(cls, pairs: Pairs | None, queries: int, documents: int) -> PairsByQuery:
        """Sort pairs of a query and a document by both.

        Args:
            pairs: rows of queries and of documents, in any order; nothing where there are none.
            queries: how many there are.
            documents: how many there are.

        Raises:
            VectorError: where a pair names a row that does not exist.
        """
        if pairs is None or not len(pairs[0]):
            return cls(np.zeros(queries + 1, np.int64), np.zeros(0, np.int64))
        asking, held = (np.asarray(part, np.int64) for part in pairs)
        for side, rows, count in (("query", asking, queries), ("document", held, documents)):
            if rows.min() < 0 or rows.max() >= count:
                wrong = rows.min() if rows.min() < 0 else rows.max()
                raise VectorError(
                    f"a pair names the {side} in row {wrong}, and there are {count}: rows are counted from 0"
                )
        order = np.lexsort((held, asking))
        return cls(np.searchsorted(asking[order], np.arange(queries + 1)), held[order])

    def of_query(self, row: int) -> Index:
        """The documents of one query."""
        return self.documents[self.starts[row] : self.starts[row + 1]]

    def of_queries(self, first: int, count: int) -> PairsByQuery:
        """The part of some queries that follow each other, without a copy."""
        return PairsByQuery(self.starts[first : first + count + 1], self.documents)


def pairs_of(pairs: Pairs | None, rows: Index) -> Pairs | None:
    """The pairs of some queries, which are renumbered in the order given.

    Args:
        pairs: rows of queries, each with that of a document.
        rows: numbers of queries, none of them twice.

    Returns:
        Those of these queries; nothing where there were no pairs.
    """
    if pairs is None or not len(pairs[0]):
        return None
    numbers = np.full(max(int(pairs[0].max()), int(rows.max(initial=-1))) + 1, -1)
    numbers[rows] = np.arange(len(rows))
    asking = numbers[pairs[0]]
    return asking[asking >= 0], pairs[1][asking >= 0]
