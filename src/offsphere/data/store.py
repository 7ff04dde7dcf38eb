"""Vectors on disk: ``vectors.npy``, ``ids.parquet``, ``checksums.npy`` and, written last, ``manifest.json``.

A folder without a manifest is no store. The manifest digests the other files and itself, and every row of the vectors
has a checksum: what is read is what was written, or an error. ``store_writer`` makes stores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Flags, Vectors
from offsphere.base.digests import digest_of, digest_of_files
from offsphere.base.errors import DataError
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.npy_files import map_npy
from offsphere.base.reading.parquet_files import read_columns
from offsphere.base.reading.records import record_of
from offsphere.data.items import ItemSide
from offsphere.data.row_checksums import first_damaged

MANIFEST, VECTORS, CHECKSUMS, ITEMS = "manifest.json", "vectors.npy", "checksums.npy", "ids.parquet"
DIGESTS = "digests"  # the key of the manifest under which the digests of the store stand
COLUMNS: Mapping[str, type] = MappingProxyType(
    {"id": str, "characters": int, "tokens": int, "empty": bool}
)  # of the items
DTYPES = ("float32", "float16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is in a store, and what made it; the keys of ``manifest.json``."""

    model: str
    revision: str
    dimension: int
    rows: int
    dtype: str
    side: ItemSide
    prompt: str
    similarity: str | None
    normalization_removed: list[str]
    normalization_kept: bool
    texts: str  # digest of the items
    ids: str  # digest of their ids
    empty: int  # how many items have no word
    version: str  # of offsphere


@dataclass(frozen=True, slots=True)
class Digests:
    """What the parts of a store are known by: the file of the checksums, the file of the ids, the manifest itself."""

    checksums: str
    items: str
    manifest: str


class StoredItems(NamedTuple):
    """What a store knows of its items besides their vectors, in the order of the rows."""

    ids: list[str]
    characters: Counts
    tokens: Counts
    empty: Flags


@dataclass(frozen=True, eq=False)
class Store:
    """Vectors on disk, read from the map, with their ids and what made them. ``osp.open_store`` opens one.

    Attributes:
        folder: Where it lies.
        manifest: The model, its revision, the shape, and digests of what was encoded.
        vectors: A row for each item, as a memory map.
        digests: Of its files; a store that was made before there were any has none.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.encode.function import FunctionEncoder
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), 1.0] for text in texts], "letters")
        >>> folder = Path(tempfile.mkdtemp())
        >>> task = osp.PairTask("words", np.arange(3.0), ["a", "bb", ""], ["d", "e", "f"])
        >>> _ = osp.embed(task, encoder, folder)
        >>> store = osp.open_store(folder / "left")
        >>> store.ids, store.characters.tolist(), store.empty.tolist()
        (['0', '1', '2'], [1, 2, 0], [False, False, True])
    """

    folder: Path
    manifest: Manifest
    vectors: Vectors
    digests: Digests | None = None

    def __repr__(self) -> str:
        """Where it is and what is in it, not the numbers."""
        rows, dimension = self.vectors.shape
        return f"Store({self.folder}: {rows:,} x {dimension} of {self.manifest.model})"

    @property
    def ids(self) -> list[str]:
        """The ids in the order of the rows."""
        return self.items.ids

    @property
    def characters(self) -> Counts:
        """How many characters each item has."""
        return self.items.characters

    @property
    def tokens(self) -> Counts:
        """How many tokens the model saw of each item; -1 where it did not say."""
        return self.items.tokens

    @property
    def empty(self) -> Flags:
        """Which items have no word in them."""
        return self.items.empty

    @cached_property
    def items(self) -> StoredItems:
        """What is known of the items, read once."""
        return _read_items(self.folder, self.manifest.rows, self.digests)

    def verify(self) -> None:
        """Read all of the store and compare it with the digests it was written with; one without digests passes.

        Raises:
            DataError: A file is missing or was changed; the message names the first vector that was.

        Example:
            >>> import tempfile
            >>> from pathlib import Path
            >>> import numpy as np
            >>> import offsphere as osp
            >>> from offsphere.encode.function import FunctionEncoder
            >>> encoder = FunctionEncoder(lambda texts: [[len(text), 1.0] for text in texts], "letters")
            >>> folder = Path(tempfile.mkdtemp())
            >>> task = osp.PairTask("words", np.arange(3.0), ["a", "bb", "ccc"], ["d", "e", "f"])
            >>> _ = osp.embed(task, encoder, folder)
            >>> content = bytearray((folder / "left" / "vectors.npy").read_bytes())
            >>> content[-1] ^= 1
            >>> _ = (folder / "left" / "vectors.npy").write_bytes(content)
            >>> try:
            ...     osp.open_store(folder / "left", verify=False).verify()
            ... except osp.OffsphereError as error:
            ...     print(str(error).replace(str(folder), "FOLDER"))  # doctest: +ELLIPSIS
            FOLDER/left/vectors.npy is damaged: the vector of '2' (row 2) is not the one that was stored: delete ...
        """
        ids = self.items.ids
        if self.digests is None:
            return
        path = self.folder / CHECKSUMS
        checksums = _map(self.folder, CHECKSUMS, (self.manifest.rows, 1), "uint32")
        if digest_of_files([path]) != self.digests.checksums:
            raise DataError(f"{path} is damaged: it is not what was written: {_again(self.folder)}")
        row = first_damaged(self.vectors, np.asarray(checksums)[:, 0])
        if row is not None:
            raise DataError(
                f"{self.folder / VECTORS} is damaged: the vector of {ids[row]!r} (row {row}) is not the one that was "
                f"stored: {_again(self.folder)}"
            )


def is_store(folder: Path) -> bool:
    """Whether a folder is a finished store: one with a manifest."""
    return (folder / MANIFEST).is_file()


def open_store(folder: Path, *, verify: bool = True) -> Store:
    """Open a finished store, as ``osp.embed`` and ``offsphere embed`` make them.

    Args:
        folder: The folder of one side, such as ``vectors/documents``.
        verify: Whether to read all of it and compare it with its digests, at about a second for each gigabyte.

    Returns:
        The store; its vectors stay on disk and are read from the map.

    Raises:
        DataError: There is no store, it is of another version, or it does not hold what its manifest says.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.encode.function import FunctionEncoder
        >>> encoder = FunctionEncoder(lambda texts: [[len(text), 1.0] for text in texts], "letters")
        >>> folder = Path(tempfile.mkdtemp())
        >>> task = osp.PairTask("words", np.arange(3.0), ["a", "bb", "ccc"], ["d", "e", "f"])
        >>> _ = osp.embed(task, encoder, folder)
        >>> store = osp.open_store(folder / "left")
        >>> store.vectors.tolist(), store.manifest.model
        ([[1.0, 1.0], [2.0, 1.0], [3.0, 1.0]], 'letters')
    """
    manifest, digests = _read_sealed(folder)
    vectors = _map(folder, VECTORS, (manifest.rows, manifest.dimension), manifest.dtype)
    store = Store(folder, manifest, vectors, digests)
    if verify:
        store.verify()
    return store


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished store."""
    return _read_sealed(folder)[0]


def sealed_manifest(folder: Path, manifest: Manifest) -> bytes:
    """The content of a manifest that digests the other files of a store and itself."""
    values = asdict(manifest)
    digests = Digests(
        digest_of_files([folder / CHECKSUMS]), digest_of_files([folder / ITEMS]), _digest_of_values(values)
    )
    return json.dumps(values | {DIGESTS: asdict(digests)}, indent=2).encode()


def _read_sealed(folder: Path) -> tuple[Manifest, Digests | None]:
    """A manifest, and the digests where it has them: older stores have none."""
    path = folder / MANIFEST
    if not path.exists():
        raise DataError(f"{folder} is no finished store: it has no {MANIFEST}")
    values = read_json_object(path)
    sealed = values.pop(DIGESTS, None)
    manifest = record_of(Manifest, values, str(path))
    if manifest.rows < 1 or manifest.dimension < 1 or manifest.dtype not in DTYPES:
        raise DataError(
            f"{path} says {manifest.dtype} ({manifest.rows}, {manifest.dimension}), which no store is: {_again(folder)}"
        )
    if sealed is None and not (folder / CHECKSUMS).exists():
        return manifest, None
    digests = record_of(Digests, sealed, f"{path}, {DIGESTS!r}")
    if digests.manifest != _digest_of_values(values):
        raise DataError(f"{path} is damaged: it is not what was written: {_again(folder)}")
    return manifest, digests


def _map(folder: Path, name: str, shape: tuple[int, int], dtype: str) -> NDArray[Any]:
    """Map the rows of a file, which must be as the manifest says."""
    try:
        rows = map_npy(folder / name)
    except DataError as error:
        raise DataError(f"{error}: {_again(folder)}") from error
    if rows.shape != shape or rows.dtype != dtype:
        raise DataError(
            f"{folder / name} holds {rows.dtype} {rows.shape}, its manifest says {dtype} {shape}: {_again(folder)}"
        )
    return rows


def _digest_of_values(values: Mapping[str, Any]) -> str:
    return digest_of([json.dumps(values, sort_keys=True).encode()])


def _read_items(folder: Path, rows: int, digests: Digests | None) -> StoredItems:
    """Read what a store knows of its items, checked against what the manifest says."""
    path = folder / ITEMS
    if digests is not None and path.is_file() and digest_of_files([path]) != digests.items:
        raise DataError(f"{path} is damaged: it is not what was written: {_again(folder)}")
    columns = read_columns(path, list(COLUMNS))
    for name, kind in COLUMNS.items():
        if len(columns[name]) != rows:
            raise DataError(f"{path} has {len(columns[name])} rows, its manifest says {rows}: {_again(folder)}")
        if digests is None and not all(type(value) is kind for value in columns[name]):
            raise DataError(f"{path}: column {name!r} holds something else than {kind.__name__}: {_again(folder)}")
    try:
        characters, tokens = np.array(columns["characters"], np.int32), np.array(columns["tokens"], np.int32)
    except OverflowError as error:
        raise DataError(f"{path} counts more than a text can have: {_again(folder)}") from error
    return StoredItems(columns["id"], characters, tokens, np.array(columns["empty"], np.bool_))


def _again(folder: Path) -> str:
    """What to do with a store that is not as it was made."""
    return f"delete {folder} and embed again"
