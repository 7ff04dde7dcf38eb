"""What a format is to the fuzzing: how an example is written, how it is read, and who says what the right answer is.

What we save ourselves carries digests: damaged, it is the same value or an error. Other people's files carry none, so
the right answer is what another reader gets from the damaged bytes. Where there is no other reader nobody judges: then
only another error than ours, a crash or a lack of memory is a failure, and the counts say so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SUBJECTS: dict[str, Subject] = {}
VECTORS = np.random.default_rng(0).standard_normal((12, 5)).astype(np.float32)
IDS = [f"d{row}" for row in range(12)]


def equal_in_every_bit(value: Any, right: Any) -> bool:
    """Whether two values are the same to the last bit."""
    return bool(exact(value) == exact(right))


@dataclass(frozen=True)
class Subject:
    """A format: an example in a folder, our reader, and another one; without another the value must not change."""

    write: Callable[[Path], None]
    read: Callable[[Path], Any]
    reference: Callable[[Path], Any] | None
    anything: bool = False  # whether nobody else can say what is right: any answer will do, but no other error
    same: Callable[[Any, Any], bool] = equal_in_every_bit  # whether our value is what the other reader says


def subject(name: str, *, anything: bool = False) -> Callable[[type], type]:
    """Register a class with ``write``, ``read`` and perhaps ``reference`` and ``same`` as a format."""

    def register(kind: type) -> type:
        same = getattr(kind, "same", equal_in_every_bit)
        SUBJECTS[name] = Subject(kind.write, kind.read, getattr(kind, "reference", None), anything, same)
        return kind

    return register


def exact(value: Any) -> Any:
    """A value in a form that equals another only where every bit does."""
    if isinstance(value, np.ndarray):
        return value.dtype.newbyteorder("=").str, value.shape, value.astype(value.dtype.newbyteorder("=")).tobytes()
    if isinstance(value, Mapping):
        return {name: exact(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):  # a list, or a column of ids
        return [exact(part) for part in value]
    return repr(value)
