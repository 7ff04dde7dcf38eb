"""Parquet files: small ones as a table, vectors in blocks. Checksums of pages are compared where a file has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

KIND = "a parquet file"
BUFFER = 1 << 20  # bytes that are read ahead in each column, instead of a whole group of rows


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
    with reading(path, KIND):
        table = _read_table(path, columns)
        return {name: table[name].to_pylist() for name in columns}


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
    with reading(path, KIND):
        table = _read_table(path, columns)
        for name in columns:
            if table[name].null_count:
                raise DataError(f"{path}: column {name!r} lacks a value")
        return {name: table[name].to_numpy() for name in columns}


def _read_table(path: Path, columns: Sequence[str]) -> pa.Table:
    """Read some columns, all of which must be there."""
    with _opened(path) as file:
        lacking = [name for name in columns if name not in file.schema_arrow.names]
        if lacking:
            raise DataError(
                f"{path} has no column {lacking[0]!r}: it has {', '.join(file.schema_arrow.names) or 'none'}"
            )
        return file.read(columns=list(columns))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a small table whole, a mapping for each row.

    Raises:
        DataError: It cannot be read.
    """
    with reading(path, KIND), _opened(path) as file:
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


def _opened(path: Path) -> pq.ParquetFile:
    """Open a file so that groups of rows are read as they are needed."""
    import pyarrow.parquet as pq

    open_file(path).close()  # whose errors are clearer
    return pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False, page_checksum_verification=True)
