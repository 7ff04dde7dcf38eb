"""FAISS: what to set for each metric, and a flat index as a file.

A flat index is a header and the vectors, so it is written and read here, a block at a time and from the map, without
the package: that one believes what a header claims, and allocates it. (faiss/impl/index_write.cpp, ``write_index``)
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading
from offsphere.data.store import Store
from offsphere.data.vector_files import ids_beside
from offsphere.engines.engine import Engine, Exchange, MetricWords, NamedRows
from offsphere.engines.store_parts import blocks_of, file_with_ids

KIND = "a FAISS index"
FLAT = (b"IxFI", b"IxF2", b"IxFl")  # for inner product, L2, any metric
INNER_PRODUCT, L2 = 0, 1  # other metrics have an argument in the header
METRICS = (*range(5), *range(20, 26))
UNUSED = 1 << 20  # what stands in two fields that have no meaning any more
TRAINED = 1
_HEADER = struct.Struct("<4siqqqBi")  # kind, dimensions, vectors, unused, unused, trained, metric
_COUNT = struct.Struct("<Q")  # numbers that follow


def write_index(store: Store, path: Path, name: str = "") -> None:  # noqa: ARG001
    """Write the vectors as a flat index of inner products, the ids beside it."""
    rows, width = store.vectors.shape
    with file_with_ids(store, path) as stream:
        stream.write(_HEADER.pack(FLAT[0], width, rows, UNUSED, UNUSED, TRAINED, INNER_PRODUCT))
        stream.write(_COUNT.pack(rows * width))
        for block in blocks_of(store):
            stream.write(np.ascontiguousarray(block, "<f4").tobytes())


def read_index(path: Path, name: str = "") -> NamedRows:  # noqa: ARG001
    """Map the vectors of a flat index, and read the ids where they lie beside it.

    Raises:
        DataError: It is no flat index, or does not have the size that it claims.
    """
    with reading(path, KIND), open_file(path) as stream:
        start = stream.read(_HEADER.size)
        if len(start) < _HEADER.size or not start.startswith(b"I"):
            raise DataError(f"{path} is no FAISS index")
        kind, width, rows, _, _, _, metric = _HEADER.unpack(start)
        if kind not in FLAT:
            raise DataError(
                f"{path} is a FAISS index of the kind {kind.decode('ascii', 'replace')!r}: only a flat index holds the "
                "vectors themselves"
            )
        if metric not in METRICS:
            raise DataError(f"{path} is damaged: it has the metric {metric}, which FAISS does not have")
        if metric > L2:
            stream.read(4)  # the argument of the metric
        (count,) = _COUNT.unpack(stream.read(_COUNT.size))
        size = path.stat().st_size - stream.tell()
        if width < 1 or rows < 1 or count != width * rows or size != 4 * count:
            raise DataError(
                f"{path} is empty, truncated or damaged: it claims {rows:,} vectors of {width:,} dimensions, and has "
                f"{size:,} bytes of them"
            )
        vectors = np.memmap(stream, "<f4", "r", stream.tell(), (rows, width))
    return vectors, ids_beside(path, rows)


FAISS = Engine(
    name="FAISS",
    words=MetricWords(
        cosine="faiss.normalize_L2(vectors) on both sides, then IndexFlatIP (METRIC_INNER_PRODUCT)",
        inner_product="IndexFlatIP (METRIC_INNER_PRODUCT), vectors as they are",
        euclidean="IndexFlatL2 (METRIC_L2)",
    ),
    exchange=Exchange(location=".faiss", write=write_index, read=read_index),
)
