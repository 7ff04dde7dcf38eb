"""Numpy's .npy files: the header is checked against the size of the file before a byte of the array is touched."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading
from offsphere.base.reading.lazy_rows import LazyRows, rows_elsewhere
from offsphere.base.remote_path import is_remote

KIND = "a .npy file"
MOST_AXES = 8


class NpyHeader(NamedTuple):
    """What a .npy file says of its array, and at which byte the array begins."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]
    offset: int

    @property
    def size(self) -> int:
        """How many bytes the array has."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def order(self) -> Any:
        """How rows and columns lie, in numpy's words."""
        return "F" if self.fortran_order else "C"


def map_npy(path: Path) -> NDArray[Any]:
    """Map the array of a .npy file into memory, read-only; of one that lies elsewhere all rows are read.

    Raises:
        DataError: It cannot be read, it is no .npy file, or it does not have the size that it claims.
    """
    if is_remote(path):
        return lazy_npy(path).read()
    with reading(path, KIND), open_file(path) as stream:
        header = read_npy_header(stream, path.stat().st_size, path)
        if header.size == 0:  # there is nothing to map
            return np.empty(header.shape, header.dtype, order=header.order)
        return np.memmap(stream, header.dtype, "r", header.offset, header.shape, header.order)


def lazy_npy(path: Path) -> LazyRows:
    """The rows of a .npy file that lies elsewhere, of which ranges of bytes are read when they are asked for.

    Raises:
        DataError: It cannot be read, it is no .npy file, holds no rows, or does not have the size that it claims.
    """
    with reading(path, KIND), open_file(path) as stream:
        header = read_npy_header(stream, path.stat().st_size, path)
    if len(header.shape) != 2 or header.fortran_order:  # noqa: PLR2004
        raise DataError(f"{path} holds no rows one after the other: save it as numpy.ascontiguousarray gives it")
    return rows_elsewhere(path, header.offset, (header.shape[0], header.shape[1]), header.dtype)


def read_npy(path: Path) -> NDArray[Any]:
    """Read a small array whole.

    Raises:
        DataError: It cannot be read, it is no .npy file, or it does not have the size that it claims.
    """
    return np.array(map_npy(path))


def read_npy_header(stream: BinaryIO, size: int, where: Path | str) -> NpyHeader:
    """Read and check the header of an array that has, with the header, so many bytes.

    Raises:
        DataError: The array holds objects, or its shape does not make so many bytes.
        ValueError: It is no header.
    """
    version = npy.read_magic(stream)
    read = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if read is None:
        raise DataError(f"{where} is a .npy file of version {version[0]}.{version[1]}: save it again with numpy.save")
    shape, fortran_order, dtype = read(stream)
    header = NpyHeader(shape, fortran_order, dtype, stream.tell())
    if dtype.hasobject or dtype.names is not None:
        raise DataError(f"{where} holds {dtype}: expected plain numbers or texts, nothing is unpickled")
    if len(shape) > MOST_AXES or any(not isinstance(axis, int) or axis < 0 for axis in shape):
        raise DataError(f"{where} claims the shape {shape}, which no array has")
    if header.offset + header.size != size:
        raise DataError(
            f"{where} is truncated or damaged: it claims {dtype} of shape {shape}, {header.offset + header.size:,} "
            f"bytes with its header, and has {size:,}"
        )
    return header
