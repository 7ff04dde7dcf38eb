"""The points of a local Qdrant collection, read without Qdrant's client.

A local collection is an SQLite table of pickled points, and the client unpickles whatever is there: a folder from
somebody else could run code. Here a pickle may name the class of points and no other, and what it makes of that one is
a plain object of ours.
"""

from __future__ import annotations

import io
import pickle  # only with the reader below, which runs nothing
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import open_file, reading
from offsphere.base.reading.json_files import read_json_object
from offsphere.engines.qdrant_parameters import VectorParameters

KIND = "a local Qdrant collection"
NAMED = ("qdrant_client.http.models.models", "PointStruct")
BATCH = 4096  # points that are read at a time


def read_configurations(folder: Path) -> dict[str, Any]:
    """The configurations of the collections of a database, by name; none where it is no database yet.

    Raises:
        DataError: They cannot be read.
    """
    path = folder / "meta.json"
    if not path.exists():
        return {}
    collections = read_json_object(path).get("collections")
    if not isinstance(collections, dict) or not all(isinstance(value, dict) for value in collections.values()):
        raise DataError(f"{path} does not describe the collections of a Qdrant database")
    return collections


def storage_of(folder: Path, name: str) -> Path:
    """The file with the points of a collection.

    Raises:
        DataError: The name leads out of the database.
    """
    if name in ("", ".", "..") or any(sign in name for sign in '<>:"/\\|?*\0\x1f'):
        raise DataError(f"{name!r} cannot name a Qdrant collection: choose another name")
    return folder / "collection" / name / "storage.sqlite"


def count_points(path: Path) -> int:
    """How many points a collection has; none where the file is not there yet.

    Raises:
        DataError: It is no such file.
    """
    if not path.exists():
        return 0
    with reading(path, KIND), _connected(path) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM points").fetchone()[0])


def point_rows(path: Path, id_field: str) -> list[tuple[str | int, Any, int]]:
    """What is known of each point but its vector: those with numbers in their order, then others as they were added.

    Returns:
        The id of each point, what its payload has in the field, and its row in the table.

    Raises:
        DataError: It is no such file, or a point is none.
    """
    latest: dict[str | int, tuple[Any, int]] = {}
    for row, point in _points(path, "SELECT rowid, point FROM points ORDER BY rowid"):
        payload = point.get("payload") or {}
        if not isinstance(payload, dict):
            raise DataError(f"{path}: the payload of point {point['id']!r} is no mapping")
        latest[point["id"]] = (payload.get(id_field), row)
    points = [(name, given, row) for name, (given, row) in latest.items()]
    return sorted(points, key=lambda point: (1, point[2]) if isinstance(point[0], str) else (0, point[0]))


def point_vectors(path: Path, rows: list[int], vector: VectorParameters) -> Iterator[Array]:
    """The vectors of the points in some rows of the table, a block at a time.

    Raises:
        DataError: A vector is no list of so many numbers.
    """
    for start in range(0, len(rows), BATCH):
        chosen = rows[start : start + BATCH]
        query = f"SELECT rowid, point FROM points WHERE rowid IN ({', '.join(map(str, chosen))})"  # noqa: S608  # numbers
        with reading(path, KIND), np.errstate(over="ignore"):  # an infinity is refused by whoever stores it
            vectors = {row: _vector(path, point, vector) for row, point in _points(path, query)}
            yield np.array([vectors[row] for row in chosen], np.float64).astype(np.float32)


def check_points(folder: Path) -> None:
    """Read every point of every collection, before Qdrant's client does: it would run what a pickle says.

    Raises:
        DataError: A collection holds something else than points.
    """
    for name in read_configurations(folder):
        path = storage_of(folder, name)
        if path.exists():
            for _ in _points(path, "SELECT rowid, point FROM points"):
                pass


def _points(path: Path, query: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The points that a query gives, as mappings, with their rows."""
    with reading(path, KIND), _connected(path) as connection:
        for row, pickled in connection.execute(query):
            yield int(row), _plain_point(path, row, pickled)


def _connected(path: Path) -> closing[sqlite3.Connection]:
    """Open the table; to be written, since what a killed writer began is rolled back by the next one who reads."""
    open_file(path).close()  # whose errors are clearer
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True))


def _plain_point(path: Path, row: int, pickled: bytes) -> dict[str, Any]:
    point = _PointReader(pickled, path).load()
    values = getattr(point, "values", None)
    if not isinstance(point, _Point) or not isinstance(values, dict):
        raise DataError(f"{path}: row {row} holds no point")
    if not isinstance(values.get("id"), str | int) or isinstance(values["id"], bool):
        raise DataError(f"{path}: row {row} holds a point without an id")
    return values


def _vector(path: Path, point: dict[str, Any], wanted: VectorParameters) -> list[float]:
    """The vector of a point; that of a batch stands in a mapping, under the empty name."""
    vector = point.get("vector")
    if isinstance(vector, dict):
        vector = vector.get(wanted.name)
    if (
        not isinstance(vector, list)
        or len(vector) != wanted.width
        or not all(isinstance(value, float | int) for value in vector)
    ):
        called = f" called {wanted.name!r}" if wanted.name else ""
        raise DataError(f"{path}: point {point['id']!r} has no vector{called} of {wanted.width} numbers")
    return vector


class _Point:
    """Stands for Qdrant's class of points: it keeps what was pickled, and does nothing."""

    def __setstate__(self, state: Any) -> None:
        """Keep the values of the point."""
        self.values = state.get("__dict__") if isinstance(state, dict) else None


class _PointReader(pickle.Unpickler):
    """Reads a pickle of plain values and points, and refuses every other name."""

    def __init__(self, pickled: bytes, path: Path) -> None:
        """Read from bytes that stand in a file."""
        super().__init__(io.BytesIO(pickled))
        self.path = path

    def find_class(self, module: str, name: str) -> Any:
        """Give our own class for that of points."""
        if (module, name) == NAMED:
            return _Point
        raise DataError(f"{self.path} names {module}.{name}, which is no point: nothing else is unpickled")
