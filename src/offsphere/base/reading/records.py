"""Objects of JSON as the records that they should be: every field is there, none is too many, each has its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from math import isfinite, nan
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from offsphere.base.errors import DataError

SomeRecord = TypeVar("SomeRecord")


def record_of(kind: type[SomeRecord], values: Any, where: str, *, null_is_nan: bool = False) -> SomeRecord:
    """Make a dataclass, or a named tuple, of the values of a JSON object.

    Args:
        kind: The class, of fields that are plain: texts, numbers, flags, lists and mappings of them, and other records.
        values: What the file holds.
        where: Where it stands, for errors.
        null_is_nan: Whether nothing, in place of a number, stands for one that is none, which JSON cannot write.

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
    hints, optional = _types_of(kind), _optional_fields(kind)  # type: ignore[arg-type]  # types are hashable
    hints = {name: hint for name, hint in hints.items() if name in optional}
    missing = [name for name in hints if name not in values and not optional[name]]
    if missing:
        raise DataError(f"{where}: {missing[0]!r} is missing")
    unknown = [name for name in values if name not in hints]
    if unknown:
        raise DataError(f"{where}: unknown field {unknown[0]!r}: it is of another version")
    given = {name: _value(values[name], hints[name], f"{where}: {name!r}", null_is_nan) for name in values}
    return kind(**given)


@cache
def _types_of(kind: type) -> dict[str, Any]:
    """The type of each field, from the annotations, which are texts of ours."""
    return get_type_hints(kind)


def _optional_fields(kind: type) -> dict[str, bool]:
    """The fields of a class by name, and whether each may be left out."""
    if not is_dataclass(kind):
        return {name: name in kind._field_defaults for name in kind._fields}  # type: ignore[attr-defined]
    return {field.name: field.default is not MISSING or field.default_factory is not MISSING for field in fields(kind)}


def _value(value: Any, hint: Any, where: str, null_is_nan: bool) -> Any:  # noqa: C901, FBT001, PLR0911  # a line a kind
    """A plain value as one of a type. Numbers must be finite and below 2^63; a flag is no number."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or (hint is NoneType and value is None):
        return value
    if hint is float and value is None and null_is_nan:
        return nan
    if origin in (Union, UnionType):
        return _first_that_fits(value, parts, hint, where, null_is_nan)
    if origin is Literal and any(value is part or (type(value) is str and value == part) for part in parts):
        return value
    if _is_sequence(origin) and isinstance(value, list | tuple):
        of_tuple = issubclass(origin, tuple) and parts[-1] is not Ellipsis
        if not of_tuple or len(value) == len(parts):
            hints = parts if of_tuple else [parts[0]] * len(value)
            items = [_value(part, inner, where, null_is_nan) for part, inner in zip(value, hints, strict=True)]
            return tuple(items) if issubclass(origin, tuple) else items
    if isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, Mapping):
        return {name: _value(part, parts[1], where, null_is_nan) for name, part in value.items()}
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        return record_of(hint, value, where, null_is_nan=null_is_nan)
    if hint in (int, float) and isinstance(value, int if hint is int else int | float) and _is_usual(value):
        return value
    if isinstance(hint, type) and hint not in (int, float) and isinstance(value, hint):
        return value
    raise DataError(f"{where} is {value!r}, which is no {_words(hint)}")


def _first_that_fits(value: Any, hints: Sequence[Any], whole: Any, where: str, null_is_nan: bool) -> Any:  # noqa: FBT001
    """The value as one of several types; nothing stays nothing where that is one of them."""
    if value is None and NoneType in hints:
        return None
    for hint in hints:
        try:
            return _value(value, hint, where, null_is_nan)
        except DataError:
            continue
    raise DataError(f"{where} is {value!r}, which is no {_words(whole)}")


def _is_sequence(origin: Any) -> bool:
    """Whether a type is one of lists or tuples; a text is neither."""
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _is_usual(value: float) -> bool:
    """Whether a number is one that arrays can hold, and no flag."""
    if isinstance(value, bool):
        return False
    return abs(value) < 1 << 63 if isinstance(value, int) else isfinite(value)


def _words(hint: Any) -> str:
    """A type as a message names it."""
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
