"""Files of vectors: .npy (read from the map), .npz, .parquet, .safetensors, or a store; with ids if they have any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Counts, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.reading.npy_files import map_npy
from offsphere.base.reading.npz_files import npz_names, read_npz
from offsphere.base.reading.parquet_files import column_blocks, parquet_schema, read_columns
from offsphere.base.reading.safetensors_files import BFLOAT16, map_tensors, widen_bfloat16
from offsphere.base.reading.tables import text_lines
from offsphere.base.spilled import gather_rows
from offsphere.base.unfinished import refuse_unfinished
from offsphere.data.store import is_store, open_store

ID_COLUMNS = ("id", "_id", "ids")
BLOCK = 16_384  # rows that are unpacked at a time


class VectorFile(NamedTuple):
    """The vectors of a file and, where they are known, their ids and token counts."""

    path: Path
    vectors: Vectors
    ids: Sequence[str] | None
    tokens: Counts | None = None  # how many the model saw of each text, where a store says

    def __repr__(self) -> str:
        """The path and the shape, not the numbers."""
        return f"VectorFile({self.path}: {self.vectors.shape}{', with ids' if self.ids is not None else ''})"


def of_split(side: str, split: str | None) -> str:
    """The name of a side's vectors in a folder: ``queries``, or ``queries-train`` for a split other than test."""
    return side if split in (None, "test") else f"{side}-{split}"


def find_file(folder: Path, side: str) -> Path | None:
    """The vectors of a side: ``queries.npy``, ``documents.parquet``, ... or a store in a folder of that name."""
    paths = [folder / f"{side}{suffix}" for suffix in SUFFIXES if (folder / f"{side}{suffix}").is_file()]
    paths += [folder / side] if is_store(folder / side) else []
    if len(paths) > 1:
        raise DataError(f"{folder} has {' and '.join(path.name for path in paths)}: keep the one to use")
    return paths[0] if paths else None


def is_vectors(path: Path) -> bool:
    """Whether a path is vectors alone, and no task: a file of them, or a store."""
    return is_store(path) or (path.is_file() and path.suffix in SUFFIXES)


def read_vectors(path: Path) -> VectorFile:
    """Read a file, and the ids beside it (``documents.ids``, one a line) where it carries none; or open a store."""
    if path.is_dir():
        store = open_store(path)
        tokens = store.tokens
        return VectorFile(path, store.vectors, store.ids, tokens if (tokens >= 0).all() else None)
    refuse_unfinished(path)
    vectors, ids = _READERS[path.suffix](path)
    if vectors.ndim != 2 or not np.issubdtype(vectors.dtype, np.floating):  # noqa: PLR2004
        raise VectorError(
            f"{path} holds {vectors.dtype} of shape {vectors.shape}: expected floats of shape (rows, dimensions)"
        )
    if ids is None:
        ids = read_ids(path.with_suffix(".ids"))
    if ids is not None and len(ids) != len(vectors):
        raise VectorError(f"{path} has {len(vectors)} vectors but there are {len(ids)} ids: they must be as many")
    return VectorFile(path, vectors, ids)


def read_ids(path: Path) -> list[str] | None:
    """The ids of a file that has one a line; nothing where there is no such file."""
    return [line.strip() for _, line in text_lines(path)] if path.is_file() else None


def _read_npy(path: Path) -> tuple[Vectors, None]:
    return map_npy(path), None


def _read_npz(path: Path) -> tuple[Vectors, list[str] | None]:
    names = npz_names(path)
    id_name = next((name for name in ID_COLUMNS if name in names), None)
    name = _vectors_name([name for name in names if name not in ID_COLUMNS], path)
    arrays = read_npz(path, [name] if id_name is None else [name, id_name])
    return arrays[name], None if id_name is None else _id_texts(arrays[id_name].tolist(), path)


def _read_safetensors(path: Path) -> tuple[Vectors, None]:
    tensors = map_tensors(path)
    kind, numbers = tensors[_vectors_name(list(tensors), path)]
    if kind != BFLOAT16 or numbers.ndim != 2:  # noqa: PLR2004
        return numbers, None
    widened = (widen_bfloat16(numbers[start : start + BLOCK]) for start in range(0, len(numbers), BLOCK))
    return gather_rows(widened, numbers.shape, np.float32, str(path)), None


def _read_parquet(path: Path) -> tuple[Vectors, list[str] | None]:
    schema, rows = parquet_schema(path)
    name = _vectors_name([field.name for field in schema if _is_list(field.type)], path)
    if not rows:
        raise VectorError(f"{path} holds no vectors: it has no rows")
    kind = schema.field(name).type.value_type.to_pandas_dtype()
    first = next(column_blocks(path, name, 1))
    width = len(first[0]) if first[0].is_valid else 0
    vectors = gather_rows(_list_rows(path, name, width), (rows, width), kind, str(path))
    id_name = next((column for column in ID_COLUMNS if column in schema.names), None)
    return vectors, None if id_name is None else _id_texts(read_columns(path, [id_name])[id_name], path)


def _list_rows(path: Path, name: str, width: int) -> Iterator[Array]:
    """The lists of a column as blocks of rows, each of the same width."""
    start = 0
    for column in column_blocks(path, name, BLOCK):
        sizes = np.asarray(column.value_lengths().fill_null(-1))
        if (sizes != width).any():
            row = int(np.flatnonzero(sizes != width)[0])
            if sizes[row] < 0:
                raise VectorError(f"{path}: row {start + row} has no vector")
            raise VectorError(
                f"{path}: the vector in row {start + row} has {sizes[row]} dimensions, the first has {width}"
            )
        numbers = column.flatten()
        if numbers.null_count:
            raise VectorError(f"{path}: a vector from row {start} on lacks a number")
        yield numbers.to_numpy(zero_copy_only=False).reshape(-1, width)
        start += len(column)


def _is_list(kind: Any) -> bool:
    """Whether a column's type is one of lists."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _vectors_name(names: list[str], path: Path) -> str:
    """The name of the vectors: ``vectors``, or the only one there is; nobody says which of several others they are."""
    if "vectors" in names:
        return "vectors"
    if len(names) != 1:
        listed = ", ".join(names) or "nothing"
        raise VectorError(f"{path} holds {listed}: name the one with the vectors 'vectors'")
    return names[0]


def _id_texts(values: Sequence[Any], path: Path) -> list[str]:
    """Ids as texts; numbers are written out, and what is neither a text nor a whole number is no id."""
    return [_id_text(value, row, path) for row, value in enumerate(values)]


def _id_text(value: Any, row: int, path: Path) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: the id in row {row} is not UTF-8 text") from error
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise DataError(f"{path}: the id in row {row} is {value!r}: ids are texts or whole numbers")
    return str(value)


_READERS: dict[str, Callable[[Path], tuple[Vectors, list[str] | None]]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
    ".safetensors": _read_safetensors,
}
SUFFIXES = tuple(_READERS)
