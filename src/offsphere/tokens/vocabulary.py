"""The tokens that occur in the texts of a task: how often each does, and its vector by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.arrays import Array, Index, Rows
from offsphere.encode.encoder import Tokens
from offsphere.tokens.term_similarity import TermNeighbours, term_similarity

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The distinct tokens of some texts.

    Attributes:
        ids: their numbers, rising.
        counts: how often each occurs.
        vectors_of: gives the vectors of tokens by their numbers.

    Example:
        >>> import numpy as np
        >>> from offsphere.encode.encoder import Tokens
        >>> words = Vocabulary.of([Tokens.of([[7, 9], [9]])], lambda ids: np.ones((len(ids), 2), np.float32))
        >>> words.ids.tolist(), words.counts.tolist(), words.frequency(np.array([9, 8])).round(2).tolist()
        ([7, 9], [1, 2], [0.67, 0.0])
    """

    ids: Index
    counts: Index
    vectors_of: Callable[[Index], Rows]

    @classmethod
    def of(cls, sides: list[Tokens], vectors_of: Callable[[Index], Rows]) -> Vocabulary:
        """Count the tokens of all texts of both sides."""
        return cls.counted([np.bincount(tokens.ids) for tokens in sides], vectors_of)

    @classmethod
    def counted(cls, sides: Sequence[Index], vectors_of: Callable[[Index], Rows]) -> Vocabulary:
        """Make it of how often each token occurs on each side, by the token's number."""
        counts = add_counts(sides)
        ids = np.flatnonzero(counts)
        return cls(ids, counts[ids], vectors_of)

    @cached_property
    def vectors(self) -> Rows:
        """The vector of each token."""
        return self.vectors_of(self.ids)

    @cached_property
    def _alike(self) -> dict[TermNeighbours, csr_array]:
        return {}

    def alike(self, rule: TermNeighbours) -> csr_array:
        """How alike its tokens are: compared once, whoever asks, since that is as long as all else together."""
        if rule not in self._alike:
            self._alike[rule] = term_similarity(self.vectors, rule)
        return self._alike[rule]

    def frequency(self, ids: Index) -> Array:
        """The share that tokens have among all, by their numbers; zero for those that do not occur."""
        rows = np.minimum(np.searchsorted(self.ids, ids), max(len(self.ids) - 1, 0))
        if not len(self.ids):
            return np.zeros(len(ids))
        return np.where(self.ids[rows] == ids, self.counts[rows] / self.counts.sum(), 0.0)


def add_counts(parts: Iterable[Index]) -> Index:
    """Add up counts by number that go up to different numbers.

    Example:
        >>> import numpy as np
        >>> add_counts([np.array([1, 0, 2]), np.array([5])]).tolist()
        [6, 0, 2]
    """
    total: Index = np.zeros(0, np.int64)
    for part in parts:
        total = np.pad(total, (0, max(len(part) - len(total), 0)))
        total[: len(part)] += part
    return total
