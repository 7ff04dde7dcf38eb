"""Results as plain values: the objects, lists, numbers and texts that JSON knows.

The standard library writes them. orjson is faster, but what we write is small, and it writes other bytes: 1e-7 for
1e-07, letters for their escapes, and null for a number that is not finite, which ``allow_nan=False`` refuses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite
from typing import Any

import numpy as np


def plain(value: Any) -> Any:  # noqa: PLR0911  # a line a kind
    """Turn a result into values that ``json.dumps`` writes.

    What has ``as_plain`` says itself what it becomes. Dataclasses, named tuples and mappings become objects; arrays
    and tuples become lists; numpy's numbers become Python's. JSON has no infinity and no "not a number": they become
    null.
    """
    if hasattr(value, "as_plain"):
        return value.as_plain()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if isfinite(value) else None
    return value
