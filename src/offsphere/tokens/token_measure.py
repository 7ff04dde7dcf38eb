"""What compares two texts by their tokens: one face for transport, soft cosine, means and late interaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cores import available_cores, in_order
from offsphere.base.errors import VectorError
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.vocabulary import Vocabulary

AT_ONCE = 128  # pairs to a thread


class TextPairs(NamedTuple):
    """Which left text is compared with which right one, by their numbers in two sets of bags."""

    lefts: Index
    rights: Index


class TokenMeasure(Protocol):
    """A similarity of two texts as bags of token vectors; bigger is better."""

    @property
    def name(self) -> str:
        """As a user types it."""
        ...

    @property
    def phrase(self) -> str:
        """What it does, as an instruction in plain words."""
        ...

    @property
    def by_word(self) -> bool:
        """Whether it needs one vector a token, whatever stands around it: a table, no layer of a transformer."""
        ...

    def ranking_twin(self) -> str:
        """A name that is equal for measures that rank any query's documents alike."""
        ...

    def without_length(self) -> TokenMeasure | None:
        """The same with the lengths of tokens thrown away; nothing where it does not use them."""
        ...

    def fit(self, vocabulary: Vocabulary) -> TokenMeasure:
        """Make it ready for the texts of a task; most are ready for any."""
        ...

    def scores(self, left: TokenBags, right: TokenBags, pairs: TextPairs) -> Array:
        """Score each pair; no number where a text has no token."""
        ...


def check_pairs(left: TokenBags, right: TokenBags, pairs: TextPairs) -> None:
    """Refuse pairs of texts that are not there, and tables of different widths, before compiled code reads them.

    Raises:
        VectorError: One of these.
    """
    if left.table.shape[1] != right.table.shape[1]:
        raise VectorError(f"token vectors of {left.table.shape[1]} and of {right.table.shape[1]} dimensions")
    if len(pairs.lefts) != len(pairs.rights):
        raise VectorError(f"{len(pairs.lefts)} left texts for {len(pairs.rights)} right ones")
    for numbers, bags in ((pairs.lefts, left), (pairs.rights, right)):
        beyond = numbers[(numbers < 0) | (numbers >= len(bags))]
        if len(beyond):
            raise VectorError(f"text {beyond[0]:,} of {len(bags):,}")


def in_threads(work: Callable[[Index, Index], Any], pairs: TextPairs) -> Array:
    """Score pairs some at a time in threads, for work that lets go of the interpreter."""
    starts = range(0, len(pairs.lefts), AT_ONCE)
    pieces = ((pairs.lefts[start : start + AT_ONCE], pairs.rights[start : start + AT_ONCE]) for start in starts)
    parts = list(in_order(work, pieces, available_cores()))
    return np.concatenate(parts) if parts else np.zeros(0)
