"""Vectors in .csv and .tsv tables: a column a dimension, or a column of lists, ``[1, 2, 3]``, as pgvector writes them.

A table is read twice, so that it need not be held: once for its ids and the number of its rows, once for its numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.reading.tables import number, refuse_repeated, table_rows
from offsphere.base.spilled import gather_rows
from offsphere.data.vector_names import VectorNames

BLOCK = 4_096  # rows that are read at a time

NumberedRow = tuple[int, list[str]]  # with the number of its line


class TableLayout(NamedTuple):
    """Which columns of a table hold what."""

    ids: int | None
    lists: int | None  # the column of lists; nothing where each dimension has a column
    dimensions: Sequence[int]  # the columns of dimensions; none where there is a column of lists
    width: int


def read_table_vectors(path: Path, names: VectorNames) -> tuple[Vectors, list[str] | None]:
    r"""Read the vectors of a table, and their ids where it has a column of them.

    Args:
        path: The file; its first line names the columns.
        names: Which columns hold ids and vectors, where they are not called as usual.

    Returns:
        The vectors in float32, in memory where they are small, else mapped; and the ids.

    Raises:
        DataError: It is no table, a row has another number of fields, or there is no such column.
        VectorError: A field is no number or no list of them, or lists differ in length.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from offsphere.data.vector_names import VectorNames
        >>> from offsphere.data.vector_tables import read_table_vectors
        >>> path = Path(tempfile.mkdtemp()) / "vectors.csv"
        >>> _ = path.write_text('id,embedding\na,"[1, 2.5]"\nb,"[0, -1]"\n')
        >>> vectors, ids = read_table_vectors(path, VectorNames())
        >>> vectors.tolist(), ids
        ([[1.0, 2.5], [0.0, -1.0]], ['a', 'b'])
    """
    layout = _layout(path, names)
    ids, count = [], 0
    for _, row in table_rows(path)[1]:
        count += 1
        if layout.ids is not None:
            ids.append(row[layout.ids].strip())
    vectors = gather_rows(_blocks(path, layout), (count, layout.width), np.float32, str(path))
    return vectors, ids if layout.ids is not None else None


def _layout(path: Path, names: VectorNames) -> TableLayout:
    """Tell from the header and the first row what each column holds."""
    header, rows = table_rows(path)
    first = next(rows, None)
    if first is None:
        raise VectorError(f"{path} holds no vectors: it has no rows below its header")
    if all(map(_is_number, header)):
        raise VectorError(f"{path} begins with numbers: write a first line that names the columns (id, x1, x2, ...)")
    asked = VectorNames(*(name.strip().lower() if name is not None else None for name in names))
    id_name = asked.id_name(header, path)
    others = [column for column, name in enumerate(header) if name != id_name]
    lists = [column for column in others if first[1][column].lstrip().startswith("[")]
    refuse_repeated(path, header, [name for name in (id_name, asked.vectors) if name is not None])
    ids = header.index(id_name) if id_name is not None else None
    if asked.vectors is None and not lists:
        if not others:
            raise VectorError(f"{path} has a column of ids and no other: there are no vectors in it")
        return TableLayout(ids, None, others, len(others))
    name = asked.vectors_name([header[column] for column in others if asked.vectors or column in lists], path)
    column = next(column for column in others if header[column] == name)
    return TableLayout(ids, column, (), len(_list_fields(first[1][column], path, first[0], name)))


def _blocks(path: Path, layout: TableLayout) -> Iterator[Array]:
    """The numbers of a table, some rows at a time."""
    header, rows = table_rows(path)
    while block := list(islice(rows, BLOCK)):
        yield np.array([_numbers(row, layout, path, header) for row in block], np.float64).astype(np.float32)


def _numbers(row: NumberedRow, layout: TableLayout, path: Path, header: Sequence[str]) -> list[float]:
    """The numbers of one row."""
    line, fields = row
    if layout.lists is None:
        texts = [fields[column] for column in layout.dimensions]
        columns = [header[column] for column in layout.dimensions]
    else:
        name = header[layout.lists]
        texts = _list_fields(fields[layout.lists], path, line, name)
        columns = [name] * len(texts)
        if len(texts) != layout.width:
            raise VectorError(f"{path}:{line}: a vector of {len(texts)} dimensions, the first has {layout.width}")
    whole = "".join(texts)
    if whole.isascii() and "_" not in whole:
        try:
            return list(map(float, texts))
        except ValueError:
            pass  # the slow way below says which of them is no number
    try:
        return [
            number(text.strip(), f"{path}:{line}", f"column {column!r}:")
            for text, column in zip(texts, columns, strict=True)
        ]
    except DataError as error:
        raise VectorError(f"{error}: name the ids with --id-field, a column of lists with --vector-column") from error


def _list_fields(text: str, path: Path, line: int, column: str) -> list[str]:
    """The numbers of a list, as texts."""
    inside = text.strip()
    if not (inside.startswith("[") and inside.endswith("]")):
        raise VectorError(f"{path}:{line}: column {column!r} holds no list of numbers such as [1, 2, 3]")
    inside = inside[1:-1].strip()
    if not inside:
        raise VectorError(f"{path}:{line}: the vector has no dimensions")
    return inside.split(",")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
