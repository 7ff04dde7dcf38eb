"""Qdrant: what to set for each metric, and a local collection to write to and read from.

A collection for cosine stores normalised copies, so vectors are written to one for inner product, and a cosine
collection is refused when it is read: its lengths are lost.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, MissingExtraError
from offsphere.data.store import Store
from offsphere.engines.engine import BATCH, Engine, Exchange, MetricWords, NamedRows


def write_collection(store: Store, folder: Path, name: str) -> None:
    """Write the vectors into a new collection for inner product, with their ids as payload."""
    client, models = _open(folder)
    if client.collection_exists(name):
        client.close()
        raise DataError(f"{folder} has a collection {name!r} already: choose another name")
    parameters = models.VectorParams(size=store.manifest.dimension, distance=models.Distance.DOT)
    client.create_collection(name, vectors_config=parameters)
    ids = store.ids
    for start in range(0, store.manifest.rows, BATCH):
        rows = np.asarray(store.vectors[start : start + BATCH], dtype=np.float32)
        points = [
            models.PointStruct(id=number, vector=row.tolist(), payload={"id": ids[number]})
            for number, row in enumerate(rows, start)
        ]
        client.upsert(name, points)
    client.close()


def read_collection(folder: Path, name: str) -> NamedRows:
    """Read the vectors of a collection, with the ids of their payload or else of their points."""
    client, models = _open(folder)
    try:
        if not client.collection_exists(name):
            raise DataError(f"{folder} has no collection {name!r}")
        parameters: Any = client.get_collection(name).config.params.vectors
        if parameters.distance == models.Distance.COSINE:
            raise DataError(
                f"the collection {name!r} is one for cosine: Qdrant normalised its vectors when they were stored, so "
                "their lengths are lost; import from where they came from"
            )
        rows, ids, offset = [], [], None
        while True:
            points, offset = client.scroll(name, limit=BATCH, offset=offset, with_vectors=True, with_payload=True)
            rows += [point.vector for point in points]
            ids += [str((point.payload or {}).get("id", point.id)) for point in points]
            if offset is None:
                return np.array(rows, np.float32), ids
    finally:
        client.close()


def _open(folder: Path) -> tuple[Any, Any]:
    """Open a local database, and give the package's models beside it."""
    try:
        from qdrant_client import QdrantClient, models
    except ImportError as error:
        raise MissingExtraError("qdrant-client", "qdrant") from error
    return QdrantClient(path=str(folder)), models


QDRANT = Engine(
    name="Qdrant",
    words=MetricWords(
        cosine="VectorParams(distance=Distance.COSINE): it stores normalised copies",
        inner_product="VectorParams(distance=Distance.DOT)",
        euclidean="VectorParams(distance=Distance.EUCLID)",
    ),
    exchange=Exchange(location="qdrant:FOLDER:COLLECTION", write=write_collection, read=read_collection),
)
