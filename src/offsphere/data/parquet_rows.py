"""Vectors of a parquet file, unpacked group by group: a range of rows reads only the groups in which it lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Vectors
from offsphere.base.errors import DataError
from offsphere.base.reading.lazy_rows import LazyRows
from offsphere.base.reading.parquet_files import column_blocks, group_blocks, group_sizes, parquet_schema
from offsphere.base.spilled import SMALL, gather_rows
from offsphere.data.list_columns import ListLayout, list_layout, list_rows


def parquet_rows(path: Path, column: str) -> LazyRows:
    """The vectors of a column of lists, of which nothing but the first is unpacked yet.

    Groups that were unpacked last are kept, so that ranges that come one after the other unpack each group once, also
    where one begins or ends within it.

    Args:
        path: The file.
        column: Of lists of numbers.

    Returns:
        The rows.

    Raises:
        DataError: It cannot be read.
        VectorError: The first row has no vector.
    """
    schema, rows = parquet_schema(path)
    layout = list_layout(schema.field(column).type, rows, lambda block: column_blocks(path, column, block), str(path))
    sizes = group_sizes(path)
    if min(sizes, default=0) < 0 or sum(sizes) != rows:
        raise DataError(f"{path} is damaged: it says that it has {rows:,} rows, and its groups have {sum(sizes):,}")
    groups = _Groups(path, column, sizes, layout)
    return LazyRows((rows, layout.width), layout.dtype, groups.read, str(path))


class _Groups:
    """The groups of rows of a file; those that were unpacked last are kept."""

    def __init__(self, path: Path, column: str, sizes: Sequence[int], layout: ListLayout) -> None:
        self.path, self.column = path, column
        self.width, self.dtype, self.block = layout
        self.starts = np.cumsum([0, *sizes])
        self.kept: dict[int, Vectors] = {}

    def read(self, start: int, stop: int) -> Iterator[NDArray[Any]]:
        """The rows from one number to another, in blocks."""
        first = int(np.searchsorted(self.starts, start, "right")) - 1
        for number in range(first, len(self.starts) - 1):
            begin, end = self.starts[number : number + 2].tolist()
            if begin >= stop:
                return
            mine = slice(max(start, begin) - begin, min(stop, end) - begin)
            if mine == slice(0, end - begin) and number not in self.kept and self._bytes(end - begin) > SMALL:
                yield from self._unpacked(number)  # too large to be kept for nothing
            elif mine.stop > mine.start:
                rows = self._group(number)[mine]
                yield from (rows[at : at + self.block] for at in range(0, len(rows), self.block))

    def _group(self, number: int) -> Vectors:
        """All rows of a group: as they were kept, or unpacked now."""
        if number not in self.kept:
            shape = (int(self.starts[number + 1] - self.starts[number]), self.width)
            self.kept[number] = gather_rows(self._unpacked(number), shape, self.dtype, str(self.path))
            while len(self.kept) > 1 and sum(rows.nbytes for rows in self.kept.values()) > SMALL:
                del self.kept[next(iter(self.kept))]
        return self.kept[number]

    def _unpacked(self, number: int) -> Iterator[NDArray[Any]]:
        """The rows of a group, read from the file."""
        columns = group_blocks(self.path, self.column, [number], self.block)
        return list_rows(columns, self.width, str(self.path), int(self.starts[number]))

    def _bytes(self, rows: int) -> int:
        return rows * self.width * self.dtype.itemsize
