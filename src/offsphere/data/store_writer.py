"""A store is filled block by block, survives a kill at any moment, and appears when all is there.

While it is made, a store is three hidden files: rows, their checksums, and how many blocks of them are safe. A block is
first flushed to disk and then counted, so a kill loses at most one block. Rows that an earlier run left are compared
with their checksums before the store is finished. The real files then appear, the manifest last.
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
from numpy.typing import NDArray

from offsphere.base.arrays import Counts, Flags, Index, Vectors
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, OffsphereError, VectorError, first_line
from offsphere.base.files import write_whole
from offsphere.base.interruption import told_when_interrupted
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.reading.npy_files import map_npy
from offsphere.base.reading.records import record_of
from offsphere.data.row_checksums import first_damaged, row_checksums
from offsphere.data.store import CHECKSUMS, ITEMS, MANIFEST, VECTORS, Manifest, Store, open_store, sealed_manifest

PARTIAL = ".vectors.partial.npy"
PARTIAL_CHECKSUMS = ".checksums.partial.npy"
PROGRESS = ".progress.json"
LOCK = ".lock"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True)
class SafeBlocks:
    """What is safe of a store in the making: by which plan, how many blocks of how many, and a digest of all that."""

    plan: dict[str, Any]
    block_count: int
    done: int
    digest: str

    @classmethod
    def of(cls, plan: dict[str, Any], block_count: int, done: int) -> SafeBlocks:
        """Say how many blocks are safe."""
        content = json.dumps([plan, block_count, done], sort_keys=True)
        return cls(plan, block_count, done, digest_of([content.encode()]))

    @classmethod
    def read(cls, folder: Path) -> SafeBlocks | None:
        """What is safe in a folder; nothing where that is not known."""
        path = folder / PROGRESS
        try:
            progress = record_of(cls, read_json_object(path), str(path))
        except DataError:
            return None
        return progress if progress == cls.of(progress.plan, progress.block_count, progress.done) else None


class StoreWriter:
    """Fills a store: vectors arrive in blocks, for rows in any order, and what is safe on disk is remembered.

    Args:
        folder: The store to be.
        plan: The manifest that it will have.
        block_count: In how many blocks the vectors arrive.

    Raises:
        DataError: The folder is being filled with vectors of another model, or the plan is of no vectors.
        OffsphereError: It cannot be written to.
    """

    def __init__(self, folder: Path, plan: Manifest, block_count: int) -> None:
        """Go on with what is there if it was made by the same plan, else begin anew."""
        if plan.rows < 1 or plan.dimension < 1:
            raise VectorError(f"{plan.model} gives {plan.rows} vectors of {plan.dimension} dimensions: expected some")
        self.folder = folder
        self.plan = plan
        self.block_count = block_count
        with self._writing():
            self.done = self._safe_blocks()
            self.resumed = self.done > 0
            if not self.resumed:
                self._begin()

    def write(self, rows: Index, vectors: Vectors) -> None:
        """Write a block of vectors to its rows and make it safe.

        Args:
            rows: The number of each vector in the store.
            vectors: One for each of them.

        Raises:
            OffsphereError: They are not as wide as the plan says or not finite as they are stored, or there is no room.
        """
        stored = self._as_stored(rows, vectors)
        with self._writing():
            _write_rows(self.folder / PARTIAL, rows, stored)
            _write_rows(self.folder / PARTIAL_CHECKSUMS, rows, row_checksums(rows, stored)[:, None])
            self._remember(self.done + 1)

    def finish(self, ids: Sequence[str], characters: Counts, tokens: Counts, empty: Flags) -> Store:
        """Let the files appear, the manifest last.

        Args:
            ids: Of the items, in the order of the rows.
            characters: How many each item has.
            tokens: How many the model saw of each item; -1 where it does not say.
            empty: Which items have no word.

        Returns:
            The store.

        Raises:
            OffsphereError: What an earlier run left was damaged since, or there is no room.
        """
        if self.resumed:
            self._check_rows()
        with self._writing():
            write_whole(self.folder / ITEMS, _items_table(ids, characters, tokens, empty))
            (self.folder / PARTIAL).replace(self.folder / VECTORS)
            (self.folder / PARTIAL_CHECKSUMS).replace(self.folder / CHECKSUMS)
            write_whole(self.folder / MANIFEST, sealed_manifest(self.folder, self.plan))
            (self.folder / PROGRESS).unlink(missing_ok=True)
        return open_store(self.folder, verify=False)

    @contextmanager
    def told_what_is_safe(self) -> Iterator[None]:
        """Say, when the work inside is interrupted, how much of the store is safe."""
        with told_when_interrupted(
            lambda: (
                f"{self.done} of {self.block_count} blocks of {self.folder} are safe: run the same command again, "
                "it goes on from there"
            )
        ):
            yield

    def _as_stored(self, rows: Index, vectors: Vectors) -> Vectors:
        """Vectors in the type of the store; what does not fit is refused before a byte is written."""
        model, wanted = self.plan.model, (len(rows), self.plan.dimension)
        if vectors.shape != wanted:
            raise VectorError(f"the model {model} gave vectors of shape {vectors.shape}, expected {wanted}")
        if not np.issubdtype(vectors.dtype, np.floating):
            raise VectorError(f"the model {model} gave vectors of {vectors.dtype}, expected floats")
        if not np.isfinite(vectors).all():
            raise VectorError(f"the model {model} gave vectors that are not finite")
        with np.errstate(over="ignore"):
            stored = np.ascontiguousarray(vectors, self.plan.dtype)
        if not np.isfinite(stored).all():
            largest = vectors[~np.isfinite(stored)][0]
            wider = ": store them as float32 (--dtype float32)" if self.plan.dtype == "float16" else ""
            raise VectorError(
                f"the model {model} gave vectors with {largest:.6g} in them, which is more than {self.plan.dtype} can "
                f"hold{wider}"
            )
        return stored

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn what the system refuses into an error that says what is safe."""
        try:
            yield
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise OffsphereError(
                    f"cannot write to {error.filename or self.folder}: {error.strerror or first_line(error)}"
                ) from error
            raise OffsphereError(
                f"no room left on the disk: {self.done} of {self.block_count} blocks of {self.folder} are safe; "
                "make room and run the same command again, it goes on from there"
            ) from error

    def _safe_blocks(self) -> int:
        """How many blocks of the same plan are safe; a kill between the last block and the manifest counts as all."""
        self.done = 0
        progress = SafeBlocks.read(self.folder)
        if progress is None:
            return 0
        made_by = (progress.plan.get("model"), progress.plan.get("revision"))
        if made_by != (self.plan.model, self.plan.revision):
            raise DataError(
                f"{self.folder} is being filled with vectors of {made_by[0]} ({made_by[1]}), not {self.plan.model} "
                f"({self.plan.revision}): choose another --out, or delete it"
            )
        if progress.plan != asdict(self.plan) or progress.block_count != self.block_count:
            return 0
        for partial, finished in ((PARTIAL, VECTORS), (PARTIAL_CHECKSUMS, CHECKSUMS)):
            if not (self.folder / partial).exists() and (self.folder / finished).exists():
                (self.folder / finished).replace(self.folder / partial)
        whole = self._is_partial(PARTIAL, self.plan.dimension, self.plan.dtype)
        return progress.done if whole and self._is_partial(PARTIAL_CHECKSUMS, 1, "uint32") else 0

    def _is_partial(self, name: str, width: int, dtype: str) -> bool:
        """Whether a hidden file is there and has the rows of the plan."""
        try:
            rows = map_npy(self.folder / name)
        except DataError:
            return False
        return rows.shape == (self.plan.rows, width) and rows.dtype == dtype

    def _begin(self) -> None:
        """Remove what another plan left, what is known to be safe first, and make room for all rows."""
        for name in (PROGRESS, MANIFEST, VECTORS, CHECKSUMS, ITEMS):
            (self.folder / name).unlink(missing_ok=True)
        _make_room(self.folder / PARTIAL, (self.plan.rows, self.plan.dimension), self.plan.dtype)
        _make_room(self.folder / PARTIAL_CHECKSUMS, (self.plan.rows, 1), "uint32")
        self._remember(0)

    def _remember(self, done: int) -> None:
        """Write down how many blocks are safe."""
        progress = SafeBlocks.of(asdict(self.plan), self.block_count, done)
        write_whole(self.folder / PROGRESS, json.dumps(asdict(progress)).encode())
        self.done = done

    def _check_rows(self) -> None:
        """Compare all rows with their checksums: some were written by a run that ended long ago."""
        checksums = np.asarray(map_npy(self.folder / PARTIAL_CHECKSUMS))[:, 0]
        row = first_damaged(map_npy(self.folder / PARTIAL), checksums)
        if row is not None:
            with self._writing():
                (self.folder / PROGRESS).unlink(missing_ok=True)
            raise DataError(
                f"{self.folder}: what an interrupted run left was damaged since (row {row}): run the same command "
                "again, it begins anew"
            )


@contextmanager
def locked(folder: Path, name: str = LOCK, wait: float = 0.0, option: str = "--out") -> Iterator[None]:
    """Keep a second process from writing the same store; a killed process holds no lock.

    Args:
        folder: What is written to; it is made where it is not there.
        name: Of the lock in it, where a folder has several things that may be written beside each other.
        wait: Seconds that another process is given to end.
        option: By which the user chooses the folder.
    """
    from filelock import FileLock, Timeout  # only those who write need it, and it takes 25 ms

    try:
        folder.mkdir(parents=True, exist_ok=True)
        acquired = FileLock(folder / name, timeout=wait).acquire()
    except Timeout as error:
        raise OffsphereError(
            f"another process is writing to {folder}: wait for it, or choose another {option}"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise OffsphereError(f"cannot write to {folder}: {reason}") from error
    with acquired:
        yield


def _items_table(ids: Sequence[str], characters: Counts, tokens: Counts, empty: Flags) -> bytes:
    """What is known of the items, as a parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {
        "id": pa.array(ids, pa.string()),
        "characters": pa.array(characters, pa.int32()),
        "tokens": pa.array(tokens, pa.int32()),
        "empty": pa.array(empty, pa.bool_()),
    }
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink, use_dictionary=["characters", "tokens"])  # ids do not repeat
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _make_room(path: Path, shape: tuple[int, int], dtype: str) -> None:
    """Make a file of rows that are all zero."""
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    array.flush()


def _write_rows(path: Path, rows: Index, values: NDArray[Any]) -> None:
    """Write runs of adjacent rows with plain writes, which report a full disk, and flush them."""
    width = values.shape[1] * values.itemsize
    order = np.argsort(rows, kind="stable")
    rows, values = rows[order], np.ascontiguousarray(values[order])
    starts = np.flatnonzero(np.append(True, np.diff(rows) != 1))
    with path.open("r+b", buffering=0) as stream:
        np.lib.format.read_magic(stream)
        np.lib.format.read_array_header_1_0(stream)
        offset = stream.tell()
        for first, last in zip(starts, np.append(starts[1:], len(rows)), strict=True):
            stream.seek(offset + int(rows[first]) * width)
            content = memoryview(values[first:last].tobytes())
            while content:
                content = content[stream.write(content) or 0 :]
        os.fsync(stream.fileno())
