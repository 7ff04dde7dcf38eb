"""Vectors and texts as Postgres sends and takes them in binary (pgvector's ``vector_recv``, ``halfvec_recv``)."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError, VectorError

COPY_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!II", 0, 0)
COPY_END = struct.pack("!h", -1)
LONGEST_ID = 2_600  # bytes: an entry of an index of texts has no room for more
PIECE = 1_024  # rows that are sent at a time
WIRE: dict[str, np.dtype[Any]] = {"vector": np.dtype(">f4"), "halfvec": np.dtype(">f2")}
NATIVE: dict[str, np.dtype[Any]] = {"vector": np.dtype(np.float32), "halfvec": np.dtype(np.float16)}


def copied_rows(ids: Sequence[str], rows: NDArray[Any], kind: str) -> Iterator[bytes]:
    """Write ids and vectors as ``COPY ... FROM STDIN (FORMAT BINARY)`` takes them.

    Args:
        ids: Of the rows.
        rows: Numbers that fit into the type.
        kind: ``vector`` or ``halfvec``.

    Raises:
        DataError: Postgres cannot hold an id.
    """
    names = encoded_ids(ids)
    yield COPY_HEADER
    width = rows.shape[1]
    head = struct.pack("!IHH", 4 + width * WIRE[kind].itemsize, width, 0)
    for start in range(0, len(rows), PIECE):
        numbers = rows[start : start + PIECE].astype(WIRE[kind])
        parts = []
        for name, row in zip(names[start : start + PIECE], numbers, strict=True):
            parts += [struct.pack("!HI", 2, len(name)), name, head, row.tobytes()]
        yield b"".join(parts)
    yield COPY_END


def received_rows(values: Sequence[bytes | None], names: Sequence[str], width: int, kind: str) -> NDArray[Any]:
    """Read vectors as a cursor gives them in binary.

    Raises:
        VectorError: A row has no vector, or one of another dimension.
    """
    size = 4 + width * WIRE[kind].itemsize
    for name, value in zip(names, values, strict=True):
        if value is None:
            raise VectorError(f"the row {name!r} has no vector: give it one, or remove it")
        if len(value) != size:
            own_width = (len(value) - 4) // WIRE[kind].itemsize
            raise VectorError(f"the vector of the row {name!r} has {own_width} dimensions, the first has {width}")
    whole = np.frombuffer(b"".join(value for value in values if value is not None), np.uint8)
    numbers = np.ascontiguousarray(whole.reshape(len(values), size)[:, 4:]).view(WIRE[kind])
    return numbers.astype(NATIVE[kind])


def encoded_ids(ids: Sequence[str]) -> list[bytes]:
    """Ids in UTF-8.

    Raises:
        DataError: Postgres cannot hold one of them.
    """
    return [_encoded(name) for name in ids]


def _encoded(name: str) -> bytes:
    """An id in UTF-8; an error where Postgres cannot hold it."""
    if "\0" in name:
        raise DataError(f"Postgres cannot hold the id {name!r}: it has a zero byte: give that document another")
    try:
        content = name.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"Postgres cannot hold the id {name!r}: it has a lone surrogate, half a character") from error
    if len(content) > LONGEST_ID:
        raise DataError(
            f"Postgres cannot hold the id {name[:30]!r}...: it has {len(content):,} bytes, and an index of ids has room"
            f" for {LONGEST_ID:,}: give that document another"
        )
    return content
