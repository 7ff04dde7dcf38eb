"""What a store's vectors and ids become in a file, a block at a time, for whatever is written from a store."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.checksums import HashedStream, checksum_lines, checksums_beside
from offsphere.base.errors import OffsphereError
from offsphere.base.files import whole_file
from offsphere.data.store import Store
from offsphere.engines.engine import BATCH


def blocks_of(store: Store) -> Iterator[Vectors]:
    """The vectors of a store, so many rows at a time."""
    for start in range(0, store.manifest.rows, BATCH):
        yield np.asarray(store.vectors[start : start + BATCH])


def arrow_batches(store: Store, column: str = "vectors") -> Any:
    """Read a store as an Arrow stream of its ids and its vectors, those in a column of that name."""
    import pyarrow as pa

    kind = pa.list_(pa.from_numpy_dtype(np.dtype(store.manifest.dtype)), store.manifest.dimension)
    schema = pa.schema([("id", pa.string()), (column, kind)])
    ids = store.ids

    def batches() -> Iterator[Any]:
        start = 0
        for block in blocks_of(store):
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), block.shape[1])
            names = pa.array(ids[start : start + len(block)], pa.string())
            yield pa.record_batch([names, lists], schema=schema)
            start += len(block)

    return pa.RecordBatchReader.from_batches(schema, batches())


@contextmanager
def file_with_ids(store: Store, path: Path) -> Iterator[HashedStream]:
    """Open a file for vectors that has no room for ids: these stand beside it, a line each, and checksums of both.

    All three are written to their end before the first of them appears. The checksums appear first and the vectors
    last, so that new vectors are never taken together with old ids: between the first and the last, who reads them sees
    that the checksums are of other files.

    Args:
        store: Whose ids to write.
        path: The file of the vectors.

    Yields:
        The stream to write the vectors to.

    Raises:
        OffsphereError: A file cannot be written, or an id cannot stand in a line. Nothing was changed.
    """
    beside = path.with_suffix(".ids")
    lines = _id_lines(store, beside)
    with whole_file(path) as vectors, whole_file(beside) as ids, whole_file(checksums_beside(path)) as checksums:
        hashed = HashedStream(vectors)
        yield hashed
        ids.write(lines)
        checksums.write(checksum_lines({path.name: hashed.checksum, beside.name: hashlib.sha256(lines).hexdigest()}))
        for stream in (vectors, ids, checksums):  # a disk that is full is noticed here, while all old files are whole
            stream.flush()
            os.fsync(stream.fileno())


def _id_lines(store: Store, path: Path) -> bytes:
    """The ids a line each; an error where one would not be read as it is."""
    ids = store.ids
    for row, name in enumerate(ids):
        if not name or name != name.strip() or "\n" in name or "\r" in name or name.startswith("\ufeff"):
            raise OffsphereError(
                f"cannot write {path}: the id {name!r} in row {row} does not fit into a line: export to .parquet"
            )
    return "".join(f"{name}\n" for name in ids).encode()
