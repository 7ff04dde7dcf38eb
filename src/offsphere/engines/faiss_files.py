"""Files of FAISS: the header that every index begins with, and flat indexes, written and read without the package.

A flat index is a header and the vectors, so it is streamed and mapped here: the package believes what a header claims,
and allocates it. (faiss/impl/index_write.cpp, ``write_index_header`` and ``write_index``)
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading

KIND = "a FAISS index"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # for inner product, L2, any metric
INNER_PRODUCT, L2 = 0, 1  # other metrics have an argument in the header
METRICS = (*range(5), *range(20, 26))
UNUSED = 1 << 20  # what stands in two fields that have no meaning any more
TRAINED = 1
_HEADER = struct.Struct("<4siqqqBi")  # kind, dimensions, vectors, unused, unused, trained, metric
_COUNT = struct.Struct("<Q")  # numbers that follow


class FaissHeader(NamedTuple):
    """What an index says of itself: its kind as four letters, and its size."""

    kind: str
    width: int
    rows: int
    metric: int

    @property
    def is_flat(self) -> bool:
        """Whether it is a header and the vectors."""
        return self.kind.encode() in FLAT


def flat_header(width: int, rows: int, metric: int) -> bytes:
    """What a flat index begins with."""
    start = _HEADER.pack(FLAT[metric], width, rows, UNUSED, UNUSED, TRAINED, metric)
    return start + _COUNT.pack(rows * width)


def read_header(path: Path) -> FaissHeader:
    """Read what an index says of itself.

    Raises:
        DataError: It is no index, or says what none can be.
    """
    with reading(path, KIND), open_file(path) as stream:
        start = stream.read(_HEADER.size)
    if len(start) < _HEADER.size or not start.startswith(b"I"):
        raise DataError(f"{path} is no FAISS index")
    kind, width, rows, _, _, _, metric = _HEADER.unpack(start)
    if metric not in METRICS:
        raise DataError(f"{path} is damaged: it has the metric {metric}, which FAISS does not have")
    if width < 1 or rows < 0 or 4 * rows > path.stat().st_size:
        raise DataError(f"{path} is empty, truncated or damaged: it claims {rows:,} vectors of {width:,} dimensions")
    return FaissHeader(kind.decode("ascii", "replace"), width, rows, metric)


def map_flat(path: Path) -> Vectors:
    """Map the vectors of a flat index.

    Raises:
        DataError: It does not have the size that it claims.
    """
    header = read_header(path)
    with reading(path, KIND), open_file(path) as stream:
        stream.seek(_HEADER.size + (4 if header.metric > L2 else 0))  # the argument of the metric
        (count,) = _COUNT.unpack(stream.read(_COUNT.size))
        size = path.stat().st_size - stream.tell()
        if header.rows < 1 or count != header.width * header.rows or size != 4 * count:
            raise DataError(
                f"{path} is empty, truncated or damaged: it claims {header.rows:,} vectors of {header.width:,} "
                f"dimensions, and has {size:,} bytes of them"
            )
        return np.memmap(stream, "<f4", "r", stream.tell(), (header.rows, header.width))
