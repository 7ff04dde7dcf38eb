"""Rows too many for memory wait in a file without a name: it is gone when nobody maps it, even after a kill."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.cache_home import cache_home
from offsphere.base.errors import DataError, OffsphereError

SMALL = 1 << 26  # bytes that stay in memory


def gather_rows(blocks: Iterable[NDArray[Any]], shape: tuple[int, int], dtype: Any, where: str) -> NDArray[Any]:
    """Gather blocks of rows into one array: in memory where it is small, else in a file that is mapped.

    Args:
        blocks: Arrays that have the rows in their order.
        shape: How many rows there are, and how many numbers each has.
        dtype: The type of the numbers.
        where: Where the rows come from, for errors.

    Returns:
        The array; read-only where it is mapped.

    Raises:
        DataError: The blocks have other rows than announced.
        OffsphereError: There is no room on the disk for them; that is known before the first one is read.
    """
    kind = np.dtype(dtype)
    size = shape[0] * shape[1] * kind.itemsize
    if size <= SMALL:
        array = np.empty(shape, kind)
        for start, block in _numbered(blocks, shape, where):
            array[start : start + len(block)] = block
        return array
    folder = cache_home()  # on a disk; the folder for temporary files may be memory
    try:
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if size > free:
            raise OffsphereError(f"{where} unpacks to {size:,} bytes, and {folder} has room for {free:,}")
        with tempfile.TemporaryFile(dir=folder) as stream:
            for _, block in _numbered(blocks, shape, where):
                stream.write(np.ascontiguousarray(block, kind).data)
            stream.flush()
            return np.memmap(stream, kind, "r", shape=shape)
    except OSError as error:
        raise OffsphereError(f"cannot unpack {where} into {folder}: {error.strerror}") from error


def _numbered(blocks: Iterable[NDArray[Any]], shape: tuple[int, int], where: str) -> Iterator[tuple[int, NDArray[Any]]]:
    """Give each block with the number of its first row, and check that together they have the announced shape."""
    start = 0
    for block in blocks:
        if block.shape[1:] != shape[1:] or start + len(block) > shape[0]:
            raise DataError(f"{where} has other rows than it says: expected {shape[0]:,} of {shape[1]} numbers")
        yield start, block
        start += len(block)
    if start != shape[0]:
        raise DataError(f"{where} has {start:,} rows, it says {shape[0]:,}")
