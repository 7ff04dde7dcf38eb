"""Rows that lie in several arrays, read as one array without ever being joined: the vectors of a corpus in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.errors import VectorError
from offsphere.base.reading.lazy_rows import LazyRows


class PartedRows:
    """Several arrays or memory maps of one width, one below the other.

    It is asked as an array is: for its length, its shape, some rows. What is asked for is copied out of the parts that
    hold it; one slice that lies in a single part is a view of it, so that a map stays a map.

    Args:
        parts: Arrays of rows, or rows that are not read yet, all of one width; of different precisions the widest is
            that of the whole.
        names: What the parts are called, for errors.

    Raises:
        VectorError: There is no part, or a part has another width than the first.

    Example:
        >>> import numpy as np
        >>> from offsphere.vectors.parted_rows import PartedRows
        >>> rows = PartedRows([np.zeros((2, 3), np.float32), np.ones((4, 3), np.float32)])
        >>> rows.shape, rows[1:3].tolist()
        ((6, 3), [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
        >>> rows[[5, 0]][:, 0].tolist()
        [1.0, 0.0]
    """

    def __init__(self, parts: Sequence[NDArray[Any]], names: Sequence[str] = ()) -> None:
        if not parts:
            raise VectorError("there are no parts: give at least one array of rows")
        for number, part in enumerate(parts):
            if part.ndim != 2 or part.shape[1] != parts[0].shape[1]:  # noqa: PLR2004
                name = names[number] if names else f"part {number}"
                raise VectorError(
                    f"{name} has vectors of shape {part.shape}, {names[0] if names else 'the first part'} has "
                    f"{parts[0].shape[-1]} dimensions: all parts of a corpus are by one model"
                )
        self.parts = tuple(parts)
        self.starts = np.cumsum([0, *map(len, parts)])  # the number of the first row of each part, and of all rows
        self.dtype = np.result_type(*(part.dtype for part in parts))

    def __repr__(self) -> str:
        """The shape and the number of parts, not the numbers."""
        return f"PartedRows({len(self.parts)} parts: {self.shape})"

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are in all parts, and how many numbers each has."""
        return len(self), int(self.parts[0].shape[1])

    @property
    def ndim(self) -> int:
        """Two: rows and dimensions."""
        return 2

    @property
    def size(self) -> int:
        """How many numbers there are in all."""
        return self.shape[0] * self.shape[1]

    @property
    def nbytes(self) -> int:
        """How many bytes the parts have together."""
        return sum(part.nbytes for part in self.parts)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Give the rows, one by one."""
        for part in self.parts:
            yield from part

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        """Join the rows in memory, for whoever can do with nothing less."""
        return np.concatenate([np.asarray(part, dtype or self.dtype) for part in self.parts])

    def astype(self, dtype: Any) -> NDArray[Any]:
        """Join the rows in memory, in another precision."""
        return np.asarray(self, dtype)

    def tolist(self) -> list[list[float]]:
        """Give all rows as lists."""
        return [row for part in self.parts for row in part.tolist()]

    def __getitem__(self, key: Any) -> Any:
        """Give one row, some rows, or some columns of some rows, as the same key gives them of an array."""
        if isinstance(key, tuple):
            rows = self[key[0]]
            return rows[(slice(None),) * (rows.ndim - 1) + key[1:]]
        if isinstance(key, slice):
            return self._slice(*key.indices(len(self)))
        chosen = np.asarray(key)
        if chosen.ndim == 0 and chosen.dtype.kind in "iu":
            return self._gather(self._numbers(chosen[None]))[0]
        if chosen.dtype.kind == "b":
            if chosen.shape != (len(self),):
                raise IndexError(f"a mask of shape {chosen.shape} for {len(self)} rows")
            return self._gather(np.flatnonzero(chosen))
        if not chosen.size:
            return np.empty((*chosen.shape, self.shape[1]), self.dtype)
        return self._gather(self._numbers(chosen.ravel())).reshape(*chosen.shape, self.shape[1])

    def _numbers(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        """Give row numbers counted from the front; those that are not there are refused."""
        numbers = rows.astype(np.int64)
        numbers = np.where(numbers < 0, numbers + len(self), numbers)
        if ((numbers < 0) | (numbers >= len(self))).any():
            raise IndexError(f"there is no such row: there are {len(self)}")
        return numbers

    def _slice(self, start: int, stop: int, step: int) -> NDArray[Any]:
        """Give a range of rows: a view where it lies in one part."""
        if step != 1 or stop <= start:
            return self._gather(np.arange(start, stop, step))
        first = int(np.searchsorted(self.starts, start, "right")) - 1
        if stop <= self.starts[first + 1] and self.parts[first].dtype == self.dtype:
            return self.parts[first][start - self.starts[first] : stop - self.starts[first]]
        return np.concatenate([np.asarray(part, self.dtype) for part in self._between(start, stop)])

    def cut(self, start: int, stop: int) -> PartedRows:
        """Give a range of rows that stays in its parts, of which nothing is copied."""
        return PartedRows(self._between(start, stop) or [cut_rows(self.parts[0], 0, 0)])

    def _between(self, start: int, stop: int) -> list[NDArray[Any]]:
        """Give the rows of a range, as views of the parts in which they lie."""
        pieces = []
        for part, first in zip(self.parts, self.starts.tolist(), strict=False):
            mine = range(max(start - first, 0), min(max(stop - first, 0), len(part)))
            if mine:
                pieces.append(cut_rows(part, mine.start, mine.stop))
        return pieces

    def _gather(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Copy some rows out of their parts."""
        result = np.empty((len(rows), self.shape[1]), self.dtype)
        owners = np.searchsorted(self.starts, rows, "right") - 1
        for number in np.unique(owners).tolist():
            mine = owners == number
            result[mine] = self.parts[number][rows[mine] - self.starts[number]]
        return result


def cut_rows(rows: NDArray[Any], start: int, stop: int) -> NDArray[Any]:
    """A range of rows: a view of an array, rows that stay in their parts, or rows that are not read yet either."""
    some: Any = rows
    return cast("NDArray[Any]", some.cut(start, stop)) if isinstance(some, PartedRows | LazyRows) else rows[start:stop]


def held_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows as they can be worked on: those that were not read yet are read, and wait in memory or in a file."""
    some: Any = rows
    if isinstance(some, LazyRows):
        return some.read()
    if isinstance(some, PartedRows) and any(isinstance(part, LazyRows) for part in some.parts):
        return cast("NDArray[Any]", PartedRows([held_rows(part) for part in some.parts]))
    return rows
