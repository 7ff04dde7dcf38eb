"""Options by the types of their fields: whether a value fits, and how a value is read from a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from math import isfinite
from types import MappingProxyType, NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

READ = "read"  # in the metadata of a field that is read by a function of its own, which checks what it reads

_FITS: Mapping[type, tuple[type, ...]] = MappingProxyType(
    {bool: (bool,), int: (int,), float: (int, float), str: (str,)}
)

_FLAGS: Mapping[str, bool] = MappingProxyType({"true": True, "false": False})


class OptionField(NamedTuple):
    """A field of options: its name, its type, and the function that reads it where it has one of its own."""

    name: str
    hint: Any
    reader: Callable[[str], Any] | None = None

    @property
    def optional(self) -> bool:
        """Whether the field may be left open."""
        return NoneType in get_args(self.hint)

    @property
    def kind(self) -> Any:
        """The type of a value that is given; of several, the first."""
        return self.hint if get_origin(self.hint) is tuple else (*get_args(self.hint), self.hint)[0]

    @property
    def written(self) -> str:
        """The type as one would write it."""
        return self.hint.__name__ if isinstance(self.hint, type) else str(self.hint)

    def fits(self, value: Any) -> bool:
        """Whether a value is of the field's type; whole numbers are numbers too, but true and false are not."""
        if self.reader is not None or (value is None and self.optional):
            return True
        if get_origin(self.kind) is tuple:
            part = get_args(self.kind)[0]
            return isinstance(value, tuple) and all(_is_of(part, inner) for inner in value)
        return self.kind not in _FITS or _is_of(self.kind, value)

    def read(self, text: str) -> Any:
        """The value that a text stands for; raises ValueError, KeyError or OverflowError where it stands for none."""
        if text == "none" and self.optional:
            return None
        if self.reader is not None:
            return self.reader(text)
        if get_origin(self.kind) is tuple:
            part = get_args(self.kind)[0]
            return tuple(part(value) for value in text.split(","))
        read: Mapping[type, Callable[[str], Any]] = {bool: _FLAGS.__getitem__, int: _whole, float: float}
        return read.get(self.kind, str)(text)


def _is_of(kind: type, value: Any) -> bool:
    """Whether a value is of a plain type; a number must be one that can be computed with."""
    if not isinstance(value, _FITS[kind]) or (kind is not bool and isinstance(value, bool)):
        return False
    if isinstance(value, float):
        return isfinite(value)
    return not isinstance(value, int) or abs(value) < 1 << 63


def _whole(text: str) -> int:
    """Read a whole number, however it is written: 1000, 1e3."""
    value = float(text)
    if not value.is_integer():
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdigit() else int(value)


def option_fields(options: type) -> Mapping[str, OptionField]:
    """The fields of a dataclass of options, by name."""
    return _option_fields(options)


@cache  # resolving types takes milliseconds, and a grid makes hundreds of recipes
def _option_fields(options: type) -> Mapping[str, OptionField]:
    hints = get_type_hints(options)
    return MappingProxyType(
        {field.name: OptionField(field.name, hints[field.name], field.metadata.get(READ)) for field in fields(options)}
    )
