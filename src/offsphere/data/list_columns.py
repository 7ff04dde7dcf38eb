"""Columns of lists, as parquet and LanceDB have them: the lists of a column are the rows of an array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import VectorError
from offsphere.base.spilled import gather_rows

BLOCK, LARGEST_BLOCK = 16_384, 1 << 26  # rows, and bytes, that are unpacked at a time
WIDEST = 1 << 24  # dimensions that a vector can have


def is_list(kind: Any) -> bool:
    """Tell whether a column's type is one of lists."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def is_float_list(kind: Any) -> bool:
    """Tell whether a column's type is one of lists of floats."""
    import pyarrow as pa

    return is_list(kind) and bool(pa.types.is_floating(kind.value_type))


def gather_lists(kind: Any, rows: int, blocks: Callable[[int], Iterable[Any]], where: str) -> Vectors:
    """Gather the lists of a column as the rows of an array, block by block.

    Args:
        kind: The Arrow type of the column, one of lists.
        rows: How many there are.
        blocks: Reads the column in Arrow arrays of at most so many rows.
        where: Where the column stands, for errors.

    Returns:
        The array, in memory where it is small, else mapped.

    Raises:
        VectorError: There are no rows, a row has no list, a list is empty or lacks a number, or they differ in length.
    """
    layout = list_layout(kind, rows, blocks, where)
    return gather_rows(list_rows(blocks(layout.block), layout.width, where), (rows, layout.width), layout.dtype, where)


class ListLayout(NamedTuple):
    """What the lists of a column are: how long, of which numbers, and how many are unpacked at a time."""

    width: int
    dtype: np.dtype[Any]
    block: int


def list_layout(kind: Any, rows: int, blocks: Callable[[int], Iterable[Any]], where: str) -> ListLayout:
    """Look at the first list of a column, which all others have to be like.

    Args:
        kind: The Arrow type of the column, one of lists.
        rows: How many there are.
        blocks: Reads the column in Arrow arrays of at most so many rows.
        where: Where the column stands, for errors.

    Raises:
        VectorError: There are no rows, or the first has no list, or an empty one.
    """
    if not rows:
        raise VectorError(f"{where} holds no vectors: it has no rows")
    first = next(iter(blocks(1)), None)
    if first is None or not len(first):
        raise VectorError(f"{where} is truncated or damaged: it says that it has {rows:,} rows, and has none")
    if not first[0].is_valid:
        raise VectorError(f"{where}: row 0 has no vector")
    width = len(first[0])
    if not width:
        raise VectorError(f"{where}: the vector in row 0 has no dimensions")
    dtype = np.dtype(kind.value_type.to_pandas_dtype())
    return ListLayout(width, dtype, max(1, min(BLOCK, LARGEST_BLOCK // (width * dtype.itemsize))))


def list_rows(columns: Iterable[Any], width: int, where: str, start: int = 0) -> Iterator[Array]:
    """The lists of a column as blocks of rows, each of the same width.

    Args:
        columns: Arrow arrays of lists.
        width: Of each list.
        where: Where the column stands, for errors.
        start: The number of the first row, for errors.

    Raises:
        VectorError: A row has no list, or one that differs in length or lacks a number.
    """
    for column in columns:
        sizes = np.asarray(column.value_lengths().fill_null(-1))
        if (sizes != width).any():
            row = int(np.flatnonzero(sizes != width)[0])
            if sizes[row] < 0:
                raise VectorError(f"{where}: row {start + row} has no vector")
            raise VectorError(
                f"{where}: the vector in row {start + row} has {sizes[row]} dimensions, the first has {width}"
            )
        numbers = column.flatten()
        if numbers.null_count:
            raise VectorError(f"{where}: a vector from row {start} on lacks a number")
        yield numbers.to_numpy(zero_copy_only=False).reshape(-1, width)
        start += len(column)
