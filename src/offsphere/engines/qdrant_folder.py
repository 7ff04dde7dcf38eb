"""A Qdrant database in a folder, as its client keeps one: looked at, prepared and cleaned without the client.

The client unpickles all that is in a folder when it opens it, so every point is looked at before that. In the files
vectors are as they were given, whatever the metric: it is in memory that the client normalises those for cosine.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.files import write_whole
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.spilled import gather_rows
from offsphere.base.unfinished import is_unfinished, mark_beside
from offsphere.data.store_writer import locked
from offsphere.engines.collection import CollectionFacts, NamedRows
from offsphere.engines.databases import database_folder, scratch_folder
from offsphere.engines.qdrant_parameters import ID, chosen_vector, point_names
from offsphere.engines.qdrant_points import (
    check_points,
    count_points,
    point_rows,
    point_vectors,
    read_configurations,
    storage_of,
)

META = "meta.json"


def folder_facts(folder: Path, name: str, vector_name: str | None) -> CollectionFacts | None:
    """What the files say of a collection; nothing where there is none.

    Raises:
        DataError: The files are damaged, or it has several vectors a point and nobody says which.
        OffsphereError: Another process uses the folder.
    """
    storage = storage_of(folder, name)
    if not folder.exists():
        return None
    with locked(database_folder("Qdrant", folder)):
        configurations = read_configurations(folder)
        if name not in configurations:
            return None
        chosen = chosen_vector(configurations[name].get("vectors"), vector_name, f"the collection {name!r}")
        rows, unfinished = count_points(storage), is_unfinished(storage)
    return CollectionFacts(
        chosen.width,
        chosen.metric,
        rows,
        "exact (a folder has no graph)",
        unfinished=unfinished,
        other_metric=chosen.other_metric,
    )


def read_folder(folder: Path, name: str, id_field: str | None, vector_name: str | None) -> NamedRows:
    """Read the vectors of a collection, with the ids of their payloads or else of their points.

    Raises:
        DataError: There is no such collection, no point in it, or one without a vector or an id.
    """
    with locked(database_folder("Qdrant", folder)):
        storage = storage_of(folder, name)
        chosen = chosen_vector(_configuration(folder, name).get("vectors"), vector_name, f"the collection {name!r}")
        points = point_rows(storage, id_field or ID)
        if not points:
            raise DataError(f"the collection {name!r} has no points")
        ids = point_names([(point, given) for point, given, _ in points], id_field, str(storage))
        blocks = point_vectors(storage, [row for _, _, row in points], chosen)
        return NamedRows(gather_rows(blocks, (len(points), chosen.width), np.float32, str(storage)), ids)


@contextmanager
def copied_folder(folder: Path, name: str) -> Iterator[Path]:
    """Copy a collection to a database of its own, gone afterwards: the client removes older copies of points it opens.

    Raises:
        DataError: There is no such database, or no such collection in it.
        OffsphereError: Another process uses the folder.
    """
    with scratch_folder() as copy:
        with locked(database_folder("Qdrant", folder)):
            known = {"collections": {name: _configuration(folder, name)}, "aliases": {}}
            shutil.copytree(storage_of(folder, name).parent, storage_of(copy, name).parent)
        write_whole(copy / META, json.dumps(known).encode())
        yield copy


def prepare_folder(folder: Path) -> None:
    """Make a database where there is none, and look at every point of one that is there.

    Raises:
        DataError: A collection holds something else than points.
    """
    with locked(folder):  # the lock of Qdrant's own client
        read_configurations(folder)
        meta = folder / META
        if not meta.exists():  # the client would leave an empty file if it were killed
            write_whole(meta, json.dumps({"collections": {}, "aliases": {}}).encode())
        check_points(folder)


def remove_from_folder(folder: Path, name: str) -> None:
    """Remove a collection, or what a kill left of one; the mark of an unfinished one goes last."""
    storage = storage_of(folder, name)
    if not folder.exists():
        return
    with locked(folder):
        if name in read_configurations(folder):
            known = read_json_object(folder / META)
            del known["collections"][name]
            write_whole(folder / META, json.dumps(known).encode())
        if storage.parent.is_dir():
            for path in storage.parent.iterdir():
                if path != mark_beside(storage):
                    path.unlink()
            shutil.rmtree(storage.parent)


@contextmanager
def opened_folder(package: Any, folder: Path) -> Iterator[Any]:
    """Open a folder by Qdrant's client, after every point was looked at."""
    prepare_folder(folder)
    try:
        client = package.QdrantClient(path=str(folder))
    except RuntimeError as error:  # what it raises where another client is there
        raise OffsphereError(f"another process uses the Qdrant database {folder}: wait for it") from error
    try:
        yield client
    finally:
        client.close()


def hasten(client: Any, name: str) -> None:
    """Let the operating system choose when what the client writes goes to disk: it would wait for every single point.

    A kill loses nothing by that; a power cut may, and then the mark of an unfinished collection is still there.
    """
    for collection in _connections(client, name):
        collection.execute("PRAGMA synchronous = OFF")


def flush_to_disk(client: Any, name: str, folder: Path) -> None:
    """See to it that all is on disk."""
    for collection in _connections(client, name):
        collection.commit()
        collection.execute("PRAGMA synchronous = FULL")
    with storage_of(folder, name).open("rb") as stream:
        os.fsync(stream.fileno())


def _configuration(folder: Path, name: str) -> dict[str, Any]:
    """What a database says of one of its collections."""
    configurations = read_configurations(folder)
    if name not in configurations:
        raise DataError(f"{folder} has no collection {name!r}: it has {', '.join(configurations) or 'none'}")
    configuration: dict[str, Any] = configurations[name]
    return configuration


def _connections(client: Any, name: str) -> list[Any]:
    """The SQLite connection that a client has for a collection, where it has one as we know it."""
    local = getattr(getattr(client, "_client", None), "collections", {})
    storage = getattr(getattr(local.get(name), "storage", None), "storage", None)
    return [storage] if storage is not None and hasattr(storage, "execute") else []
