"""FAISS: what to set for each metric, and a flat index as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, MissingExtraError
from offsphere.base.files import write_whole
from offsphere.data.store import Store
from offsphere.data.vector_files import read_ids
from offsphere.engines.engine import BATCH, Engine, Exchange, MetricWords, NamedRows
from offsphere.engines.store_parts import write_ids


def write_index(store: Store, path: Path, name: str = "") -> None:  # noqa: ARG001
    """Write the vectors as a flat index of inner products, the ids beside it."""
    faiss = _load_package()
    index = faiss.IndexFlatIP(store.manifest.dimension)
    for start in range(0, store.manifest.rows, BATCH):
        index.add(np.ascontiguousarray(store.vectors[start : start + BATCH], dtype=np.float32))
    write_whole(path, faiss.serialize_index(index).tobytes())
    write_ids(store, path)


def read_index(path: Path, name: str = "") -> NamedRows:  # noqa: ARG001
    """Read the vectors of a flat index, and the ids where they lie beside it."""
    faiss = _load_package()
    try:
        index = faiss.deserialize_index(np.frombuffer(path.read_bytes(), np.uint8))
    except RuntimeError as error:
        raise DataError(f"{path} is no FAISS index") from error
    if not isinstance(index, faiss.IndexFlat):
        raise DataError(f"{path} is a {type(index).__name__}: only a flat index holds the vectors themselves")
    return index.reconstruct_n(0, index.ntotal), read_ids(path.with_suffix(".ids"))


def _load_package() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError("faiss-cpu", "faiss") from error
    return faiss


FAISS = Engine(
    name="FAISS",
    words=MetricWords(
        cosine="faiss.normalize_L2(vectors) on both sides, then IndexFlatIP (METRIC_INNER_PRODUCT)",
        inner_product="IndexFlatIP (METRIC_INNER_PRODUCT), vectors as they are",
        euclidean="IndexFlatL2 (METRIC_L2)",
    ),
    exchange=Exchange(location=".faiss", write=write_index, read=read_index),
)
