"""The vectors of episodes: of the items that are sorted, and of those that shots are drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Counts, Index, Vectors
from offsphere.data.task import Task, TaskSide
from offsphere.data.task_vectors import RankingVectors
from offsphere.vectors.contents import keys_of


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EpisodeVectors:
    """The vectors of both sides, in the task's order, and which of the first each episode sorts.

    Attributes:
        rows: The vectors of the items and of the possible shots, checked.
        asked: Rows of the items that an episode sorts, (episodes, items).
    """

    rows: RankingVectors
    asked: Index

    @classmethod
    def of(
        cls, task: Task, queries: Vectors, shots: Vectors, asked: Index, tokens: tuple[Counts | None, Counts | None]
    ) -> EpisodeVectors:
        """Check arrays that are in the task's order already."""
        rows = RankingVectors.of(task, queries, shots)
        return cls(replace(rows, query_tokens=tokens[0], document_tokens=tokens[1]), asked)

    def __repr__(self) -> str:
        """The shapes, not the numbers."""
        queries, shots = self.sides
        return f"EpisodeVectors(queries {queries.shape}, shots {shots.shape}, {len(self.asked)} episodes)"

    @property
    def empty(self) -> Sequence[str]:
        """The names of the vectors that have length zero."""
        return self.rows.empty

    @property
    def unnamed_sides(self) -> tuple[TaskSide, TaskSide]:
        """What the two sides are called, for whoever has vectors and no task."""
        return self.rows.unnamed_sides

    @property
    def sides(self) -> tuple[Vectors, Vectors]:
        """The vectors of the items, then of the possible shots."""
        return self.rows.sides

    @property
    def tokens(self) -> tuple[Counts | None, Counts | None]:
        """How many tokens the model saw of each, where that is known."""
        return self.rows.tokens

    @property
    def fitted_on(self) -> Sequence[Vectors]:
        """The vectors that transforms are fitted on: those that shots are drawn from."""
        return self.rows.fitted_on

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.rows.dimension

    @property
    def widths(self) -> tuple[int, int]:
        """How many numbers a vector has on either side: one model gives both."""
        return self.dimension, self.dimension

    def unit_keys(self) -> Index:
        """A number for each episode that depends on the vectors of its items alone."""
        keys = keys_of(self.rows.queries)
        return np.asarray(keys[self.asked].sum(axis=1), np.int64)

    def only(self, rows: Index) -> EpisodeVectors:
        """The same vectors for some of the episodes."""
        return replace(self, asked=self.asked[rows])
