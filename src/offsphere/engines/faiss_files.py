"""Files of FAISS: the header that every index begins with, and what a flat one is written with.

A flat index is a header and the vectors, so that it is streamed and not built in memory. (faiss/impl/index_write.cpp,
``write_index_header`` and ``write_index``)
"""

from __future__ import annotations

import struct
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading

KIND = "a FAISS index"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # for inner product, L2, any metric
INNER_PRODUCT, L2 = 0, 1  # other metrics have an argument in the header
OTHER_METRICS = MappingProxyType(
    {
        **dict(enumerate(("L1", "Linf", "Lp"), start=2)),
        **dict(enumerate(("Canberra", "BrayCurtis", "JensenShannon", "Jaccard", "NaNEuclidean", "GOWER"), start=20)),
    }
)
UNUSED = 1 << 20  # what stands in two fields that have no meaning any more
TRAINED = 1
HEADER = struct.Struct("<4siqqqBi")  # kind, dimensions, vectors, unused, unused, trained, metric
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
    start = HEADER.pack(FLAT[metric], width, rows, UNUSED, UNUSED, TRAINED, metric)
    return start + _COUNT.pack(rows * width)


def read_header(path: Path) -> FaissHeader:
    """Read what an index says of itself.

    Raises:
        DataError: It is no index, or says what none can be.
    """
    with reading(path, KIND), open_file(path) as stream:
        return header_of(stream.read(HEADER.size), path, path.stat().st_size)


def header_of(start: bytes, path: Path, size: int) -> FaissHeader:
    """What the first bytes of an index say.

    Args:
        start: These bytes.
        path: Of the file, for errors.
        size: How many bytes that has.

    Raises:
        DataError: It is no index, or says what none can be.
    """
    if len(start) < HEADER.size or not start.startswith(b"I"):
        raise DataError(f"{path} is no FAISS index")
    kind, width, rows, _, _, _, metric = HEADER.unpack(start)
    if metric not in (INNER_PRODUCT, L2, *OTHER_METRICS):
        raise DataError(f"{path} is damaged: it has the metric {metric}, which FAISS does not have")
    if width < 1 or rows < 0 or rows > 8 * size:  # not even a bit for each
        raise DataError(f"{path} is empty, truncated or damaged: it claims {rows:,} vectors of {width:,} dimensions")
    return FaissHeader(kind.decode("ascii", "replace"), width, rows, metric)
