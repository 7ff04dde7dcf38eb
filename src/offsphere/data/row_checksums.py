"""A checksum a row, by which a flipped byte in stored vectors is noticed, and in which row it is.

CRC-32 begun with the number of the row: a row that stands elsewhere has another. One a row, and not one a block of the
file, since a store is filled in any order and a killed one goes on; it costs four bytes beside a row of hundreds.
"""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index, Vectors

Checksums = NDArray[np.uint32]
BLOCK = 4_096  # rows that are read at a time


def row_checksums(rows: Index, vectors: Vectors) -> Checksums:
    """Compute the checksum of each vector.

    Args:
        rows: The number of each vector in the store.
        vectors: A row each, as they are stored.

    Returns:
        One checksum a row.

    Example:
        >>> import numpy as np
        >>> rows = np.ones((2, 3), np.float32)
        >>> one, other = row_checksums(np.array([0, 1]), rows)
        >>> bool(one == other)
        False
    """
    width = vectors.shape[1] * vectors.itemsize
    content = np.ascontiguousarray(vectors).reshape(-1).view(np.uint8).data
    starts = range(0, len(content), width)
    sums = [crc32(content[start : start + width], row) for start, row in zip(starts, rows.tolist(), strict=True)]
    return np.array(sums, np.uint32)


def first_damaged(vectors: Vectors, checksums: Checksums, first: int = 0) -> int | None:
    """Find the first row whose checksum is not the one that was kept; nothing where all are.

    Args:
        vectors: Of a store, all of them or some that stand one below the other.
        checksums: What ``row_checksums`` gave when they were written.
        first: The number of the first of them in the store.

    Returns:
        The number of the row in the store.

    Example:
        >>> import numpy as np
        >>> vectors = np.arange(12, dtype=np.float32).reshape(4, 3)
        >>> kept = row_checksums(np.arange(4), vectors)
        >>> vectors[2, 1] += 1e-6
        >>> first_damaged(vectors, kept)
        2
    """
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        differ = np.flatnonzero(
            row_checksums(np.arange(first + start, first + start + len(block)), block)
            != checksums[start : start + len(block)]
        )
        if len(differ):
            return first + start + int(differ[0])
    return None
