"""Value keys: short texts that are equal for equal values, in this process, in another one and after a file.

What is grouped, merged or kept goes by such a key and never by an object's identity in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from offsphere.base.arrays import Arrays
from offsphere.base.digests import array_pieces, digest_of


def value_key(config: Any, arrays: Arrays | None = None) -> str:
    """Digest plain values and arrays to one short key.

    Every number of every array is read: compute it once for each object.

    Args:
        config: mappings, lists, texts, numbers and nothing; 1 and 1.0 are the same number.
        arrays: arrays by name; they are equal only where type and shape are too.
    """
    return digest_of(_pieces(config, arrays or {}))


def _pieces(config: Any, arrays: Arrays) -> Iterator[bytes]:
    """Give the bytes that a key depends on, piece by piece."""
    yield json.dumps(_with_floats(config), sort_keys=True).encode()
    yield from array_pieces(arrays)


def _with_floats(value: Any) -> Any:
    """Make every whole number a float, however deep it stands."""
    if isinstance(value, Mapping):
        return {name: _with_floats(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_with_floats(part) for part in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
