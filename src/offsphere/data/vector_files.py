"""Files of vectors: .npy (from the map), .npz, .parquet, .safetensors, tables, a store, or parts; with ids if any."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Vectors
from offsphere.base.checksums import refuse_other_bytes
from offsphere.base.errors import DataError, VectorError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.lazy_rows import LazyRows
from offsphere.base.reading.npy_files import lazy_npy, map_npy
from offsphere.base.reading.npz_files import npz_names, read_npz
from offsphere.base.reading.parquet_files import column_values, count_values, parquet_schema
from offsphere.base.reading.safetensors_files import BFLOAT16, map_tensors, widen_bfloat16
from offsphere.base.reading.tables import text_lines
from offsphere.base.remote_path import is_remote
from offsphere.data.id_column import IdColumn
from offsphere.data.list_columns import BLOCK, WIDEST, is_list
from offsphere.data.parquet_rows import parquet_rows
from offsphere.data.store import Store, is_store, open_store
from offsphere.data.vector_names import VectorNames
from offsphere.data.vector_parts import is_parts, is_parts_alone, read_parts
from offsphere.data.vector_tables import read_table_vectors
from offsphere.vectors.parted_rows import PartedRows, cut_rows, held_rows

ANY_NAMES = VectorNames()
AnyIds = TypeVar("AnyIds", bound=Sequence[str])
RowsAndIds = tuple[Vectors, Callable[[], Sequence[str] | None]]  # ids are read where somebody wants them


class VectorFile(NamedTuple):
    """The vectors of a file and, where they are known, their ids and token counts."""

    path: Path
    vectors: Vectors
    ids: Sequence[str] | None
    tokens: Counts | None = None  # how many the model saw of each text, where a store says
    stores: Sequence[Store | None] = (None,)  # the store that it is, or that each of its parts is

    def __repr__(self) -> str:
        """The path and the shape, not the numbers."""
        return f"VectorFile({self.path}: {self.vectors.shape}{', with ids' if self.ids is not None else ''})"


def of_split(side: str, split: str | None) -> str:
    """The name of a side's vectors in a folder: ``queries``, or ``queries-train`` for a split other than test."""
    return side if split in (None, "test") else f"{side}-{split}"


def find_file(folder: Path, side: str) -> Path | None:
    """The vectors of a side: ``queries.npy``, ``documents.parquet``, ... or a folder: a store, or parts."""
    paths = [folder / f"{side}{suffix}" for suffix in SUFFIXES if is_there(folder / f"{side}{suffix}")]
    paths += [folder / side] if is_store(folder / side) or is_parts(folder / side) else []
    if len(paths) > 1:
        raise DataError(f"{folder} has {' and '.join(path.name for path in paths)}: keep the one to use")
    return paths[0] if paths else None


def is_vectors(path: Path) -> bool:
    """Whether a path is vectors alone, and no task: a file of them, a store, or a folder of such parts."""
    return is_store(path) or (path.is_file() and path.suffix in SUFFIXES) or is_parts_alone(path)


def read_vectors(
    path: Path,
    *,
    verify: bool = True,
    names: VectorNames = ANY_NAMES,
    expected: Sequence[str] | None = None,
    lazy: bool = False,
    with_ids: bool = True,
) -> VectorFile:
    """Read a file, and the ids beside it (``documents.ids``, one a line) where it carries none; or open a store.

    Args:
        path: The file, or the folder of a store, or of parts that are files or stores.
        verify: Whether a store is compared with its digests; files of others have none.
        names: What ids and vectors are called in the file, where they are not called as usual.
        expected: The ids that it should have; a store that says it has these does not read them again.
        lazy: Whether rows that cannot be mapped (packed ones, and files elsewhere) are read only where they are asked
            for; they are then to be cut, and held.
        with_ids: Whether ids and token counts are read, and files compared with checksums beside them.

    Returns:
        The vectors, with ids and token counts where they are known.

    Raises:
        DataError: It cannot be read, is damaged, or has nothing of such a name.
        VectorError: It holds something else than vectors.
    """
    if is_parts(path):
        return VectorFile(
            path,
            *read_parts(
                path, lambda part: read_vectors(part, verify=verify, names=names, lazy=lazy, with_ids=with_ids)
            ),
        )
    if path.is_dir():
        names.refuse_any(path, "a store")
        store = open_store(path, verify=verify, lazy=lazy)
        if not with_ids:
            return VectorFile(path, store.vectors, None, None, [store])
        tokens = store.tokens
        known = expected if expected is not None and store.has_ids(expected) else store.ids
        return VectorFile(path, store.vectors, known, tokens if (tokens >= 0).all() else None, [store])
    vectors, read_own_ids = _READERS[path.suffix](path, names)
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):  # noqa: PLR2004
        raise VectorError(
            f"{path} holds {vectors.dtype} of shape {vectors.shape}: expected floats of shape (rows, dimensions)"
        )
    ids = read_own_ids() if with_ids else None
    if with_ids:
        ids = ids_beside(path, len(vectors)) if ids is None else _as_many(ids, path, len(vectors))
    return VectorFile(path, vectors if lazy else held_rows(vectors), ids)


def take_rows(file: VectorFile, rows: range, *, verify: bool = True) -> Vectors:
    """Some rows of a file, each read once.

    Args:
        file: As it was opened.
        rows: Which of its rows.
        verify: Whether those that lie in stores are compared with the digests they were stored with.

    Returns:
        The rows: a view where they are mapped, else read.

    Raises:
        DataError: A vector cannot be read, or is not the one that was stored.
    """
    taken = held_rows(cut_rows(file.vectors, rows.start, rows.stop))
    starts = file.vectors.starts.tolist() if isinstance(file.vectors, PartedRows) else [0, len(file.vectors)]
    for store, start, end in zip(file.stores, starts[:-1], starts[1:], strict=True):
        mine = range(max(rows.start, start), min(rows.stop, end))
        if verify and mine and store is not None:
            part = cut_rows(taken, mine.start - rows.start, mine.stop - rows.start)
            store.verify(range(mine.start - start, mine.stop - start), part)
    return taken


def ids_beside(path: Path, rows: int, beside: Path | None = None) -> IdColumn | None:
    """The ids beside a file of vectors; nothing where there are none.

    Args:
        path: The file of the vectors.
        rows: How many it has.
        beside: The file of the ids; one that ends in ``.ids`` instead of the other's ending unless said.

    Raises:
        DataError: The vectors, or their ids, are other bytes than the checksums beside them say.
        VectorError: There are not as many as rows.
    """
    beside = beside or path.with_suffix(".ids")
    refuse_other_bytes(path, beside)
    ids = read_ids(beside)
    return ids if ids is None else _as_many(ids, path, rows)


def read_ids(path: Path) -> IdColumn | None:
    """The ids of a file that has one a line; nothing where there is no such file."""
    return IdColumn.of(line.strip() for _, line in text_lines(path)) if is_there(path) else None


def _as_many(ids: AnyIds, path: Path, rows: int) -> AnyIds:
    if len(ids) != rows:
        raise VectorError(f"{path} has {rows} vectors but there are {len(ids)} ids: they must be as many")
    return ids


def _read_npy(path: Path, names: VectorNames) -> RowsAndIds:
    names.refuse_any(path, "an .npy file")
    return (cast("Vectors", lazy_npy(path)) if is_remote(path) else map_npy(path)), _no_ids


def _read_npz(path: Path, names: VectorNames) -> RowsAndIds:
    listed = npz_names(path)
    id_name = names.id_name(listed, path)
    name = names.vectors_name([name for name in listed if name != id_name], path)
    arrays = read_npz(path, [name] if id_name is None else [name, id_name])
    return arrays[name], (lambda: id_texts(arrays[id_name].tolist(), str(path))) if id_name is not None else _no_ids


def _read_safetensors(path: Path, names: VectorNames) -> RowsAndIds:
    names.refuse_ids(path, "a .safetensors file")
    tensors = map_tensors(path)
    kind, numbers = tensors[names.vectors_name(list(tensors), path)]
    if kind != BFLOAT16 or numbers.ndim != 2:  # noqa: PLR2004
        return numbers, _no_ids

    def widened(start: int, stop: int) -> Iterator[NDArray[np.float32]]:
        for first in range(start, stop, BLOCK):
            yield widen_bfloat16(numbers[first : min(first + BLOCK, stop)])

    rows, width = numbers.shape
    return cast("Vectors", LazyRows((rows, width), np.float32, widened, str(path))), _no_ids


def _read_parquet(path: Path, names: VectorNames) -> RowsAndIds:
    schema, rows = parquet_schema(path)
    name = names.vectors_name([field.name for field in schema if is_list(field.type)], path)
    if count_values(path, name) > rows * WIDEST:
        raise VectorError(f"{path} claims vectors of more than {WIDEST:,} dimensions: it is no such file")
    vectors = cast("Vectors", parquet_rows(path, name))
    id_name = names.id_name(schema.names, path)
    if id_name is None:
        return vectors, _no_ids
    return vectors, lambda: column_of_ids(column_values(path, id_name), str(path))


def _read_table(path: Path, names: VectorNames) -> RowsAndIds:
    vectors, ids = read_table_vectors(path, names)
    return vectors, lambda: ids


def _no_ids() -> None:
    """Give the ids of a file that has none in it."""


def id_texts(values: Sequence[Any], where: str) -> list[str]:
    """Ids as texts; numbers are written out, and what is neither a text nor a whole number is no id.

    Args:
        values: The ids in the order of the rows.
        where: Where they stand, for errors.

    Raises:
        DataError: One of them is no id.
    """
    return [_id_text(value, row, where) for row, value in enumerate(values)]


def column_of_ids(values: Iterable[Any], where: str) -> IdColumn:
    """Ids as ``id_texts`` reads them, of which there may be too many for a list.

    Args:
        values: The ids in the order of the rows.
        where: Where they stand, for errors.

    Raises:
        DataError: One of them is no id.
    """
    return IdColumn.of(_id_text(value, row, where) for row, value in enumerate(values))


def _id_text(value: Any, row: int, where: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{where}: the id in row {row} is not UTF-8 text") from error
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise DataError(f"{where}: the id in row {row} is {value!r}: ids are texts or whole numbers")
    return str(value)


_READERS: dict[str, Callable[[Path, VectorNames], RowsAndIds]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
    ".safetensors": _read_safetensors,
    ".csv": _read_table,
    ".tsv": _read_table,
}
TABLES = (".csv", ".tsv")  # which hold texts more often than vectors: only an import takes them for these
SUFFIXES = tuple(suffix for suffix in _READERS if suffix not in TABLES)
