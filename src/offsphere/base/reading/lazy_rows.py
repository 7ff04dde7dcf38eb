"""Rows that are not read yet: of a table that has to be unpacked, or of a file that lies elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.reading.file_access import reading
from offsphere.base.remote_path import RemotePath
from offsphere.base.spilled import gather_rows

AT_ONCE = 1 << 23  # bytes that are asked for at a time from elsewhere
ReadRows = Callable[[int, int], Iterator[NDArray[Any]]]  # the rows from one number to another, in blocks


class LazyRows:
    """Rows whose shape and type are known, of which some are read when they are asked for.

    Args:
        shape: How many rows there are, and how many numbers each has.
        dtype: The type of the numbers.
        read: Reads the rows from one number to another, in blocks.
        where: What is read, for errors.

    Example:
        >>> import numpy as np
        >>> from offsphere.base.reading.lazy_rows import LazyRows
        >>> rows = LazyRows((100, 2), np.float32, lambda start, stop: iter([np.full((stop - start, 2), start)]), "rows")
        >>> rows.cut(40, 50)[2:4].tolist()
        [[42.0, 42.0], [42.0, 42.0]]
    """

    ndim = 2

    def __init__(self, shape: tuple[int, int], dtype: Any, read: ReadRows, where: str) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.where = where
        self._read = read

    def __repr__(self) -> str:
        """The shape and what would be read, not the numbers."""
        return f"LazyRows({self.where}: {self.shape})"

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def nbytes(self) -> int:
        """How many bytes the rows have."""
        return int(self.shape[0] * self.shape[1] * self.dtype.itemsize)

    def __getitem__(self, rows: slice) -> NDArray[Any]:
        """Read a range of rows."""
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise IndexError(f"{self!r} is read in ranges, not every {step} rows")
        return self.cut(start, max(start, stop)).read()

    def cut(self, start: int, stop: int) -> LazyRows:
        """Give a range of rows, of which nothing is read yet."""

        def read(first: int, last: int) -> Iterator[NDArray[Any]]:
            return self._read(start + first, start + last)

        return LazyRows((stop - start, self.shape[1]), self.dtype, read, self.where)

    def read(self) -> NDArray[Any]:
        """Read all rows: into memory where they are few, else into a file without a name that is mapped.

        Raises:
            DataError: They cannot be read, or are others than announced.
            OffsphereError: There is no room for them.
        """
        blocks = self._read(0, len(self)) if len(self) else iter(())
        return gather_rows(blocks, self.shape, self.dtype, self.where)


def rows_elsewhere(path: Path, offset: int, shape: tuple[int, int], dtype: Any) -> LazyRows:
    """Rows that lie one after the other in a file elsewhere: each range of them is a range of its bytes.

    Args:
        path: Of a file in one of the places that fsspec reads.
        offset: The byte at which the first row begins.
        shape: How many rows there are, and how many numbers each has.
        dtype: The type of the numbers.

    Returns:
        The rows, of which none is read yet.
    """
    kind = np.dtype(dtype)
    size = shape[1] * kind.itemsize
    at_once = max(1, AT_ONCE // max(size, 1))

    def read(start: int, stop: int) -> Iterator[NDArray[Any]]:
        for first in range(start, stop, at_once):
            last = min(first + at_once, stop)
            with reading(path, "a file that can be read"):
                content = cast("RemotePath", path).read_range(offset + first * size, offset + last * size)
            yield np.frombuffer(content, kind).reshape(last - first, shape[1])

    return LazyRows(shape, kind, read, str(path))
