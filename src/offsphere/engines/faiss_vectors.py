"""The vectors that a FAISS index holds: flat, a graph, inverted lists, or any of these behind a map of ids.

They are read without the package, which believes every number of a file: it allocates what a header claims, and follows
the links of a graph wherever they lead. Here each is checked against the file and the others first, so that what
``read_faiss_rows`` accepts the package may be given. (faiss/impl/index_write.cpp)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index, Vectors
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading
from offsphere.base.spilled import gather_rows
from offsphere.engines.faiss_files import FLAT, HEADER, KIND, L2, FaissHeader, header_of

GRAPH, LISTS, MAPS = b"IHNf", b"IwFl", (b"IxMp", b"IxM2")
DEEPEST = 4  # a map of lists whose middles are in a graph over a flat index
BLOCK = 1024  # rows that are gathered at a time
_HASHED = 2  # the kind of the map from numbers to lists that is a table of pairs


class IndexRows(NamedTuple):
    """Vectors, and the numbers that the index knows them by; none where these are 0, 1, 2, ..."""

    vectors: Vectors
    numbers: Index | None


def holds_vectors(kind: str) -> bool:
    """Whether an index of this kind holds the vectors themselves, or may, behind a map."""
    return kind.encode() in (*FLAT, GRAPH, LISTS, *MAPS)


def read_faiss_rows(path: Path) -> IndexRows:
    """Read the vectors of an index, in the order of its numbers; those of a flat one and of a graph are mapped.

    Args:
        path: The file of the index.

    Returns:
        The vectors, and their numbers.

    Raises:
        DataError: The index is damaged, truncated, or holds codes and not the vectors.
    """
    with reading(path, KIND):
        open_file(path).close()
        if not path.stat().st_size:
            raise DataError(f"{path} is no FAISS index: it is empty")
        cursor = _Cursor(path)
        rows = _read_index(cursor, 0)
        if cursor.left:
            cursor.refuse(f"{cursor.left:,} bytes follow its end")
        if not len(rows.vectors):
            raise DataError(f"{path} has no vectors")
        return rows


class _Cursor:
    """A mapped file that is read from its start; nothing is read that is not there."""

    def __init__(self, path: Path) -> None:
        self.path, self.at = path, 0
        self.content = np.memmap(path, np.uint8, "r")

    @property
    def left(self) -> int:
        """Bytes that were not read yet."""
        return len(self.content) - self.at

    def refuse(self, why: str) -> NoReturn:
        """Say that the file is damaged."""
        raise DataError(f"{self.path} is truncated or damaged: {why}")

    def skip(self, size: int) -> int:
        """Go on by so many bytes; the byte where they begin."""
        if size > self.left:
            self.refuse(f"it claims {size:,} bytes at {self.at:,}, where {self.left:,} are left")
        start, self.at = self.at, self.at + size
        return start

    def array(self, dtype: str, count: int) -> NDArray[Any]:
        """Map so many numbers, which come next."""
        size = np.dtype(dtype).itemsize * count
        start = self.skip(size)
        return self.content[start : start + size].view(dtype)

    def number(self, dtype: str) -> int:
        """Read one number, which comes next."""
        return int(self.array(dtype, 1)[0])

    def counted(self, dtype: str) -> NDArray[Any]:
        """As many numbers as the one before them says."""
        return self.array(dtype, self.number("<u8"))

    def letters(self) -> bytes:
        """The four letters that a part begins with."""
        return self.array("u1", 4).tobytes()

    def header(self) -> FaissHeader:
        """What an index begins with."""
        start = self.skip(HEADER.size)
        header = header_of(self.content[start : self.at].tobytes(), self.path, len(self.content))
        if header.metric > L2:
            self.skip(4)  # the argument of the metric
        return header


def _read_index(cursor: _Cursor, depth: int) -> IndexRows:
    """Read one index, and those inside of it."""
    if depth > DEEPEST:
        cursor.refuse("it is nested too deep")
    header = cursor.header()
    kind = header.kind.encode()
    if kind in FLAT:
        rows = IndexRows(_flat(cursor, header), None)
    elif kind == GRAPH:
        _check_graph(cursor, header.rows)
        rows = _read_index(cursor, depth + 1)
    elif kind == LISTS:
        rows = _lists(cursor, header, depth)
    elif kind in MAPS:
        rows = _renumbered(cursor, _read_index(cursor, depth + 1))
    else:
        raise DataError(
            f"{cursor.path} is or has a FAISS index of the kind {header.kind!r}: it holds codes, not the vectors "
            "themselves, or holds them in a way that is not known here: import from where they came from"
        )
    if rows.vectors.shape != (header.rows, header.width):
        cursor.refuse(
            f"it claims {header.rows:,} vectors of {header.width:,} dimensions, and has {len(rows.vectors):,} of "
            f"{rows.vectors.shape[1]:,}"
        )
    return rows


def _flat(cursor: _Cursor, header: FaissHeader) -> Vectors:
    numbers = cursor.counted("<f4")
    if len(numbers) != header.rows * header.width:
        cursor.refuse(
            f"it claims {header.rows:,} vectors of {header.width:,} dimensions, and has {len(numbers):,} numbers"
        )
    return numbers.reshape(header.rows, header.width)


def _renumbered(cursor: _Cursor, rows: IndexRows) -> IndexRows:
    """Give rows the numbers of the map that stands behind them."""
    numbers = cursor.counted("<i8")
    if len(numbers) != len(rows.vectors):
        cursor.refuse(f"it has {len(rows.vectors):,} vectors and {len(numbers):,} ids of them")
    if rows.numbers is not None:
        cursor.refuse("what is behind its map of ids has other ids already")
    return IndexRows(rows.vectors, np.array(numbers, np.int64))


def _check_graph(cursor: _Cursor, rows: int) -> None:
    """Read the links of a graph, and see that none leads out of it."""
    cursor.counted("<f8")  # how likely each level is
    before = cursor.counted("<i4").astype(np.int64)  # links of a node below each level
    levels = cursor.counted("<i4").astype(np.int64)
    offsets = cursor.counted("<u8")
    links = cursor.counted("<i4")
    entry, highest = cursor.number("<i4"), cursor.number("<i4")
    cursor.array("<i4", 3)  # efConstruction, efSearch, and one that has no meaning any more
    good = (
        len(levels) == rows
        and len(offsets) == rows + 1
        and len(before) > 1
        and before[0] == 0
        and bool((np.diff(before) >= 0).all())
        and bool(((levels >= 1) & (levels < len(before))).all())
        and bool((offsets <= len(links)).all())
        and bool((np.diff(offsets.astype(np.int64)) == before[levels]).all())
        and int(offsets[0]) == 0
        and bool(((links >= -1) & (links < rows)).all())
        and (entry == -1 if rows == 0 else 0 <= entry < rows and highest == levels[entry] - 1)
    )
    if not good or not _levels_agree(before, levels, offsets.astype(np.int64), links):
        cursor.refuse("the links of its graph do not fit together")


def _levels_agree(before: Index, levels: Index, offsets: Index, links: Index) -> bool:
    """Whether a link on a level leads to a node that is on that level too."""
    for level in range(1, int(levels.max(initial=1))):
        nodes = np.flatnonzero(levels > level)
        ends = offsets[nodes][:, None] + np.arange(before[level], before[level + 1])
        reached = links[ends]
        if not (levels[reached[reached >= 0]] > level).all():
            return False
    return True


def _lists(cursor: _Cursor, header: FaissHeader, depth: int) -> IndexRows:
    """Gather the vectors of inverted lists, which hold them as they are, in the order of their numbers."""
    count = cursor.number("<u8")
    cursor.number("<u8")  # how many lists are looked into
    middles = _read_index(cursor, depth + 1)
    if len(middles.vectors) != count:
        cursor.refuse(f"it claims {count:,} lists and has the middles of {len(middles.vectors):,}")
    if cursor.number("u1") == _HASHED:
        cursor.skip(8 * cursor.number("<u8"))
        cursor.skip(16 * cursor.number("<u8"))
    else:
        cursor.counted("<i8")
    size = 4 * header.width
    starts, numbers = [], []
    for start, ids in _list_parts(cursor, count, size):
        starts.append(start + size * np.arange(len(ids)))
        numbers.append(ids)
    known = np.concatenate([np.zeros(0, np.int64), *numbers])
    if len(known) != header.rows:
        cursor.refuse(f"it claims {header.rows:,} vectors, and its lists have {len(known):,}")
    order = np.argsort(known, kind="stable")
    offsets = np.concatenate([np.zeros(0, np.int64), *starts])[order]
    blocks = (
        cursor.content[offsets[first : first + BLOCK, None] + np.arange(size)].view("<f4")
        for first in range(0, len(offsets), BLOCK)
    )
    vectors = gather_rows(blocks, (header.rows, header.width), np.float32, str(cursor.path))
    known = known[order]
    return IndexRows(vectors, None if (known == np.arange(len(known))).all() else known)


def _list_parts(cursor: _Cursor, count: int, size: int) -> Iterator[tuple[int, Index]]:
    """For each list the byte where its vectors begin, and their numbers."""
    if cursor.letters() != b"ilar" or cursor.number("<u8") != count or cursor.number("<u8") != size:
        cursor.refuse("its lists are not in it, or not as many, or not of such vectors")
    form, given = cursor.letters(), cursor.counted("<u8")
    if form == b"full" and len(given) == count:
        sizes = given
    elif form == b"sprs" and len(given) % 2 == 0:
        sizes = given[1::2]
    else:
        cursor.refuse("the sizes of its lists cannot be read")
    for rows in sizes.tolist():
        start = cursor.skip(rows * size)
        yield start, cursor.array("<i8", rows).astype(np.int64)
