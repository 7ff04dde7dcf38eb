"""What an encoder is: texts to vectors whose lengths were not thrown away, and a description of how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal, NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Counts, Index, Rows

ItemSide = Literal["query", "document", "left", "right"]


@dataclass(frozen=True, slots=True)
class Description:
    """What the store remembers of the model, so that vectors of different models are never mixed."""

    model: str  # as the user named it
    revision: str  # the hub's commit, a digest of the weights, or a version
    dimension: int
    similarity: str | None = None  # what the model declares it is to be scored with
    removed: Sequence[str] = field(default=())  # normalisation stages that were taken out
    kept_normalize: bool = False  # the user wanted them to stay


class Tokens(NamedTuple):
    """Token numbers of all texts in a row, and where each text ends."""

    ids: Index
    ends: Index

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Tokens:
        """From a list a text."""
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int64, int(ends[-1]) if len(ends) else 0), ends)


class Encoder(Protocol):
    """Texts to vectors, the same for the same texts in the same order."""

    @property
    def description(self) -> Description:
        """What made the vectors."""
        ...

    @property
    def pads(self) -> bool:
        """Whether texts of similar length are cheaper to encode together."""
        ...

    def prompt(self, side: ItemSide) -> str:
        """What is put before each text of a side."""
        ...

    def encode(self, texts: Sequence[str], side: ItemSide) -> Rows:
        """A row a text."""
        ...

    def count_tokens(self, texts: Sequence[str]) -> Counts:
        """How many tokens the model sees of each text, or -1 where it does not say."""
        ...

    def tokens(self, texts: Sequence[str]) -> Tokens | None:
        """The tokens the model sees of each text, without special ones; nothing where it does not say."""
        ...
