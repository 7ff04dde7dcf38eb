"""A digest of everything that a task is, so that what was kept for one task is never taken for another's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from offsphere.base.digests import array_pieces, digest_of
from offsphere.data.image import Image
from offsphere.data.items import Item


def digest_of_task(task: Any) -> str:
    """Digest all fields of a task, whatever they are: a field that is added later is part of it by itself.

    Args:
        task: A dataclass, of fields that are texts, images, numbers, arrays, sequences, mappings or such dataclasses.

    Returns:
        A short text that is equal for equal tasks, whichever process they are in.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.data.task_digest import digest_of_task
        >>> one, same = (osp.PairTask("pairs", np.arange(3.0)) for _ in range(2))
        >>> digest_of_task(one) == digest_of_task(same)
        True
        >>> digest_of_task(one) == digest_of_task(osp.PairTask("pairs", np.arange(3.0) + 1))
        False
    """
    return digest_of(_pieces(task))


def _pieces(value: Any) -> Iterator[bytes]:
    """The bytes that tell a value from others; each piece says its kind, each group how many pieces follow."""
    if isinstance(value, str | Image):
        yield _item_piece(value)
    elif isinstance(value, np.ndarray):
        yield from array_pieces({"array": value})
    elif value is None or isinstance(value, bool | int | float | np.generic):
        yield repr(value).encode()
    elif is_dataclass(value):
        yield f"{type(value).__name__} of {len(fields(value))}".encode()
        for field in fields(value):
            yield field.name.encode()
            yield from _pieces(getattr(value, field.name))
    elif isinstance(value, Mapping):
        yield f"mapping of {len(value)}".encode()
        for name, part in value.items():
            yield from _pieces(name)
            yield from _pieces(part)
    elif isinstance(value, Sequence):
        yield f"sequence of {len(value)}".encode()
        for part in value:
            yield from _pieces(part)
    else:
        raise TypeError(f"a {type(value).__name__} has no digest")


def _item_piece(item: Item) -> bytes:
    """A text itself, or an image by its content: where it lies does not matter."""
    return (
        b"text " + item.encode("utf-8", "surrogatepass") if isinstance(item, str) else f"image {item.digest}".encode()
    )
