"""Any Python function from items to an array as an encoder: closed APIs, models of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import OffsphereError
from offsphere.data.items import Item, ItemSide
from offsphere.encode.encoder import Description, Tokens


class FunctionEncoder:
    """An encoder that calls ``function(items)``, once with a short text at the start to learn the dimension.

    Args:
        function: Takes a list of items, gives an array (or nested lists) with one row an item.
        name: What the store and the tables call it.

    Raises:
        OffsphereError: If it is no function, or gives something else than one row an item.

    Example:
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), text.count("a")] for text in texts], "letters")
        >>> encoder.encode(["banana", "fig"], "document").tolist()
        [[6.0, 3.0], [3.0, 0.0]]
    """

    pads = False

    def __init__(self, function: Any, name: str) -> None:
        if not callable(function):
            raise OffsphereError(f"{name} is not a function")
        self.function = function
        self.name = name
        dimension = self._call(["offsphere"]).shape[1]
        version = getattr(function, "__version__", "unknown")
        self.description = Description(name, str(version), dimension)

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """No prompt: the function adds what it wants."""
        return ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:  # noqa: ARG002
        """What the function gives for the items, checked; it is not told their side."""
        return self._call(list(items))

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Minus one for every item: a function does not say what it sees."""
        return np.full(len(items), -1, np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens | None:  # noqa: ARG002
        """Nothing: a function does not say what it sees."""
        return None

    def _call(self, items: list[Item]) -> Rows:
        rows = np.ascontiguousarray(self.function(items), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(items):  # noqa: PLR2004
            raise OffsphereError(f"{self.name} gave an array of shape {rows.shape} for {len(items)} texts")
        return rows
