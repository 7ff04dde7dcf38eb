"""Qdrant Edge: Qdrant's own engine and graph in this process, a shard in a folder.

It is what a Qdrant server runs inside, by the package qdrant-edge-py. A shard is used by one process at a time. For
cosine it stores normalised copies: lengths are lost.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Rows
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.extras import load_extra
from offsphere.base.files import write_whole
from offsphere.base.reading.json_files import read_json_object
from offsphere.base.spilled import gather_rows
from offsphere.base.unfinished import is_unfinished, mark_beside
from offsphere.engines.collection import Collection, CollectionFacts, Hits, Layout, NamedRows
from offsphere.engines.databases import database_folder, scratch_folder, working_with
from offsphere.engines.engine import BATCH, Engine
from offsphere.engines.metric import Metric, MetricFacts
from offsphere.engines.python_text import python_text
from offsphere.engines.qdrant_parameters import (
    DISTANCES,
    ID,
    VectorParameters,
    chosen_vector,
    hit_name,
    point_id,
    point_names,
)
from offsphere.engines.target import Target

try:
    import fcntl
except ImportError:  # Windows, where Qdrant itself says that a shard is used
    fcntl = None  # type: ignore[assignment]

NAME = "Qdrant Edge"
CONFIGURATION, LOG = "edge_config.json", "wal"
NEIGHBOURS, CONSTRUCTION = 16, 100  # of the graph, as a Qdrant server has them
POINTS = 500  # that are added at a time: numbers as objects of Python soon are more than a processor's cache holds
FULL_SCAN = 10_000  # kilobytes of vectors below which no graph is built, or looked at; a server's default


class QdrantEdgeCollection(Collection):
    """A shard, which is a collection in a folder of its own."""

    index_kinds = ("graph", "exact")
    stored_forms = ("float32", "float16", "int8", "binary")

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        self.where, self.id_field, self.vector_name = where, id_field, vector_name
        if where.is_address:
            raise DataError(
                f"{where} is an address: a shard is a folder; write {where._replace(engine='qdrant')}:NAME for a server"
            )
        self.folder = Path(where.location)
        self._shard: Any = None
        self._stack = ExitStack()

    def facts(self) -> CollectionFacts | None:
        """What the shard's configuration says, and how many points a copy of it has."""
        if not self._there():
            return None
        chosen = self._vector()
        with self._reading() as shard:
            rows = shard.count(load_extra("qdrant_edge").CountRequest(exact=True))
        configuration = self._configuration()
        quantized = configuration.get("quantization_config")
        datatype = dict(self._parameters()[chosen.name]).get("datatype")
        return CollectionFacts(
            chosen.width,
            chosen.metric,
            rows,
            "exact" if self._is_exact() else "HNSW",
            stored=" and ".join([str(datatype or "float32").lower(), *(quantized or {})]),
            normalized=chosen.metric is Metric.COSINE,
            unfinished=is_unfinished(self.folder),
            other_metric=chosen.other_metric,
        )

    def create(self, layout: Layout) -> None:
        """Make the folder, marked as unfinished."""
        edge = load_extra("qdrant_edge")
        if is_unfinished(self.folder):
            self.remove()  # what a kill left before it was a shard
        if self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise DataError(f"{self.folder} is there already, and is no shard of Qdrant: choose another folder")
        write_whole(mark_beside(self.folder), f"{self.folder.name} is being written\n".encode())
        vectors = edge.EdgeVectorParams(
            size=layout.dimension,
            distance=getattr(edge.Distance, DISTANCES[layout.metric]),
            datatype=edge.VectorStorageDatatype.Float16 if layout.stored == "float16" else None,
        )
        neighbours = 0 if layout.index == "exact" else NEIGHBOURS
        configuration = edge.EdgeConfig(
            vectors=vectors,
            hnsw_config=edge.HnswIndexConfig(neighbours, CONSTRUCTION, FULL_SCAN),
            quantization_config=_quantization(edge, layout),
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=FULL_SCAN),
        )
        with self._working():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._shard = edge.EdgeShard.create(str(self.folder), configuration)
            self._stack.callback(self._shard.close)

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add points; they are in the shard's log when this returns."""
        edge = load_extra("qdrant_edge")
        with self._working():
            for start in range(0, len(ids), POINTS):
                pairs = zip(ids[start : start + POINTS], rows[start : start + POINTS].tolist(), strict=True)
                points = [edge.Point(point_id(name), row, {ID: name}) for name, row in pairs]
                self._opened().update(edge.UpdateOperation.upsert_points(points))

    def discard(self, ids: Sequence[str]) -> None:
        """Remove the points of these ids."""
        with self._working():
            self._opened().update(
                load_extra("qdrant_edge").UpdateOperation.delete_points([point_id(name) for name in ids])
            )

    def finish(self) -> None:
        """Build the graph, if there is to be one, write all, and take the mark away."""
        configuration = self._configuration()
        with self._working():
            shard = self._opened()
            if not self._is_exact() or configuration.get("quantization_config"):
                shard.optimize()
            shard.flush()
        mark_beside(self.folder).unlink(missing_ok=True)

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask for the best of all queries at once."""
        edge = load_extra("qdrant_edge")
        params = edge.SearchParams(hnsw_ef=max(effort, k) if effort is not None else None, exact=self._is_exact())
        using = self._vector().name or None
        with self._working():
            requests = [
                edge.QueryRequest(
                    limit=k,
                    query=edge.Query.Nearest(query, using=using),
                    params=params,
                    with_payload=[self.id_field or ID],
                )
                for query in queries.tolist()
            ]
            answers = self._opened().query_batch(edge.QueryBatchRequest(requests))
        return Hits(
            [[hit_name(point, self.id_field) for point in answer] for answer in answers],
            [np.array([point.score for point in answer], np.float64) for answer in answers],
        )

    def read(self) -> NamedRows:
        """Read all points from a copy, in the order of their ids."""
        if not self._there():
            raise DataError(f"{self.folder} is no shard of Qdrant Edge: it has no {CONFIGURATION}")
        chosen = self._vector()
        points: list[tuple[Any, Any]] = []
        with self._reading() as shard:
            rows = shard.count(load_extra("qdrant_edge").CountRequest(exact=True))
            vectors = gather_rows(self._blocks(shard, chosen, points), (rows, chosen.width), np.float32, str(self))
        return NamedRows(vectors, point_names(points, self.id_field, str(self.folder)))

    def remove(self) -> None:
        """Remove the folder, the mark of an unfinished one last."""
        self.close()
        try:
            if self.folder.is_dir():
                shutil.rmtree(self.folder)
            mark_beside(self.folder).unlink(missing_ok=True)
        except OSError as error:
            raise OffsphereError(f"cannot remove {self.folder}: {error.strerror}") from error

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Ask by the package itself."""
        params = ""
        if layout.index == "exact":
            params = ", params=SearchParams(exact=True)"
        elif effort is not None:
            params = f", params=SearchParams(hnsw_ef={max(effort, k)})"
        return "\n".join(
            [
                f"from qdrant_edge import EdgeShard, Query, QueryRequest{', SearchParams' if params else ''}",
                f"shard = EdgeShard.load({python_text(self.folder)})",
                f'request = QueryRequest({k}, query=Query.Nearest(query.tolist()), with_payload=["{ID}"]{params})',
                f'hits = [(point.payload["{ID}"], point.score) for point in shard.query(request)]',
                "shard.close()",
            ]
        )

    def close(self) -> None:
        """Let go of the shard."""
        self._shard = None
        with self._working():
            self._stack.close()

    def __repr__(self) -> str:
        """Where its folder is."""
        return str(self.where)

    def _working(self) -> Any:
        return working_with(NAME, self.folder)

    def _there(self) -> bool:
        return self.folder.exists() and (database_folder(NAME, self.folder) / CONFIGURATION).is_file()

    def _configuration(self) -> dict[str, Any]:
        return read_json_object(self.folder / CONFIGURATION)

    def _parameters(self) -> dict[str, Any]:
        parameters = self._configuration().get("vectors")
        return parameters if isinstance(parameters, dict) else {}

    def _vector(self) -> VectorParameters:
        return chosen_vector(self._parameters(), self.vector_name, str(self.folder))

    def _is_exact(self) -> bool:
        return (self._configuration().get("hnsw_config") or {}).get("m") == 0

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """The shard where it is open, or a copy."""
        with self._working():
            if self._shard is not None or self.read_only:
                yield self._opened()
                return
            with _copied_shard(self.folder) as shard:
                yield shard

    def _opened(self) -> Any:
        """The shard, which is opened when it is first needed; a copy where nothing may change."""
        if self._shard is None:
            opened = _copied_shard(self.folder) if self.read_only else _own_shard(self.folder)
            self._shard = self._stack.enter_context(opened)
        return self._shard

    def _blocks(self, shard: Any, chosen: VectorParameters, points: list[tuple[Any, Any]]) -> Iterator[Rows]:
        """The vectors, a block at a time; the ids of their points are put into a list."""
        following = None
        while True:
            request = load_extra("qdrant_edge").ScrollRequest(
                offset=following,
                limit=BATCH,
                with_payload=[self.id_field or ID],
                with_vector=[chosen.name] if chosen.name else True,
            )
            records, following = shard.scroll(request)
            points += [(record.id, (record.payload or {}).get(self.id_field or ID)) for record in records]
            vectors = [record.vector[chosen.name] if chosen.name else record.vector for record in records]
            yield np.array(vectors, np.float32).reshape(-1, chosen.width)
            if following is None:
                return


@contextmanager
def _own_shard(folder: Path) -> Iterator[Any]:
    """A shard, opened where it lies."""
    with _unused(folder):
        pass
    shard = load_extra("qdrant_edge").EdgeShard.load(str(folder))
    try:
        yield shard
    finally:
        shard.close()


@contextmanager
def _copied_shard(folder: Path) -> Iterator[Any]:
    """A copy of a shard, which is gone afterwards: Qdrant tidies up as soon as it opens one."""
    with scratch_folder() as copy:
        with _unused(folder):
            shutil.copytree(folder, copy, dirs_exist_ok=True)
        with _own_shard(copy) as shard:
            yield shard


@contextmanager
def _unused(folder: Path) -> Iterator[None]:
    """Hold the lock that a process has which uses a shard: its log."""
    if fcntl is None or not (folder / LOG).is_dir():
        yield
        return
    log = os.open(folder / LOG, os.O_RDONLY)
    try:
        try:
            fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OffsphereError(f"another process uses the shard {folder}: wait for it") from error
        yield
    finally:
        os.close(log)


def _quantization(edge: Any, layout: Layout) -> Any:
    """How it is told to search in fewer bits; it keeps the numbers themselves, and compares again with them."""
    if layout.stored == "int8":
        return edge.ScalarQuantizationConfig(edge.ScalarType.Int8)
    return edge.BinaryQuantizationConfig() if layout.stored == "binary" else None


QDRANT_EDGE = Engine(
    name=NAME,
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                "EdgeVectorParams(distance=Distance.Cosine): it stores normalised copies", keeps_length=False
            ),
            Metric.INNER_PRODUCT: MetricFacts("EdgeVectorParams(distance=Distance.Dot)"),
            Metric.EUCLIDEAN: MetricFacts("EdgeVectorParams(distance=Distance.Euclid)"),
        }
    ),
    prefix="qdrant-edge",
    location="FOLDER",
    named=False,
    open=QdrantEdgeCollection,
    notes=(
        "For cosine it stores normalised vectors: lengths are lost.",
        f"Below {FULL_SCAN:,} kilobytes of vectors it compares all of them, graph or not.",
        "By inner product some documents cannot be reached in its graph, at any effort: offsphere export --tune helps.",
    ),
)
