"""Parquet files: small ones as a table, vectors in blocks. Checksums of pages are compared where a file has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from offsphere.base.cores import physical_memory
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading, refuse_bomb
from offsphere.base.reading.parquet_footer import column_chunks
from offsphere.base.remote_path import is_remote

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

KIND = "a parquet file"
BUFFER = 1 << 20  # bytes that are read ahead in each column, instead of a whole group of rows
BLOCK = 4_096  # rows that become objects of Python at a time
OBJECT = 40  # bytes that any of those takes at least, with its place in a list


def read_columns(path: Path, columns: Sequence[str]) -> dict[str, list[Any]]:
    """Read some columns as plain values.

    Args:
        path: The file.
        columns: Their names; all must be there.

    Returns:
        The values of each column, in the order of the rows.

    Raises:
        DataError: It cannot be read, or lacks a column.
    """
    values: dict[str, list[Any]] = {name: [] for name in columns}
    with reading(path, KIND), _opened(path) as file:
        _refuse_absent(file, path, columns)
        _refuse_more_than_memory(path, columns, OBJECT)
        for batch in file.iter_batches(batch_size=BLOCK, columns=list(columns), use_threads=False):
            for name in columns:
                values[name] += batch.column(name).to_pylist()
    return values


def column_values(path: Path, column: str) -> Iterator[Any]:
    """The plain values of one column, some of which are in memory at a time.

    Args:
        path: The file.
        column: Its name.

    Yields:
        Each value, in the order of the rows.

    Raises:
        DataError: It cannot be read, or lacks the column.
    """
    with reading(path, KIND), _opened(path) as file:
        _refuse_absent(file, path, [column])
        _refuse_more_than_memory(path, [column], 1)
        for batch in file.iter_batches(batch_size=BLOCK, columns=[column], use_threads=False):
            yield from batch.column(column).to_pylist()


def read_arrays(path: Path, columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Read some columns of numbers or flags as arrays; no value of them becomes an object of Python.

    Args:
        path: The file.
        columns: Their names; all must be there.

    Returns:
        An array for each column, in the order of the rows.

    Raises:
        DataError: It cannot be read, lacks a column, or a value is missing.
    """
    with reading(path, KIND), _opened(path) as file:
        _refuse_absent(file, path, columns)
        _refuse_more_than_memory(path, columns, 1)
        table = file.read(columns=list(columns))
        for name in columns:
            if table[name].null_count:
                raise DataError(f"{path}: column {name!r} lacks a value")
        return {name: table[name].to_numpy() for name in columns}


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a small table whole, a mapping for each row.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        _refuse_more_than_memory(path, file.schema_arrow.names, OBJECT)
        rows: list[dict[str, Any]] = file.read().to_pylist()
        return rows


def row_blocks(path: Path, columns: Sequence[str], rows: int) -> Iterator[list[dict[str, Any]]]:
    """Read some columns as a mapping for each row, at most so many rows at a time.

    Args:
        path: The file.
        columns: Their names; what the file does not have is left out.
        rows: Of a block.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        known = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(batch_size=rows, columns=known, use_threads=False):
            yield batch.to_pylist()


def parquet_schema(path: Path) -> tuple[pa.Schema, int]:
    """Tell which columns a file has, of which types, and how many rows.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        return file.schema_arrow, file.metadata.num_rows


def column_blocks(path: Path, column: str, rows: int) -> Iterator[pa.Array]:
    """Read one column in blocks of at most so many rows; only one of them is in memory.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        for batch in file.iter_batches(batch_size=rows, columns=[column], use_threads=False):
            yield batch.column(0)


def group_sizes(path: Path) -> list[int]:
    """Tell how many rows each group of rows has.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        return [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]


def group_blocks(path: Path, column: str, groups: Sequence[int], rows: int) -> Iterator[pa.Array]:
    """Read one column of some groups of rows, in blocks of at most so many rows.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
        batches = file.iter_batches(batch_size=rows, row_groups=list(groups), columns=[column], use_threads=False)
        for batch in batches:
            yield batch.column(0)


def count_values(path: Path, column: str) -> int:
    """Tell how many values a column says that it has, those inside its lists.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND):
        return sum(chunk.values for chunk in column_chunks(path) if chunk.column == column)


def _refuse_absent(file: pq.ParquetFile, path: Path, columns: Sequence[str]) -> None:
    """Raise where the file lacks a column."""
    lacking = [name for name in columns if name not in file.schema_arrow.names]
    if lacking:
        raise DataError(f"{path} has no column {lacking[0]!r}: it has {', '.join(file.schema_arrow.names) or 'none'}")


def _refuse_more_than_memory(path: Path, columns: Sequence[str], least: int) -> None:
    """Raise before anything is read where some columns, of at least so many bytes a value, do not fit into memory.

    A value that stands a billion times takes next to nothing in a file, so their number counts too.
    """
    chunks = [chunk for chunk in column_chunks(path) if chunk.column in columns]
    unpacked = sum(chunk.unpacked for chunk in chunks)
    size, memory = max(unpacked, least * sum(chunk.values for chunk in chunks)), physical_memory()
    if size > memory:
        raise DataError(f"{path} unpacks to {size:,} bytes or more, and this machine has {memory:,}")
    for chunk in chunks:
        refuse_bomb(path, chunk.unpacked, chunk.packed)


def _opened(path: Path) -> pq.ParquetFile:
    """Open a file so that groups of rows are read as they are needed."""
    import pyarrow.parquet as pq

    if is_remote(path):  # each request is a journey: what a group needs comes in few of them
        return pq.ParquetFile(open_file(path), pre_buffer=True, page_checksum_verification=True)
    open_file(path).close()  # whose errors are clearer
    return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True)
