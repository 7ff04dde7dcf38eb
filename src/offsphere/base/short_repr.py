"""What a prompt shows of a thing that holds arrays or long lists: its fields, each in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

LONGEST_FIELD, MOST_ENTRIES = 80, 6


def short_repr(thing: Any) -> str:
    """Write a dataclass or a named tuple by its fields: arrays by type and shape, long lists by their count.

    Give it to a class as ``__repr__ = short_repr``.

    Example:
        >>> from typing import NamedTuple
        >>> import numpy as np
        >>> from offsphere.base.short_repr import short_repr
        >>> class Sample(NamedTuple):
        ...     rows: object
        ...     names: list
        >>> short_repr(Sample(np.zeros((9, 4), np.float32), list("abcdefghij")))
        'Sample(rows=float32 (9, 4), names=10 entries)'
    """
    names = [field.name for field in fields(thing) if field.repr] if is_dataclass(thing) else list(thing._fields)
    inside = ", ".join(f"{name}={_short(getattr(thing, name))}" for name in names)
    return f"{type(thing).__name__}({inside})"


def _short(value: Any) -> str:
    """Write one value: an array by type and shape, a long list by its count, all else as it is or cut."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype} {tuple(value.shape)}" if value.shape else f"{value}"
    if isinstance(value, Mapping | list | tuple | set | frozenset) and len(value) > MOST_ENTRIES:
        return f"{len(value):,} entries"
    text = repr(value)
    return text if len(text) <= LONGEST_FIELD else f"{text[: LONGEST_FIELD - 4]} ..."
