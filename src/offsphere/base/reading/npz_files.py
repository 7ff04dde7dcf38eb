"""Numpy's .npz archives: what each member claims is checked before anything is unpacked. They are read whole."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from offsphere.base.cores import physical_memory
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import PIECE, open_file, reading, refuse_bomb
from offsphere.base.reading.npy_files import read_npy_header

KIND = "a .npz archive"
LONGEST_END = 22 + 65_535  # bytes of the record at the end of an archive, with its comment
UNCOUNTED = 65_535  # what stands there where there are more


def read_npz(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Read the arrays of an archive, all or those of some names that it has.

    Args:
        path: The archive.
        names: Those to read; the others are not touched.

    Returns:
        The arrays by name.

    Raises:
        DataError: It cannot be read, a member is no array, or claims more than it has or than this machine holds.
    """
    with reading(path, KIND), open_file(path) as stream:
        return _read_members(stream, path, names)


def npz_names(path: Path) -> list[str]:
    """List the arrays of an archive.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), open_file(path) as stream, _archive(stream, path) as archive:
        for info in archive.infolist():
            archive.open(info).close()  # which compares its name with the one beside its bytes
        return [_array_name(info) for info in archive.infolist()]


def _read_members(stream: BinaryIO, path: Path, names: Collection[str] | None) -> dict[str, NDArray[Any]]:
    with _archive(stream, path) as archive:
        members = [info for info in archive.infolist() if names is None or _array_name(info) in names]
        if len({info.filename for info in members}) != len(members):
            raise DataError(f"{path} holds two arrays of one name")
        total = sum(info.file_size for info in members)
        if total > physical_memory():
            raise DataError(f"{path} unpacks to {total:,} bytes, more than this machine has: store it as .npy")
        return {_array_name(info): _read_member(archive, info, path) for info in members}


def _archive(stream: BinaryIO, path: Path) -> zipfile.ZipFile:
    """Open an archive that begins as archives do; Python would also take one that stands behind other bytes."""
    if stream.read(4) not in (b"PK\x03\x04", b"PK\x05\x06"):  # the first member, or the end of an empty one
        raise DataError(f"{path} is truncated or not {KIND}: it does not begin as one")
    stream.seek(0)
    archive = zipfile.ZipFile(stream)
    listed, counted = len(archive.infolist()), _counted_members(stream)
    if listed != counted != UNCOUNTED:  # one bit in the list can hide a member behind another's comment
        archive.close()
        raise DataError(f"{path} is truncated or damaged: it says that it has {counted} arrays, and lists {listed}")
    return archive


def _counted_members(stream: BinaryIO) -> int:
    """How many members an archive says at its end that it has, where Python looks for it too."""
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - LONGEST_END))
    end = stream.read()
    return int(struct.unpack_from("<H", end, end.rindex(b"PK\x05\x06") + 10)[0])


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> NDArray[Any]:
    where = f"{path}, member {info.filename}"
    refuse_bomb(where, info.file_size, info.compress_size)
    if info.flag_bits & 1:
        raise DataError(f"{where} is encrypted")
    with archive.open(info) as member:
        header = read_npy_header(member, info.file_size, where)  # type: ignore[arg-type]  # it reads and tells
        numbers = np.empty(header.size, np.uint8)
        filled = 0
        while piece := member.read(PIECE):  # to the very end, where the checksum is compared
            if filled + len(piece) > header.size:
                break
            numbers[filled : filled + len(piece)] = np.frombuffer(piece, np.uint8)
            filled += len(piece)
    if filled != header.size or piece:
        raise DataError(f"{where} does not have the {header.size:,} bytes that it claims")
    return numbers.view(header.dtype).reshape(header.shape, order=header.order)


def _array_name(info: zipfile.ZipInfo) -> str:
    """The name of an array, as numpy gives it: that of its member without the ending."""
    return info.filename.removesuffix(".npy")


def npz_bytes(**arrays: NDArray[Any]) -> bytes:
    """Write arrays as an archive in memory, as ``numpy.savez`` does."""
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()
