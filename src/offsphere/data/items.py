"""Items are what is encoded: a text or an image. Each stands on one side of a task.

This is the one place that says what an item is; who needs to know how large one is, or what tells it from others, asks
here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, overload

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.digests import digest_of_texts
from offsphere.base.errors import DataError
from offsphere.data.image import Image

Value = TypeVar("Value")

Item = str | Image
ItemKind = Literal["text", "image"]
ItemSide = Literal["query", "document", "left", "right"]
IMAGE_MARK = "\0image "  # before the digest of an image, where digests of texts are made


class ItemList(NamedTuple):
    """The ids of one side in their order, with the items where the data has them, and where they were read."""

    ids: Sequence[str]
    items: Sequence[Item] | None = None
    source: str = "the task"


class SideTexts(NamedTuple):
    """Texts of one side of a task, and which side it is."""

    side: ItemSide
    texts: Sequence[str]


def as_items(values: Sequence[Any] | None, what: str = "item") -> Sequence[Item] | None:
    """Make items of what people have: paths, arrays and pictures of Pillow are images, strings are texts.

    Args:
        values: One value an item.
        what: What one of them is called in an error.

    Returns:
        The items; the same sequence where all are items already.

    Raises:
        DataError: One is none of these: nothing, a number, a list.

    Example:
        >>> from pathlib import Path
        >>> from offsphere.data.items import as_items
        >>> as_items(["cat.jpg", Path("cat.jpg")])
        ['cat.jpg', Image(cat.jpg)]
    """
    if values is None or all(isinstance(value, Item) for value in values):
        return values
    items = [Image.of(value) if _is_picture(value) else value for value in values]
    for row, item in enumerate(items):
        if not isinstance(item, Item):
            raise DataError(
                f"the {what} in row {row} is {item!r}, of type {type(item).__name__}: give a text (an empty one is "
                '"") or an image'
            )
    return items


def _is_picture(value: Any) -> bool:
    return isinstance(value, Path | np.ndarray) or hasattr(value, "has_transparency_data")


def image_in_row(items: Sequence[Item] | None, row: int) -> Image | None:
    """The item of a row where it is an image, to be drawn; nothing where it is a text or where there are no items."""
    item = items[row] if items is not None else None
    return item if isinstance(item, Image) else None


def kind_of(item: Item) -> ItemKind:
    """Tell what an item is."""
    return "image" if isinstance(item, Image) else "text"


def kinds_of(items: Iterable[Item]) -> list[ItemKind]:
    """All kinds that stand among items, texts first."""
    kinds = {kind_of(item) for item in items}
    return [kind for kind in ("text", "image") if kind in kinds]


def size_of(item: Item) -> int:
    """How much an encoder has to read of an item: the characters of a text; all images are read at one size."""
    return len(item) if isinstance(item, str) else 0


def is_empty(item: Item) -> bool:
    """Whether there is nothing in an item: no word in a text; no image is empty."""
    return isinstance(item, str) and not item.strip()


def text_of_item(item: Item) -> str:
    """What a table shows of an item: a text itself, or the name of an image."""
    return item if isinstance(item, str) else item.name


def texts_alone(items: Sequence[Item], why: str) -> list[str]:
    """The items, known to be texts.

    Args:
        items: Texts, or so it should be.
        why: What takes texts alone, for the error.

    Returns:
        The same, as a list.

    Raises:
        DataError: One is an image.

    Example:
        >>> from offsphere.data.items import texts_alone
        >>> texts_alone(["a", "b"], "a table")
        ['a', 'b']
    """
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) < len(items):
        first = next(item for item in items if not isinstance(item, str))
        raise DataError(f"{why} takes texts, and {text_of_item(first)} is an image")
    return texts


def digest_of_items(items: Iterable[Item]) -> str:
    """A full digest of items in their order; that of texts alone is ``digest_of_texts``."""
    return digest_of_texts(item if isinstance(item, str) else f"{IMAGE_MARK}{item.digest}" for item in items)


@overload
def pick(values: Sequence[Value], rows: Index) -> list[Value]: ...
@overload
def pick(values: Sequence[Value] | None, rows: Index) -> list[Value] | None: ...
def pick(values: Sequence[Value] | None, rows: Index) -> list[Value] | None:
    """The items, or ids, of some rows; nothing where there are none at all."""
    return [values[row] for row in rows.tolist()] if values is not None else None
