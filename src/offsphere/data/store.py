"""Vectors on disk: ``vectors.npy``, ``ids.parquet``, ``checksums.npy`` and, written last, ``manifest.json``.

A folder without a manifest is no store. The manifest digests the other files and itself, and every row of the vectors
has a checksum: what is read is what was written, or an error. ``store_writer`` makes stores.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Flags, Vectors
from offsphere.base.digests import digest_of, digest_of_files, digest_of_texts
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there, open_file
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.npy_files import lazy_npy, map_npy
from offsphere.base.reading.parquet_files import column_values, read_arrays
from offsphere.base.reading.records import record_of
from offsphere.base.remote_path import given_path, is_remote
from offsphere.base.short_repr import short_repr
from offsphere.data.id_column import IdColumn
from offsphere.data.items import ItemSide
from offsphere.data.row_checksums import first_damaged

MANIFEST, VECTORS, CHECKSUMS, ITEMS = "manifest.json", "vectors.npy", "checksums.npy", "ids.parquet"
DIGESTS = "digests"  # the key of the manifest under which the digests of the store stand
ID = "id"  # the column of the ids in the file of the items; the others are of these kinds, as numpy calls them
COUNTS: Mapping[str, str] = MappingProxyType({"characters": "i", "tokens": "i", "empty": "b"})
KINDS: Mapping[str, str] = MappingProxyType({"i": "whole numbers", "b": "flags"})
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

    __repr__ = short_repr


@dataclass(frozen=True, slots=True)
class Digests:
    """What the parts of a store are known by: the file of the checksums, the file of the ids, the manifest itself."""

    checksums: str
    items: str
    manifest: str


class StoredCounts(NamedTuple):
    """What a store counted of its items, in the order of the rows."""

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
        >>> list(store.ids), store.characters.tolist(), store.empty.tolist()
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

    @cached_property
    def ids(self) -> Sequence[str]:
        """The ids in the order of the rows, read once."""
        return _read_ids(self.folder, self.manifest.rows, self.digests)

    @property
    def characters(self) -> Counts:
        """How many characters each item has."""
        return self.counts.characters

    @property
    def tokens(self) -> Counts:
        """How many tokens the model saw of each item; -1 where it did not say."""
        return self.counts.tokens

    @property
    def empty(self) -> Flags:
        """Which items have no word in them."""
        return self.counts.empty

    @cached_property
    def counts(self) -> StoredCounts:
        """What was counted of the items, read once."""
        return _read_counts(self.folder, self.manifest.rows, self.digests)

    def has_ids(self, ids: Sequence[str]) -> bool:
        """Whether its rows are of these ids in this order, which its manifest tells: they need not be read for that.

        Args:
            ids: In the order that is asked about.

        Returns:
            Whether it is so.
        """
        sealed = self.digests is not None  # or nobody knows whether manifest and ids belong together
        return sealed and len(ids) == self.manifest.rows and digest_of_texts(ids) == self.manifest.ids

    def verify(self, rows: range | None = None, vectors: Vectors | None = None) -> None:
        """Read the store and compare it with the digests it was written with; one without digests passes.

        Args:
            rows: Compare these vectors alone, and, the first time, all that is not vectors; all of them without it.
            vectors: These rows, where they were read already.

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
        if self.digests is None:
            _read_ids(self.folder, self.manifest.rows, None)
            _read_counts(self.folder, self.manifest.rows, None)
            return
        checksums = self._read_checksums(self.digests) if rows is None else self._checksums
        some = range(self.manifest.rows) if rows is None else rows
        compared = self.vectors[some.start : some.stop] if vectors is None else vectors
        row = first_damaged(compared, checksums[some.start : some.stop, 0], some.start)
        if row is not None:
            raise DataError(
                f"{self.folder / VECTORS} is damaged: the vector of {self.ids[row]!r} (row {row}) is not the one that "
                f"was stored: {_again(self.folder)}"
            )

    @cached_property
    def _checksums(self) -> NDArray[np.uint32]:
        """The checksums of the rows, read once for however many pieces of them are compared."""
        assert self.digests is not None
        return self._read_checksums(self.digests)

    def _read_checksums(self, digests: Digests) -> NDArray[np.uint32]:
        """Read the checksums of the rows; all that is not vectors is compared with its digest."""
        _check_items(self.folder, digests)
        path = self.folder / CHECKSUMS
        checksums = _map(self.folder, CHECKSUMS, (self.manifest.rows, 1), "uint32")
        if digest_of_files([path]) != digests.checksums:
            raise DataError(f"{path} is damaged: it is not what was written: {_again(self.folder)}")
        return np.asarray(checksums)


def is_store(folder: Path) -> bool:
    """Whether a folder is a finished store: one with a manifest."""
    return is_there(folder / MANIFEST)


def open_store(folder: str | Path, *, verify: bool = True, lazy: bool = False) -> Store:
    """Open a finished store, as ``osp.embed`` and ``offsphere embed`` make them.

    Args:
        folder: The folder of one side, such as ``vectors/documents``.
        verify: Whether to read all of it and compare it with its digests, at about a second for each gigabyte.
        lazy: Whether the vectors of a store that lies elsewhere stay there until rows of them are asked for.

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
    folder = given_path(folder)
    manifest, digests = _read_sealed(folder)
    vectors = _map(folder, VECTORS, (manifest.rows, manifest.dimension), manifest.dtype, lazy=lazy)
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
    if not is_there(path):
        raise DataError(f"{folder} is no finished store: it has no {MANIFEST}")
    values = read_json_object(path)
    sealed = values.pop(DIGESTS, None)
    manifest = record_of(Manifest, values, str(path))
    if manifest.rows < 1 or manifest.dimension < 1 or manifest.dtype not in DTYPES:
        raise DataError(
            f"{path} says {manifest.dtype} ({manifest.rows}, {manifest.dimension}), which no store is: {_again(folder)}"
        )
    if sealed is None and not is_there(folder / CHECKSUMS):
        return manifest, None
    digests = record_of(Digests, sealed, f"{path}, {DIGESTS!r}")
    if digests.manifest != _digest_of_values(values):
        raise DataError(f"{path} is damaged: it is not what was written: {_again(folder)}")
    return manifest, digests


def _map(folder: Path, name: str, shape: tuple[int, int], dtype: str, *, lazy: bool = False) -> NDArray[Any]:
    """Map the rows of a file, which must be as the manifest says."""
    try:
        unread = lazy and is_remote(folder)
        rows = cast("NDArray[Any]", lazy_npy(folder / name)) if unread else map_npy(folder / name)
    except DataError as error:
        raise DataError(f"{error}: {_again(folder)}") from error
    if rows.shape != shape or rows.dtype != dtype:
        raise DataError(
            f"{folder / name} holds {rows.dtype} {rows.shape}, its manifest says {dtype} {shape}: {_again(folder)}"
        )
    return rows


def _digest_of_values(values: Mapping[str, Any]) -> str:
    return digest_of([json.dumps(values, sort_keys=True).encode()])


def _check_items(folder: Path, digests: Digests | None) -> None:
    """Refuse another file of ids and counts than the one that was written; one without a digest is read as it is."""
    path = folder / ITEMS
    if digests is not None and path.is_file() and digest_of_files([path]) != digests.items:
        raise DataError(f"{path} is damaged: it is not what was written: {_again(folder)}")
    open_file(path).close()


def _read_ids(folder: Path, rows: int, digests: Digests | None) -> IdColumn:
    """Read the ids of a store, checked against what the manifest says."""
    _check_items(folder, digests)
    path = folder / ITEMS
    ids = IdColumn.of(_known_text(name, path) for name in column_values(path, ID))
    _check_rows(path, len(ids), rows)
    return ids


def _known_text(name: Any, path: Path) -> str:
    """An id of a store, which is a text."""
    if not isinstance(name, str):
        raise DataError(f"{path}: column {ID!r} holds something else than texts: {_again(path.parent)}")
    return name


def _read_counts(folder: Path, rows: int, digests: Digests | None) -> StoredCounts:
    """Read what a store counted, checked against what the manifest says."""
    _check_items(folder, digests)
    path = folder / ITEMS
    columns = read_arrays(path, list(COUNTS))
    for name, kind in COUNTS.items():
        _check_rows(path, len(columns[name]), rows)
        if columns[name].dtype.kind != kind:
            raise DataError(f"{path}: column {name!r} holds something else than {KINDS[kind]}: {_again(folder)}")
    characters, tokens = columns["characters"], columns["tokens"]
    most = np.iinfo(np.int32).max
    if max(characters.max(initial=0), tokens.max(initial=0)) > most:
        raise DataError(f"{path} counts more than a text can have: {_again(folder)}")
    return StoredCounts(characters.astype(np.int32), tokens.astype(np.int32), columns["empty"])


def _check_rows(path: Path, got: int, rows: int) -> None:
    if got != rows:
        raise DataError(f"{path} has {got} rows, its manifest says {rows}: {_again(path.parent)}")


def _again(folder: Path) -> str:
    """What to do with a store that is not as it was made."""
    return f"delete {folder} and embed again"
