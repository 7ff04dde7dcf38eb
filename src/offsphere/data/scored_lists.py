"""Scored lists: what a system that is no formula of our vectors found for the units of a task, by its own scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import ParameterError
from offsphere.base.short_repr import short_repr


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLists:
    """For each query the documents that were found, best first; for each pair its score alone. Bigger is better.

    Attributes:
        scores: (queries, depth), falling; minus infinity where a list has ended. Of pairs (pairs,).
        documents: Row numbers of the documents, (queries, depth); -1 where a list has ended. Nothing for pairs.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.scored_lists import ScoredLists
        >>> lists = ScoredLists.ranked(np.array([[4, 2, -1]]), np.array([[0.5, 0.9, 0.0]]))
        >>> lists.documents.tolist(), lists.scores.tolist()
        ([[2, 4, -1]], [[0.9, 0.5, -inf]])
    """

    scores: Array
    documents: Index | None = None

    __repr__ = short_repr

    @classmethod
    def ranked(cls, documents: Index, scores: Array) -> ScoredLists:
        """Order documents by their scores, ties by document order; places with document -1 come last.

        Args:
            documents: Row numbers, (queries, depth), in any order; -1 where there is none.
            scores: Of each of them, as many.
        """
        scores = np.where(documents < 0, -np.inf, scores)
        order = np.lexsort((documents, -scores), axis=1)
        return cls(np.take_along_axis(scores, order, axis=1), np.take_along_axis(documents, order, axis=1))

    @property
    def depth(self) -> int:
        """How many documents the longest list may hold; none for pairs."""
        return 0 if self.documents is None else self.documents.shape[1]

    def check(self, units: int, *, listed: bool, what: str) -> None:
        """Refuse what does not belong to a task: more or fewer units than it has, or scores of another kind.

        Args:
            units: How many queries or pairs the task has.
            listed: Whether the task has lists of documents, and not pairs.
            what: Of whom the lists are, for the error.

        Raises:
            ParameterError: These are no lists of that task.
        """
        if listed != (self.documents is not None):
            given, needed = ("lists of documents", "pairs") if self.documents is not None else ("scores", "queries")
            raise ParameterError(f"{what} gives {given} alone, and this task has {needed}")
        if len(self.scores) != units:
            raise ParameterError(f"{what} has lists of {len(self.scores)} units, the task has {units}")
