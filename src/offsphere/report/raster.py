"""A matrix as a picture: a grey PNG inside the page, written by hand since it takes ten lines, and Pillow 20 MB."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np

from offsphere.base.arrays import Array

SIDE = 400  # pixels


def picture(values: Array, low: float = -0.2, high: float = 1.0) -> str:
    """The matrix as the address of a picture (``data:image/png;base64,...``), dark where the values are high.

    Args:
        values: The matrix; more than 400 rows or columns are averaged down to as many.
        low: The value that is white, as is all below it.
        high: The value that is black, as is all above it.
    """
    shades = _smaller(np.clip((values - low) / (high - low), 0, 1))
    pixels = (255 * (1 - shades)).astype(np.uint8)
    rows = np.concatenate([np.zeros((len(pixels), 1), np.uint8), pixels], axis=1)  # each row begins with its filter
    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    parts = [_chunk(b"IHDR", header), _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)), _chunk(b"IEND", b"")]
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def _smaller(values: Array) -> Array:
    """The means over blocks of a matrix, so that no side has more than 400 pixels."""
    for axis in (0, 1):
        count = values.shape[axis]
        if count > SIDE:
            starts = np.linspace(0, count, SIDE + 1).astype(int)[:-1]
            sizes = np.diff(np.append(starts, count))
            sums = np.add.reduceat(values, starts, axis=axis)
            values = sums / (sizes[:, None] if axis == 0 else sizes[None, :])
    return values


def _chunk(kind: bytes, content: bytes) -> bytes:
    """A part of a PNG file: its size, its kind, its content and a checksum."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
