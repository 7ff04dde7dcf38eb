"""idx files, in which MNIST and its successors come: a type, the shape, and numbers; packed with gzip or not."""

from __future__ import annotations

import gzip
import math
import struct
from io import BufferedReader
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading, refuse_bomb

BYTES = 8  # the type of unsigned bytes, the only one that pictures and labels have
MOST = 1 << 32  # bytes of numbers


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Read an array of unsigned bytes.

    Args:
        path: The file; one that ends in ``.gz`` is unpacked.

    Returns:
        The array in the shape that the file says.

    Raises:
        DataError: It is no such file, is of another type, or does not have the bytes that it claims.
    """
    with reading(path, "an idx file"), open_file(path) as stream:
        if path.suffix == ".gz":
            with gzip.open(stream) as unpacked:
                return _numbers(unpacked, path, packed=True)
        return _numbers(stream, path, packed=False)


def _numbers(stream: BufferedReader | gzip.GzipFile, path: Path, *, packed: bool) -> NDArray[np.uint8]:
    zero, kind, dimensions = struct.unpack(">HBB", stream.read(4))
    if zero != 0 or kind != BYTES or not dimensions:
        raise DataError(f"{path} is no idx file of unsigned bytes")
    shape = struct.unpack(f">{dimensions}I", stream.read(4 * dimensions))
    size = math.prod(shape)
    if size > MOST:
        raise DataError(f"{path} claims {size:,} numbers: it is no such file")
    there = path.stat().st_size
    if packed:
        refuse_bomb(path, size, there)
    content = stream.read(size + 1) if packed or size <= there else b""
    if len(content) != size:
        raise DataError(f"{path} does not have the {size:,} bytes that it claims")
    return np.frombuffer(content, np.uint8).reshape(shape)
