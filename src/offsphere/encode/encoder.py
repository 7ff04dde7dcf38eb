"""What an encoder is: items to vectors whose lengths were not thrown away, and a description of how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Counts, Index, Rows
from offsphere.base.errors import DataError
from offsphere.base.short_repr import short_repr
from offsphere.data.image import Image
from offsphere.data.items import Item, ItemKind, ItemSide, kinds_of


@dataclass(frozen=True, slots=True)
class Description:
    """What the store remembers of the model, so that vectors of different models are never mixed."""

    model: str  # as the user named it
    revision: str  # the hub's commit, a digest of the weights, or a version
    dimension: int
    similarity: str | None = None  # what the model declares it is to be scored with
    removed: Sequence[str] = field(default=())  # normalisation stages that were taken out
    kept_normalize: bool = False  # the user wanted them to stay

    __repr__ = short_repr


class Tokens(NamedTuple):
    """Token numbers of all texts in a row, and where each text ends."""

    ids: Index
    ends: Index

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Tokens:
        """Join the token numbers of each text, one sequence a text, into one row."""
        ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
        return cls(np.fromiter(chain.from_iterable(rows), np.int64, int(ends[-1]) if len(ends) else 0), ends)


GREY = np.full((32, 32, 3), 127, np.uint8)
SAMPLES: Mapping[ItemKind, Item] = MappingProxyType({"text": "offsphere", "image": Image.of(GREY, "a grey square")})


class Encoder(Protocol):
    """Turns items into vectors, and gives the same vectors for the same items in the same order."""

    @property
    def description(self) -> Description:
        """Which model makes the vectors, and what was done to it."""
        ...

    @property
    def kinds(self) -> Sequence[ItemKind]:
        """What it takes: texts, images or both."""
        ...

    @property
    def pads(self) -> bool:
        """Whether items of similar size are cheaper to encode together."""
        ...

    def prompt(self, side: ItemSide) -> str:
        """Tell what is put before each text of a side.

        Args:
            side: ``"query"`` or ``"document"``; ``"left"`` or ``"right"`` of pairs.

        Returns:
            The prompt, empty where there is none.
        """
        ...

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:
        """Encode items as they stand on one side of a task.

        Args:
            items: What to encode, of the kinds that it takes.
            side: The side they stand on: many models treat queries and documents differently.

        Returns:
            One row an item, in their order, with its length as the model gave it.
        """
        ...

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Count the tokens that the model sees of each item.

        Args:
            items: What would be encoded.

        Returns:
            One count an item, -1 where the model does not say.
        """
        ...

    def tokens(self, items: Sequence[Item]) -> Tokens | None:
        """List the tokens that the model sees of each item, without special ones.

        Args:
            items: What would be encoded.

        Returns:
            The numbers of the tokens, or nothing where the model does not say.
        """
        ...


def check_kinds(encoder: Encoder, items: Sequence[Item]) -> None:
    """Refuse items of a kind that an encoder does not take.

    Args:
        encoder: Says what it takes.
        items: What it is to encode.

    Raises:
        DataError: Some are of another kind.

    Example:
        >>> import numpy as np
        >>> from offsphere.data.image import Image
        >>> from offsphere.encode.encoder import check_kinds
        >>> from offsphere.encode.sources import load_encoder
        >>> try:
        ...     check_kinds(load_encoder("wordllama"), [Image.of(np.zeros((1, 1), np.uint8))])
        ... except DataError as error:
        ...     print(error)
        wordllama takes texts, not images: name a model that takes images, or another for the queries with --query-model
    """
    refused = [kind for kind in kinds_of(items) if kind not in encoder.kinds]
    if refused:
        takes, name = " and ".join(f"{kind}s" for kind in encoder.kinds), encoder.description.model
        cure = f"name a model that takes {refused[0]}s, or another for the queries with --query-model"
        if name.startswith("callable:"):
            cure = f"if the function does take them, say so by its attribute kinds = ({refused[0]!r},)"
        raise DataError(f"{name} takes {takes}, not {refused[0]}s: {cure}")
