"""Files of vectors: .npy (read from the map), .npz, .parquet, .safetensors, or a store; with ids if they have any."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from offsphere.base.arrays import Counts, Vectors
from offsphere.base.errors import DataError, VectorError
from offsphere.base.tables import text_lines
from offsphere.data.store import is_store, open_store

ID_COLUMNS = ("id", "_id", "ids")


class VectorFile(NamedTuple):
    """The vectors of a file and, where they are known, their ids and token counts."""

    path: Path
    vectors: Vectors
    ids: Sequence[str] | None
    tokens: Counts | None = None  # how many the model saw of each text, where a store says


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
    try:
        vectors, ids = _READERS[path.suffix](path)
    except VectorError:
        raise
    except (OSError, ValueError, EOFError, KeyError, RuntimeError, TypeError, AttributeError, BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise VectorError(f"{path} cannot be read, it is truncated or not a {path.suffix} file: {reason}") from error
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
    return np.lib.format.open_memmap(path, mode="r"), None


def _read_npz(path: Path) -> tuple[Vectors, list[str] | None]:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
        ids = next((_strings(archive[name]) for name in ID_COLUMNS if name in archive.files), None)
        tables = [name for name in archive.files if name not in ID_COLUMNS]
        name = "vectors" if "vectors" in tables else _only(tables, path)
        return archive[name], ids


def _read_safetensors(path: Path) -> tuple[Vectors, None]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as tensors:
            names = list(tensors.keys())
            name = "vectors" if "vectors" in names else _only(names, path)
            if tensors.get_slice(name).get_dtype() == "BF16":
                return _read_bfloat16(path, name), None
            return np.asarray(tensors.get_tensor(name)), None
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _read_bfloat16(path: Path, name: str) -> Vectors:
    """The numbers of a bfloat16 tensor as float32, of which a bfloat16 is the upper half.

    Numpy has no such type, and safetensors reads it only where ml_dtypes adds one: a compiled package, for five lines.
    The header has been checked by whoever opened the file with safetensors.
    """
    with path.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        entry = json.loads(stream.read(size))[name]
        first, last = entry["data_offsets"]
        stream.seek(8 + size + first)
        halves = np.frombuffer(stream.read(last - first), "<u2")
    return (halves.astype(np.uint32) << 16).view(np.float32).reshape(entry["shape"])


def _read_parquet(path: Path) -> tuple[Vectors, list[str] | None]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table: Any = pq.read_table(path)
    lists = [field.name for field in table.schema if _is_list(field.type)]
    name = "vectors" if "vectors" in lists else _only(lists, path)
    column = table[name].combine_chunks()
    if column.null_count:
        row = next(number for number, value in enumerate(column.is_null().to_pylist()) if value)
        raise VectorError(f"{path}: row {row} has no vector")
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
    else:
        sizes = np.asarray(column.value_lengths())
        width = int(sizes[0]) if len(sizes) else 0
        if (sizes != width).any():
            row = int(np.flatnonzero(sizes != width)[0])
            raise VectorError(f"{path}: the vector in row {row} has {sizes[row]} dimensions, the first has {width}")
    if not len(column):
        raise VectorError(f"{path} holds no vectors: it has no rows")
    values = column.flatten().to_numpy(zero_copy_only=False)
    ids = next((_strings(table[name].to_pylist()) for name in ID_COLUMNS if name in table.column_names), None)
    return values.reshape(-1, width), ids


def _is_list(kind: Any) -> bool:
    """Whether a column's type is one of lists."""
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _only(names: list[str], path: Path) -> str:
    """The one name there is; an error where there are more, since nobody says which of them the vectors are."""
    if len(names) != 1:
        listed = ", ".join(names) or "nothing"
        raise VectorError(f"{path} holds {listed}: name the one with the vectors 'vectors'")
    return names[0]


def _strings(values: Any) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


_READERS: dict[str, Callable[[Path], tuple[Vectors, list[str] | None]]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
    ".safetensors": _read_safetensors,
}
SUFFIXES = tuple(_READERS)
