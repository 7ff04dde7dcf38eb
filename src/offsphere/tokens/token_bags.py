"""Texts as bags of token vectors: which vectors each text has, and how often.

A static table has one vector a token, which all texts share; a layer of a transformer has one for each place in each
text. Both are a table and rows of it, so that whatever compares texts need not know which it has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from offsphere.base.arrays import Array, Index, Rows
from offsphere.base.errors import VectorError
from offsphere.base.short_repr import short_repr
from offsphere.vectors.lengths import lengths


@dataclass(frozen=True, slots=True, eq=False)
class TokenBags:
    """The tokens of some texts, one text after the other; equal vectors of a text are one entry with a count.

    Attributes:
        table: (vectors, dimension): the vectors.
        ids: (vectors,): the number of the token that each is a vector of.
        rows: (entries,): the vector of each entry.
        counts: (entries,): how often it stands in its text.
        ends: (texts,): where the entries of each text end.
        frequency: (vectors,): the share of the token among all tokens of a corpus; no number where nobody counted.
        lengths: (vectors,): of the vectors.

    Raises:
        VectorError: where the arrays do not fit together: compiled code would read beyond them.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> table, ids = np.eye(3, dtype=np.float32), np.array([7, 8, 9])
        >>> bags = TokenBags.of(table, ids, np.array([0, 2, 0, 1]), np.array([3, 4]))
        >>> bags.rows.tolist(), bags.counts.tolist(), bags.ends.tolist()
        ([0, 2, 1], [2.0, 1.0, 1.0], [2, 3])
    """

    table: Rows
    ids: Index
    rows: Index
    counts: Array
    ends: Index
    frequency: Array = field(default_factory=lambda: np.zeros(0))
    lengths: Array = field(default_factory=lambda: np.zeros(0))

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Check that every entry has a vector and belongs to a text, and that what is known of vectors is of all."""
        vectors, starts = len(self.table), np.diff(self.ends, prepend=0)
        if self.table.ndim != 2 or len(self.ids) != vectors:  # noqa: PLR2004
            raise VectorError(f"token vectors of shape {self.table.shape} for {len(self.ids)} tokens")
        beyond = self.rows[(self.rows < 0) | (self.rows >= vectors)]
        if len(beyond):
            raise VectorError(f"an entry has vector {beyond[0]:,}, and there are {vectors:,}")
        if len(self.counts) != len(self.rows) or (starts < 0).any() or starts.sum() != len(self.rows):
            raise VectorError(f"{len(self.rows):,} tokens with {len(self.counts):,} counts, of which texts are made")
        for what, numbers in (("shares of tokens", self.frequency), ("lengths", self.lengths)):
            if len(numbers) not in (0, vectors):
                raise VectorError(f"{len(numbers):,} {what} for {vectors:,} token vectors")
        if not len(self.frequency):
            object.__setattr__(self, "frequency", np.full(vectors, np.nan))
        if not len(self.lengths):
            object.__setattr__(self, "lengths", lengths(self.table))

    @classmethod
    def of(cls, table: Rows, ids: Index, slots: Index, ends: Index, frequency: Array | None = None) -> TokenBags:
        """Make bags of tokens in their order.

        Args:
            table: The vectors.
            ids: The number of the token of each vector.
            slots: The vector of each token of all texts.
            ends: Where each text ends.
            frequency: The share of each vector's token in a corpus.
        """
        texts = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        keys, counts = np.unique(texts * max(len(table), 1) + slots, return_counts=True)
        text_of, rows = np.divmod(keys, max(len(table), 1))
        new_ends = np.cumsum(np.bincount(text_of, minlength=len(ends)))
        rows_frequency = frequency if frequency is not None else np.zeros(0)
        return cls(table, ids, rows, counts.astype(np.float64), new_ends, rows_frequency)

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.ends)

    @property
    def sizes(self) -> Index:
        """How many different vectors each text has."""
        return np.diff(self.ends, prepend=0)

    @property
    def starts(self) -> Index:
        """Where the entries of each text begin."""
        return self.ends - self.sizes
