"""Any Python function from items to an array as an encoder: closed APIs, models of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import OffsphereError, first_line
from offsphere.data.items import Item, ItemSide, Kind
from offsphere.encode.encoder import Description, Tokens
from offsphere.encode.function_digest import revision_of

NUMBERS = "fiub"  # the kinds of numpy's types that are real numbers


class FunctionEncoder:
    """An encoder that calls ``function(items)``, once with a short text at the start to learn the dimension.

    Args:
        function: Takes a list of items, gives an array (or nested lists) with one row an item.
        name: What the store and the tables call it.

    Raises:
        OffsphereError: If it is no function, raises an error, or gives something else than one row of numbers an item.

    Example:
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), text.count("a")] for text in texts], "letters")
        >>> encoder.encode(["banana", "fig"], "document").tolist()
        [[6.0, 3.0], [3.0, 0.0]]
    """

    kinds: Sequence[Kind] = ("text",)
    pads = False

    def __init__(self, function: Any, name: str) -> None:
        if not callable(function):
            raise OffsphereError(f"{name} is not a function")
        self.function = function
        self.name = name
        dimension = self._call(["offsphere"]).shape[1]
        if not dimension:
            raise OffsphereError(f"{name} gave vectors of no dimensions: every vector needs at least one number")
        self.description = Description(name, revision_of(function), dimension)

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """No prompt: the function adds what it wants."""
        return ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:  # noqa: ARG002
        """What the function gives for the items, checked; it is not told their side."""
        rows = self._call(list(items))
        if rows.shape[1] != self.description.dimension:
            raise OffsphereError(
                f"{self.name} gave vectors of {rows.shape[1]} dimensions for {len(items)} texts, and of "
                f"{self.description.dimension} for its first one: all must have the same"
            )
        return rows

    def count_tokens(self, items: Sequence[Item]) -> Counts:
        """Minus one for every item: a function does not say what it sees."""
        return np.full(len(items), -1, np.int32)

    def tokens(self, items: Sequence[Item]) -> Tokens | None:  # noqa: ARG002
        """Nothing: a function does not say what it sees."""
        return None

    def _call(self, items: list[Item]) -> Rows:
        """Ask the function, and turn what it gives into rows of float32."""
        numbers = self._answer(items)
        if numbers.ndim != 2 or len(numbers) != len(items):  # noqa: PLR2004
            raise OffsphereError(f"{self.name} gave an array of shape {numbers.shape} for {len(items)} texts")
        if numbers.dtype.kind not in NUMBERS:
            raise OffsphereError(f"{self.name} gave an array of {numbers.dtype}: expected a row of real numbers a text")
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(numbers, dtype=np.float32)
        beyond = np.isinf(rows) & np.isfinite(numbers)
        if beyond.any():
            raise OffsphereError(
                f"{self.name} gave {numbers[beyond][0]}, which is more than float32 can hold: scale it"
            )
        return rows

    def _answer(self, items: list[Item]) -> NDArray[Any]:
        """What the function gives, as an array; whatever it raises is the user's to mend, and is told in one line."""
        try:
            answer = self.function(items)
        except OffsphereError:
            raise
        except (Exception, SystemExit) as error:
            raise OffsphereError(
                f"{self.name} raised {type(error).__name__} for {len(items)} texts: {first_line(error)}"
            ) from error
        try:
            return np.asarray(answer)
        except Exception as error:  # of whatever kind of array it is
            raise OffsphereError(
                f"{self.name} gave {type(answer).__name__} of which no array can be made ({first_line(error)}): "
                "expected a row of numbers a text, all of one length"
            ) from error
