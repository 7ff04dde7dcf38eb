"""Items are what is encoded: a text today, anything a model can encode. Each stands on one side of a task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeVar, overload

from offsphere.base.arrays import Index

Value = TypeVar("Value")

Item = str  # the one place that says what an item is
ItemSide = Literal["query", "document", "left", "right"]


class ItemList(NamedTuple):
    """The ids of one side in their order, with the items where the data has them, and where they were read."""

    ids: Sequence[str]
    items: Sequence[Item] | None = None
    source: str = "the task"


@overload
def pick(values: Sequence[Value], rows: Index) -> list[Value]: ...
@overload
def pick(values: Sequence[Value] | None, rows: Index) -> list[Value] | None: ...
def pick(values: Sequence[Value] | None, rows: Index) -> list[Value] | None:
    """The items, or ids, of some rows; nothing where there are none at all."""
    return [values[row] for row in rows.tolist()] if values is not None else None
