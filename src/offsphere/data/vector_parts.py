"""Vectors in parts: a folder of stores and files, one below the other, that is read without being joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np

from offsphere.base.arrays import Counts, Vectors
from offsphere.base.errors import DataError
from offsphere.base.reading.parquet_files import parquet_schema
from offsphere.data.id_column import IdColumn
from offsphere.data.list_columns import is_list
from offsphere.data.numbered_parts import in_part_order, missing_part
from offsphere.data.store import CHECKSUMS, ITEMS, VECTORS, Manifest, Store, is_store, read_manifest
from offsphere.vectors.parted_rows import PartedRows

PART_SUFFIXES = (".npy", ".npz", ".parquet", ".safetensors")
STORE_FILES = (VECTORS, CHECKSUMS, ITEMS)
BESIDE = (".ids", ".sha256")  # the ends of files that belong to parts
SIDE_NAMES = ("queries", "documents", "left", "right")  # files of these names are the sides of a task, no parts


class NamedVectors(Protocol):
    """The vectors of one part, as ``read_vectors`` gives them."""

    @property
    def vectors(self) -> Vectors:
        """The vectors themselves, a row each."""
        ...

    @property
    def ids(self) -> Sequence[str] | None:
        """The ids of the rows, where they are known."""
        ...

    @property
    def tokens(self) -> Counts | None:
        """How many tokens the model saw of each, where that is known."""
        ...

    @property
    def stores(self) -> Sequence[Store | None]:
        """The store that it is; nothing where it is a file."""
        ...


class JoinedParts(NamedTuple):
    """What the parts of a folder are together."""

    vectors: Vectors
    ids: Sequence[str] | None
    tokens: Counts | None
    stores: Sequence[Store | None]  # for each part the store that it is


def is_parts(folder: Path) -> bool:
    """Whether a folder holds parts of vectors: stores or files of them that are not named after a side of a task."""
    if not folder.is_dir() or is_store(folder):
        return False
    parts = _listed(folder)
    return bool(parts) and not any(path.name.split(".")[0].split("-")[0] in SIDE_NAMES for path in parts)


def is_parts_alone(folder: Path) -> bool:
    """Whether a folder holds parts of vectors and nothing else but what lies beside them: no task, model or state."""
    if not is_parts(folder):
        return False
    parts = {*_listed(folder)}
    others = [path for path in folder.iterdir() if path not in parts and path.name[0] != "."]
    return all(path.suffix in BESIDE for path in others)


def part_paths(folder: Path) -> list[Path]:
    """The parts of a folder in the order of their rows: by name, and by number where names have numbers.

    Args:
        folder: Of stores and files; what is neither, such as ids and texts beside them, is no part.

    Returns:
        The paths of the parts.

    Raises:
        DataError: A part of ``00001-of-00007`` is missing, or a store in there is not finished.
    """
    paths = _listed(folder)
    unfinished = [path for path in folder.iterdir() if path.is_dir() and not is_store(path) and path.name[0] != "."]
    missing = missing_part(paths)
    if missing is not None:
        raise DataError(f"{folder} lacks the part {missing}: make it before the others are used, or remove them")
    if unfinished:
        raise DataError(f"{min(unfinished)} is no finished store: finish it, or move it out of {folder}")
    return paths


def read_parts(folder: Path, read: Callable[[Path], NamedVectors]) -> JoinedParts:
    """Open all parts of a folder.

    Args:
        folder: Of parts.
        read: Reads one of them.

    Returns:
        Their rows, one part below the other, each read where it lies; ids and token counts where all parts have them.

    Raises:
        DataError: A part is missing, some have ids and others not, or two are by different models.
        VectorError: A part has another width.
    """
    paths = part_paths(folder)
    _refuse_two_models(paths)
    parts = [read(path) for path in paths]
    named = [part.ids is not None for part in parts]
    if any(named) and not all(named):
        raise DataError(
            f"{paths[named.index(False)]} has no ids, other parts of {folder} have: give all of them, or none"
        )
    rows = PartedRows([part.vectors for part in parts], [str(path) for path in paths])
    ids = IdColumn.joined(part.ids or () for part in parts) if all(named) else None
    counts = [part.tokens for part in parts if part.tokens is not None]
    tokens = np.concatenate(counts) if len(counts) == len(parts) else None
    return JoinedParts(cast("Vectors", rows), ids, tokens, [store for part in parts for store in part.stores])


def manifest_of(path: Path) -> Manifest | None:
    """The manifest of a store, or of the first part of a folder of stores; nothing where vectors are in other files."""
    if is_store(path):
        return read_manifest(path)
    stores = [part for part in part_paths(path) if is_store(part)] if is_parts(path) else []
    return read_manifest(stores[0]) if stores else None


def _listed(folder: Path) -> list[Path]:
    """All stores and files of vectors in a folder, in order."""
    return in_part_order([path for path in folder.iterdir() if path.name[0] != "." and _may_be_part(path)])


def _may_be_part(path: Path) -> bool:
    """Whether a path is a store or a file of vectors; a table without a column of lists holds something else."""
    if path.is_dir() or path.name in STORE_FILES:  # an unfinished store is no folder of parts
        return is_store(path)
    if path.suffix != ".parquet":
        return path.suffix in PART_SUFFIXES
    try:
        return any(is_list(field.type) for field in parquet_schema(path)[0])
    except DataError:
        return True  # whoever reads it says what is wrong with it


def _refuse_two_models(paths: Sequence[Path]) -> None:
    """Refuse stores that two models made: their numbers mean different things."""
    first: tuple[Path, Manifest] | None = None
    for path in paths:
        if not is_store(path):
            continue
        manifest = read_manifest(path)
        if first is None:
            first = path, manifest
        if (manifest.model, manifest.revision) != (first[1].model, first[1].revision):
            raise DataError(
                f"{path} is by {manifest.model} ({manifest.revision}), {first[0].name} by {first[1].model} "
                f"({first[1].revision}): all parts of a corpus are by one model"
            )
