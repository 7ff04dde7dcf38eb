"""Safetensors files: the header is read and checked here, and the numbers are mapped, not copied.

The package of that name reads a tensor whole; the format is a length, a JSON object and the numbers, so mapping them
takes no more than this (https://huggingface.co/docs/safetensors, "Format").
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading
from offsphere.base.reading.json_files import parse_json
from offsphere.base.reading.lazy_rows import LazyRows, rows_elsewhere
from offsphere.base.remote_path import is_remote
from offsphere.base.short_repr import short_repr

KIND = "a safetensors file"
BFLOAT16 = "BF16"  # numpy has no such type: its numbers are mapped as the upper halves of float32
_FLOATS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", BFLOAT16: "<u2"}
_SIGNED = {"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1"}
_UNSIGNED = {"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}
TYPES = _FLOATS | _SIGNED | _UNSIGNED
LONGEST_HEADER = 100_000_000  # bytes, as in the package


class Tensor(NamedTuple):
    """A tensor in a file: the name of its type there, and its numbers from the map, or still to be read elsewhere."""

    kind: str
    numbers: NDArray[Any]

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


def map_tensors(path: Path) -> dict[str, Tensor]:
    """Map all tensors of a file, read-only; those of a file elsewhere that have rows are read when they are asked for.

    Returns:
        The tensors by name, in the order of the file.

    Raises:
        DataError: It cannot be read, or its header does not describe the bytes that are there.
    """
    with reading(path, KIND), open_file(path) as stream:
        size = path.stat().st_size
        length = int.from_bytes(stream.read(8), "little")
        if size < 8 or length > min(size - 8, LONGEST_HEADER):  # noqa: PLR2004  # the length itself
            raise DataError(f"{path} is truncated or not {KIND}: its header does not fit into it")
        header = parse_json(stream.read(length), f"{path}, header")
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        _check_spans(path, entries, size - 8 - length)
        return {name: _map(path, entry, 8 + length) for name, entry in entries.items()}


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Read the tensors of a small file whole; the type of each must be one that numpy has.

    Raises:
        DataError: It cannot be read, its header is wrong, or a tensor is bfloat16.
    """
    tensors = map_tensors(path)
    for name, tensor in tensors.items():
        if tensor.kind == BFLOAT16:
            raise DataError(f"{path}: tensor {name!r} is bfloat16, which numpy does not have")
    return {name: np.array(_here(tensor.numbers)) for name, tensor in tensors.items()}


def widen_bfloat16(halves: NDArray[Any]) -> NDArray[np.float32]:
    """Write bfloat16 numbers as float32, of which they are the upper halves."""
    return (halves.astype(np.uint32) << 16).view(np.float32)


def _map(path: Path, entry: dict[str, Any], start: int) -> Tensor:
    kind, shape = entry["dtype"], tuple(entry["shape"])
    if not prod(shape):
        return Tensor(kind, np.empty(shape, TYPES[kind]))
    first = start + entry["data_offsets"][0]
    if is_remote(path):
        as_rows = (shape[0], prod(shape[1:])) if shape else (1, 1)
        lazy = rows_elsewhere(path, first, as_rows, TYPES[kind])
        return Tensor(kind, cast("NDArray[Any]", lazy if len(shape) == 2 else lazy.read().reshape(shape)))  # noqa: PLR2004
    return Tensor(kind, np.memmap(path, TYPES[kind], "r", first, shape))


def _here(numbers: Any) -> NDArray[Any]:
    return numbers.read() if isinstance(numbers, LazyRows) else np.asarray(numbers)


def _check_spans(path: Path, entries: dict[str, Any], size: int) -> None:
    """Refuse tensors that are of an unknown type, or that do not lie one after the other and fill the file."""
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        shape = entry["shape"]
        if entry["dtype"] not in TYPES:
            raise DataError(f"{path}: tensor {name!r} is of type {entry['dtype']}, which is none of {', '.join(TYPES)}")
        if not all(type(axis) is int and axis >= 0 for axis in [*shape, first, last]):
            raise DataError(f"{path}: tensor {name!r} claims the shape {shape} at {first} to {last}")
        if first != end or last - first != prod(shape) * np.dtype(TYPES[entry["dtype"]]).itemsize:
            raise DataError(f"{path}: tensor {name!r} of shape {shape} does not fill the bytes {first:,} to {last:,}")
        end = last
    if end != size:
        raise DataError(f"{path} is truncated or damaged: its tensors have {end:,} bytes, the file {size:,}")
