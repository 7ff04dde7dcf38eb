"""Any Python function from items to an array as an encoder: closed APIs, models of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Rows
from offsphere.base.errors import OffsphereError, first_line
from offsphere.data.image import Image
from offsphere.data.items import Item, ItemKind, ItemSide
from offsphere.encode.encoder import SAMPLES, Description, Tokens
from offsphere.encode.function_digest import revision_of
from offsphere.encode.image_batches import by_kind, decoded_batches

NUMBERS = "fiub"  # the kinds of numpy's types that are real numbers
PICTURES = 32  # in a call: more of them might not fit into the memory


class FunctionEncoder:
    """An encoder that calls ``function(items)``, once with a short text at the start to learn the dimension.

    A function says by an attribute what it takes, ``function.kinds = ("image",)``; one that says nothing takes texts.
    Images reach it as Pillow's pictures in RGB, at most 32 in a call.

    Args:
        function: Takes a list of texts or pictures, gives an array (or nested lists) with one row for each.
        name: What the store and the tables call it.

    Raises:
        OffsphereError: If it is no function, raises an error, or gives something else than one row of numbers an item.

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
        self.kinds: Sequence[ItemKind] = _kinds(function, name)
        dimension = self._call_of([SAMPLES[self.kinds[0]]]).shape[1]
        if not dimension:
            raise OffsphereError(f"{name} gave vectors of no dimensions: every vector needs at least one number")
        self.description = Description(name, revision_of(function), dimension)

    def prompt(self, side: ItemSide) -> str:  # noqa: ARG002
        """No prompt: the function adds what it wants."""
        return ""

    def encode(self, items: Sequence[Item], side: ItemSide) -> Rows:  # noqa: ARG002
        """What the function gives for the items, checked; it is not told their side."""
        rows = self._call_of(items)
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

    def _call_of(self, items: Sequence[Item]) -> Rows:
        """Ask the function about texts, and about pictures a batch at a time."""
        return by_kind(items, lambda texts: self._call(list(texts)), self._image_rows)

    def _image_rows(self, images: Sequence[Image]) -> Rows:
        parts = [self._call(pictures) for pictures in decoded_batches(images, PICTURES)]
        widths = sorted({part.shape[1] for part in parts})
        if len(widths) > 1:
            raise OffsphereError(f"{self.name} gave vectors of {widths[0]} and of {widths[-1]} dimensions")
        return np.concatenate(parts)

    def _call(self, items: list[Any]) -> Rows:
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

    def _answer(self, items: list[Any]) -> NDArray[Any]:
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


def _kinds(function: Any, name: str) -> Sequence[ItemKind]:
    """What a function says that it takes; texts where it says nothing."""
    said = getattr(function, "kinds", ("text",))
    said = (said,) if isinstance(said, str) else tuple(said)
    kinds: list[ItemKind] = [kind for kind in SAMPLES if kind in said]
    if not said or len(kinds) < len(said):
        raise OffsphereError(f"{name}: kinds = {said!r}: a function takes {' or '.join(map(repr, SAMPLES))}, or both")
    return kinds
