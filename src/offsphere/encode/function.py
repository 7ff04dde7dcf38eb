"""Any Python function from texts to an array as an encoder: closed APIs, models of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import OffsphereError
from offsphere.encode.encoder import Description, ItemSide, Tokens


class FunctionEncoder:
    """Calls ``function(texts)``. It is called once with a short text to learn the dimension."""

    pads = False

    def __init__(self, function: Any, name: str) -> None:
        if not callable(function):
            raise OffsphereError(f"{name} is not a function")
        self.function = function
        self.name = name
        dimension = self._rows(["offsphere"]).shape[1]
        version = getattr(function, "__version__", "unknown")
        self.description = Description(name, str(version), dimension)

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """The function adds its own."""
        return ""

    def encode(self, texts: Sequence[str], side: ItemSide) -> Rows:  # noqa: ARG002
        """What the function gives, checked."""
        return self._rows(list(texts))

    def count_tokens(self, texts: Sequence[str]) -> Counts:
        """Not known."""
        return np.full(len(texts), -1, np.int32)

    def tokens(self, texts: Sequence[str]) -> Tokens | None:  # noqa: ARG002
        """Not known."""
        return None

    def _rows(self, texts: list[str]) -> Rows:
        rows = np.ascontiguousarray(self.function(texts), dtype=np.float32)
        if rows.ndim != 2 or len(rows) != len(texts):  # noqa: PLR2004
            raise OffsphereError(f"{self.name} gave an array of shape {rows.shape} for {len(texts)} texts")
        return rows
