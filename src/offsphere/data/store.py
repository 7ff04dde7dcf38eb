"""Vectors on disk that survive a kill: ``vectors.npy``, ``ids.parquet``, ``manifest.json``.

While it is made, a store is two hidden files: rows, and how many blocks of them are safe. A block is first flushed to
disk and then counted, so a kill at any moment loses at most one block. The three real files appear when all is there,
the manifest last: a folder without a manifest is no store.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.data.items import ItemSide

PARTIAL = ".vectors.partial.npy"
PROGRESS = ".progress.json"
LOCK = ".lock"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


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


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Vectors on disk, read from the map, with their ids and what made them. ``osp.open_store`` opens one.

    Attributes:
        folder: Where it lies.
        manifest: The model, its revision, the shape, and digests of what was encoded.
        vectors: A row for each item, as a memory map.

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

    def __repr__(self) -> str:
        """Where it is and what is in it, not the numbers."""
        rows, dimension = self.vectors.shape
        return f"Store({self.folder}: {rows:,} x {dimension} of {self.manifest.model})"

    @property
    def ids(self) -> list[str]:
        """The ids in the order of the rows."""
        return [str(name) for name in self._column("id")]

    @property
    def characters(self) -> Counts:
        """How many characters each item has."""
        return np.asarray(self._column("characters"), np.int32)

    @property
    def tokens(self) -> Counts:
        """How many tokens the model saw of each item; -1 where it did not say."""
        return np.asarray(self._column("tokens"), np.int32)

    @property
    def empty(self) -> Flags:
        """Which items have no word in them."""
        return np.asarray(self._column("empty"), np.bool_)

    def _column(self, name: str) -> list[Any]:
        import pyarrow.parquet as pq

        column: list[Any] = pq.read_table(self.folder / "ids.parquet", columns=[name])[name].to_pylist()
        return column


def is_store(folder: Path) -> bool:
    """Whether a folder is a finished store: one with a manifest."""
    return (folder / "manifest.json").is_file()


def open_store(folder: Path) -> Store:
    """Open a finished store, as ``osp.embed`` and ``offsphere embed`` make them.

    Args:
        folder: The folder of one side, such as ``vectors/documents``.

    Returns:
        The store; its vectors stay on disk and are read from the map.

    Raises:
        DataError: There is no store, it is of another version, or its vectors are not what the manifest says.

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
    manifest = read_manifest(folder)
    path = folder / "vectors.npy"
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} is missing or shorter than its manifest says: delete {folder} and embed again"
        ) from error
    if vectors.shape != (manifest.rows, manifest.dimension) or vectors.dtype != manifest.dtype:
        raise DataError(
            f"{path} holds {vectors.dtype} {vectors.shape}, its manifest says {manifest.dtype} "
            f"({manifest.rows}, {manifest.dimension}): delete {folder} and embed again"
        )
    return Store(folder, manifest, vectors)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished store."""
    path = folder / "manifest.json"
    try:
        return Manifest(**json.loads(path.read_bytes()))
    except FileNotFoundError as error:
        raise DataError(f"{folder} is no finished store: it has no manifest.json") from error
    except (ValueError, TypeError) as error:
        raise DataError(f"{path} is not a manifest of this version ({error}): embed again") from error


class StoreWriter:
    """Fills a store: vectors arrive in blocks, for rows in any order, and what is safe on disk is remembered."""

    def __init__(self, folder: Path, plan: Manifest, block_count: int) -> None:
        """Go on with what is there if it was made by the same plan, else begin anew."""
        self.folder = folder
        self.plan = plan
        self.block_count = block_count
        self.done = self._safe_blocks()
        if self.done == 0:
            with self._room():
                self._begin()

    def write(self, rows: Index, vectors: Vectors) -> None:
        """Write a block of vectors to its rows and make it safe."""
        if not np.isfinite(vectors).all():
            raise OffsphereError(f"the model {self.plan.model} gave vectors that are not finite")
        with self._room():
            _write_rows(self.folder / PARTIAL, rows, vectors.astype(self.plan.dtype))
            self.done += 1
            self._remember()

    def finish(self, ids: Sequence[str], characters: Sequence[int], tokens: Counts, empty: Sequence[bool]) -> Store:
        """Let the three files appear, the manifest last."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {
            "id": pa.array(list(ids), pa.string()),
            "characters": pa.array(list(characters), pa.int32()),
            "tokens": pa.array(tokens.tolist(), pa.int32()),
            "empty": pa.array(list(empty), pa.bool_()),
        }
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(columns), sink)
        write_whole(self.folder / "ids.parquet", sink.getvalue().to_pybytes())
        (self.folder / PARTIAL).replace(self.folder / "vectors.npy")
        write_whole(self.folder / "manifest.json", json.dumps(asdict(self.plan), indent=2).encode())
        (self.folder / PROGRESS).unlink(missing_ok=True)
        return open_store(self.folder)

    @contextmanager
    def _room(self) -> Iterator[None]:
        """Turn a full disk into an error that says what is safe."""
        try:
            yield
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            raise OffsphereError(
                f"no room left on the disk: {self.done} of {self.block_count} blocks of {self.folder} are safe; "
                "make room and run the same command again, it goes on from there"
            ) from error

    def _safe_blocks(self) -> int:
        """How many blocks of the same plan are safe; a kill between the last block and the manifest counts as all."""
        try:
            progress = json.loads((self.folder / PROGRESS).read_bytes())
        except (OSError, ValueError):
            return 0
        made_by = (progress["plan"]["model"], progress["plan"]["revision"])
        if made_by != (self.plan.model, self.plan.revision):
            raise DataError(
                f"{self.folder} is being filled with vectors of {made_by[0]} ({made_by[1]}), not {self.plan.model} "
                f"({self.plan.revision}): choose another --out, or delete it"
            )
        if progress["plan"] != asdict(self.plan) or progress["block_count"] != self.block_count:
            return 0
        finished = self.folder / "vectors.npy"
        if not (self.folder / PARTIAL).exists() and finished.exists():
            finished.replace(self.folder / PARTIAL)
        return int(progress["done"]) if (self.folder / PARTIAL).exists() else 0

    def _begin(self) -> None:
        """Remove what another plan left, and make room for all rows."""
        shape = (self.plan.rows, self.plan.dimension)
        for name in ("manifest.json", "vectors.npy", "ids.parquet"):
            (self.folder / name).unlink(missing_ok=True)
        array = np.lib.format.open_memmap(self.folder / PARTIAL, mode="w+", dtype=self.plan.dtype, shape=shape)
        array.flush()
        del array
        self._remember()

    def _remember(self) -> None:
        """Write down how many blocks are safe."""
        progress = {"plan": asdict(self.plan), "block_count": self.block_count, "done": self.done}
        write_whole(self.folder / PROGRESS, json.dumps(progress).encode())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a second process from writing the same store; a killed process holds no lock."""
    from filelock import FileLock, Timeout  # only those who write need it, and it takes 25 ms

    lock = FileLock(folder / LOCK, blocking=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        acquired = lock.acquire()
    except Timeout as error:
        raise OffsphereError(f"another process is writing to {folder}: wait for it, or choose another --out") from error
    except OSError as error:
        raise OffsphereError(f"cannot write to {folder}: {error.strerror}") from error
    with acquired:
        yield


def _write_rows(path: Path, rows: Index, vectors: Vectors) -> None:
    """Write runs of adjacent rows with plain writes, which report a full disk, and flush them."""
    offset = np.load(path, mmap_mode="r", allow_pickle=False).offset
    width = vectors.shape[1] * vectors.itemsize
    order = np.argsort(rows, kind="stable")
    rows, vectors = rows[order], np.ascontiguousarray(vectors[order])
    starts = np.flatnonzero(np.append(True, np.diff(rows) != 1))
    with path.open("r+b", buffering=0) as stream:
        for first, last in zip(starts, np.append(starts[1:], len(rows)), strict=True):
            stream.seek(offset + int(rows[first]) * width)
            content = memoryview(vectors[first:last].tobytes())
            while content:
                content = content[stream.write(content) or 0 :]
        os.fsync(stream.fileno())
