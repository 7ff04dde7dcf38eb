"""What a store's vectors and ids become in a file, a block at a time, for whatever is written from a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.data.store import Store
from offsphere.engines.engine import BATCH


def blocks_of(store: Store) -> Iterator[Vectors]:
    """The vectors of a store, so many rows at a time."""
    for start in range(0, store.manifest.rows, BATCH):
        yield np.asarray(store.vectors[start : start + BATCH])


def arrow_batches(store: Store) -> Any:
    """Read a store as an Arrow stream of its ids and its vectors."""
    import pyarrow as pa

    kind = pa.list_(pa.from_numpy_dtype(np.dtype(store.manifest.dtype)), store.manifest.dimension)
    schema = pa.schema([("id", pa.string()), ("vectors", kind)])
    ids = store.ids

    def batches() -> Iterator[Any]:
        start = 0
        for block in blocks_of(store):
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), block.shape[1])
            names = pa.array(ids[start : start + len(block)], pa.string())
            yield pa.record_batch([names, lists], schema=schema)
            start += len(block)

    return pa.RecordBatchReader.from_batches(schema, batches())
