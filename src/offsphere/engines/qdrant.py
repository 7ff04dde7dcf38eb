"""Qdrant: what to set for each metric, and a local collection to write to and read from.

A collection for cosine stores normalised copies, so vectors are written to one for inner product, and a cosine
collection is refused when it is read: its lengths are lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, MissingExtraError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.spilled import gather_rows
from offsphere.base.unfinished import is_unfinished, marked_unfinished, refuse_unfinished
from offsphere.data.store import Store
from offsphere.data.store_writer import locked
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import NamedRows
from offsphere.engines.databases import database_folder, remove_unfinished, working_with
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, Returned
from offsphere.engines.qdrant_points import check_points, point_places, point_vectors, read_configurations, storage_of
from offsphere.engines.store_parts import blocks_of


def write_collection(store: Store, folder: Path, name: str) -> None:
    """Write the vectors into a new collection for inner product, with their ids as payload.

    Raises:
        DataError: There is such a collection already; half of one, left by a kill, is replaced.
    """
    storage = storage_of(folder, name)
    with locked(folder):  # the lock of Qdrant's own client
        _prepare(folder, name)
    with _opened(folder) as (client, models):
        if client.collection_exists(name):
            raise DataError(f"{folder} has a collection {name!r} already: choose another name")
        with marked_unfinished(storage):
            parameters = models.VectorParams(size=store.manifest.dimension, distance=models.Distance.DOT)
            client.create_collection(name, vectors_config=parameters)
            ids, start = store.ids, 0
            for block in blocks_of(store):
                rows = block.astype(np.float32).tolist()
                points = [
                    models.PointStruct(id=number, vector=row, payload={"id": ids[number]})
                    for number, row in enumerate(rows, start)
                ]
                client.upsert(name, points)
                start += len(rows)


def read_collection(folder: Path, name: str) -> NamedRows:
    """Read the vectors of a collection, with the ids of their payload or else of their points.

    Raises:
        DataError: There is no such collection, half of one, one for cosine, or one of several vectors a point.
    """
    with locked(database_folder("Qdrant", folder)):
        configurations = read_configurations(folder)
        if name not in configurations:
            raise DataError(f"{folder} has no collection {name!r}: it has {', '.join(configurations) or 'none'}")
        storage = storage_of(folder, name)
        refuse_unfinished(storage)
        width = _width(configurations[name], name)
        places = point_places(storage)
        if not places:
            raise DataError(f"the collection {name!r} has no points")
        ids = id_texts([given for _, given, _ in places], str(storage))
        blocks = point_vectors(storage, [row for _, _, row in places], width)
        return gather_rows(blocks, (len(places), width), np.float32, str(storage)), ids


def _width(configuration: dict[str, Any], name: str) -> int:
    """How many dimensions the vectors of a collection have; an error where they are not what can be imported."""
    parameters = configuration.get("vectors")
    if not isinstance(parameters, dict) or "size" not in parameters:
        names = ", ".join(parameters) if isinstance(parameters, dict) else ""
        raise DataError(
            f"the collection {name!r} has named vectors ({names or 'none that are dense'}): only a collection with one "
            "vector a point, without a name, can be imported"
        )
    if parameters.get("multivector_config"):
        raise DataError(f"the collection {name!r} has several vectors a point: only one a point can be imported")
    if parameters.get("distance") == "Cosine":
        raise DataError(
            f"the collection {name!r} is one for cosine: Qdrant normalised its vectors when they were stored, so "
            "their lengths are lost; import from where they came from"
        )
    width = parameters["size"]
    if type(width) is not int or width < 1:
        raise DataError(f"the collection {name!r} claims vectors of {width!r} dimensions")
    return width


def _prepare(folder: Path, name: str) -> None:
    """Make a database where there is none, and remove what a killed export left of a collection."""
    configurations = read_configurations(folder)
    meta, storage = folder / "meta.json", storage_of(folder, name)
    if not meta.exists():  # the client would leave an empty file if it were killed
        write_whole(meta, json.dumps({"collections": {}, "aliases": {}}).encode())
    if is_unfinished(storage):
        if name in configurations:
            known = read_json_object(meta)
            del known["collections"][name]
            write_whole(meta, json.dumps(known).encode())
        remove_unfinished(storage.parent, storage)
    check_points(folder)


@contextmanager
def _opened(folder: Path) -> Iterator[tuple[Any, Any]]:
    """Open a local database, and give the package's models beside it."""
    try:
        from qdrant_client import QdrantClient, models
    except ImportError as error:
        raise MissingExtraError("qdrant-client", "qdrant") from error
    with working_with("Qdrant", folder):
        try:
            client = QdrantClient(path=str(folder))
        except RuntimeError as error:  # what it raises where another client is there
            raise OffsphereError(f"another process uses the Qdrant database {folder}: wait for it") from error
        with closing(client):
            yield client, models


QDRANT = Engine(
    name="Qdrant",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                "VectorParams(distance=Distance.COSINE): it stores normalised copies", Returned(), keeps_length=False
            ),
            Metric.INNER_PRODUCT: MetricFacts("VectorParams(distance=Distance.DOT)"),
            Metric.EUCLIDEAN: MetricFacts("VectorParams(distance=Distance.EUCLID)"),
        }
    ),
)
