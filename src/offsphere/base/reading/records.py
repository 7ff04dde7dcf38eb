"""Objects of JSON as the records that they should be: every field is there, none is too many, each has its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from offsphere.base.errors import DataError

Made = TypeVar("Made")


def record_of(kind: type[Made], values: Any, where: str) -> Made:
    """Make a dataclass of the values of a JSON object.

    Args:
        kind: The dataclass, of fields that are plain: texts, numbers, flags, lists and mappings of them.
        values: What the file holds.
        where: Where it stands, for errors.

    Returns:
        The record.

    Raises:
        DataError: It is no object, a field is missing or unknown, or a value is not of its type.

    Example:
        >>> from dataclasses import dataclass
        >>> from offsphere.base.reading.records import record_of
        >>> @dataclass
        ... class Point:
        ...     x: float
        ...     name: str = ""
        >>> record_of(Point, {"x": 1}, "points.json")
        Point(x=1, name='')
    """
    if not isinstance(values, Mapping):
        raise DataError(f"{where}: expected a JSON object, found {type(values).__name__}")
    hints = get_type_hints(kind)
    for field in fields(kind):  # type: ignore[arg-type]  # a dataclass
        if field.name not in values:
            if field.default is MISSING and field.default_factory is MISSING:
                raise DataError(f"{where}: {field.name!r} is missing")
        elif not _fits(values[field.name], hints[field.name]):
            raise DataError(
                f"{where}: {field.name!r} is {values[field.name]!r}, which is no {_words(hints[field.name])}"
            )
    unknown = [name for name in values if name not in hints]
    if unknown:
        raise DataError(f"{where}: unknown field {unknown[0]!r}: it is of another version")
    return kind(**values)


def _fits(value: Any, hint: Any) -> bool:  # noqa: PLR0911  # a line a kind
    """Whether a plain value is of a type. Numbers must be finite and below 2^63; a flag is no number."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if isinstance(origin, type) and issubclass(origin, tuple):
        return isinstance(value, list | tuple) and len(value) == len(parts) and all(map(_fits, value, parts))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, list | tuple) and all(_fits(part, parts[0]) for part in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(part, parts[1]) for part in value.values())
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and _is_usual(value)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool) and _is_usual(value)
    return value is None if hint is NoneType else isinstance(value, hint)


def _is_usual(value: float) -> bool:
    """Whether a number is one that arrays can hold."""
    return abs(value) < 1 << 63 if isinstance(value, int) else isfinite(value)


def _words(hint: Any) -> str:
    """A type as a message names it."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
