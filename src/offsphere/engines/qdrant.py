"""Qdrant: a server by its address, or a folder as Qdrant's own client keeps one for small collections.

Points have numbers or UUIDs, so an id is kept in the payload, and the point's own id is made from it. A server stores
normalised copies for cosine: lengths are lost there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.extras import load_extra
from offsphere.base.files import write_whole
from offsphere.base.spilled import gather_rows
from offsphere.base.unfinished import mark_beside
from offsphere.engines.collection import Collection, CollectionFacts, Hits, IndexKind, Layout, NamedRows, NumberForm
from offsphere.engines.databases import local_folder, working_with
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts
from offsphere.engines.python_text import python_text
from offsphere.engines.qdrant_folder import (
    copied_folder,
    flush_to_disk,
    folder_facts,
    hasten,
    opened_folder,
    read_folder,
    remove_from_folder,
)
from offsphere.engines.qdrant_parameters import (
    DISTANCES,
    ID,
    VectorParameters,
    chosen_vector,
    hit_name,
    point_id,
    point_names,
)
from offsphere.engines.qdrant_points import storage_of
from offsphere.engines.target import Target

KEY = "QDRANT_API_KEY"  # the environment variable
MARK = {"offsphere": "unfinished"}  # of a collection on a server
NUMBERS = 500_000  # that a request carries: about ten megabytes of JSON, a third of what a server takes
POINTS = 1_000  # that a request reads
QUERIES = 100  # that a request asks
SECONDS = 120  # that a request may take
PAUSE = 0.2  # seconds between two looks at a server that builds its graph


class QdrantCollection(Collection):
    """A collection of Qdrant."""

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        self.where, self.id_field, self.vector_name = where, id_field, vector_name
        self.folder = local_folder(where)
        self.index_kinds: tuple[IndexKind, ...] = ("exact",) if self.folder is not None else ("graph", "exact")
        forms: tuple[NumberForm, ...] = ("float32", "float16", "int8", "binary")
        self.stored_forms = forms[:1] if self.folder is not None else forms
        self._client: Any = None
        self._stack = ExitStack()

    def facts(self) -> CollectionFacts | None:
        """What the files of a folder say, or the server."""
        if self.folder is not None:
            self.close()
            return folder_facts(self.folder, self.where.name, self.vector_name)
        with self._working():
            client = self._opened()
            if not client.collection_exists(self.where.name):
                return None
            info = client.get_collection(self.where.name)
            chosen = self._vector(info)
            rows = client.count(self.where.name, exact=True).count
        graph = info.config.hnsw_config.m > 0
        return CollectionFacts(
            chosen.width,
            chosen.metric,
            rows,
            "HNSW" if graph else "exact",
            stored=_stored_words(info),
            normalized=chosen.metric is Metric.COSINE,
            unfinished=(getattr(info.config, "metadata", None) or {}) == MARK,
            other_metric=chosen.other_metric,
        )

    def create(self, layout: Layout) -> None:
        """Make the collection, marked as unfinished."""
        models = load_extra("qdrant_client").models
        if self.folder is not None:
            remove_from_folder(self.folder, self.where.name)  # what a kill left before it was known
            storage = storage_of(self.folder, self.where.name)
            write_whole(mark_beside(storage), f"{self.where.name} is being written\n".encode())
        parameters = models.VectorParams(
            size=layout.dimension,
            distance=models.Distance(DISTANCES[layout.metric]),
            datatype=models.Datatype.FLOAT16 if layout.stored == "float16" else None,
        )
        options: dict[str, Any] = {}
        if self.folder is None:
            options["metadata"] = MARK
            options["quantization_config"] = _quantization(models, layout.stored)
            options["hnsw_config"] = models.HnswConfigDiff(m=0) if layout.index == "exact" else None
        with self._working():
            self._opened().create_collection(self.where.name, vectors_config=parameters, **options)
            hasten(self._client, self.where.name)

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add points; a server has them in its log before it answers, and goes on by itself."""
        models = load_extra("qdrant_client").models
        at_once = max(1, NUMBERS // rows.shape[1])
        with self._working():
            for start in range(0, len(ids), at_once):
                names = ids[start : start + at_once]
                batch = models.Batch(
                    ids=[point_id(name) for name in names],
                    vectors=rows[start : start + at_once].tolist(),
                    payloads=[{ID: name} for name in names],
                )
                self._opened().upsert(self.where.name, batch, wait=False)

    def discard(self, ids: Sequence[str]) -> None:
        """Remove the points of these ids."""
        models = load_extra("qdrant_client").models
        with self._working():
            points = models.PointIdsList(points=[point_id(name) for name in ids])
            self._opened().delete(self.where.name, points, wait=True)

    def finish(self) -> None:
        """Wait until a server has built its graph, and take the mark away."""
        with self._working():
            client = self._opened()
            if self.folder is not None:
                flush_to_disk(client, self.where.name, self.folder)
                mark_beside(storage_of(self.folder, self.where.name)).unlink(missing_ok=True)
                return
            while client.get_collection(self.where.name).status.value in ("yellow", "grey"):
                time.sleep(PAUSE)
            client.update_collection(self.where.name, metadata={"offsphere": "finished"})

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask for the best of each query."""
        models = load_extra("qdrant_client").models
        ids: list[list[str]] = []
        scores: list[Array] = []
        with self._working():
            client = self._opened()
            info = client.get_collection(self.where.name)
            using = self._vector(info).name or None
            exact = info.config.hnsw_config.m == 0
            params = models.SearchParams(hnsw_ef=max(effort, k) if effort is not None else None, exact=exact)
            for start in range(0, len(queries), QUERIES):
                requests = [
                    models.QueryRequest(
                        query=query, limit=k, using=using, params=params, with_payload=[self.id_field or ID]
                    )
                    for query in queries[start : start + QUERIES].tolist()
                ]
                for answer in client.query_batch_points(self.where.name, requests):
                    ids.append([hit_name(point, self.id_field) for point in answer.points])
                    scores.append(np.array([point.score for point in answer.points], np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read the files of a folder, where lengths are whatever the metric; or what a server gives."""
        if self.folder is not None:
            self.close()
            return read_folder(self.folder, self.where.name, self.id_field, self.vector_name)
        points: list[tuple[Any, Any]] = []
        with self._working():
            client = self._opened()
            chosen = self._vector(client.get_collection(self.where.name))
            rows = client.count(self.where.name, exact=True).count
            vectors = gather_rows(self._blocks(client, chosen, points), (rows, chosen.width), np.float32, str(self))
        return NamedRows(vectors, point_names(points, self.id_field, str(self)))

    def remove(self) -> None:
        """Remove the collection and all that is in it."""
        if self.folder is not None:
            self.close()
            remove_from_folder(self.folder, self.where.name)
            return
        with self._working():
            self._opened().delete_collection(self.where.name)

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Ask by Qdrant's own client."""
        where, params = f"path={python_text(self.where.public_location)}", ""
        lines = ["from qdrant_client import QdrantClient"]
        if self.folder is None:
            where = f'url={python_text(self.where.public_location)}, api_key=os.environ.get("{KEY}")'
            lines.insert(0, "import os")
            if layout.index == "exact" or effort is not None:
                lines[-1] += ", models"
                word = "exact=True" if layout.index == "exact" else f"hnsw_ef={max(effort or k, k)}"
                params = f", search_params=models.SearchParams({word})"
        lines += [
            f"client = QdrantClient({where})",
            f"answer = client.query_points({python_text(self.where.name)}, query=query.tolist(), limit={k}{params})",
            f'hits = [(point.payload["{ID}"], point.score) for point in answer.points]',
            "client.close()",
        ]
        return "\n".join(lines)

    def close(self) -> None:
        """Let go of the folder, or of the connection."""
        self._client = None
        self._stack.close()

    def __repr__(self) -> str:
        """Where it is, without a password."""
        return str(self.where)

    def _working(self) -> Any:
        return working_with("Qdrant", self.folder if self.folder is not None else self.where, KEY)

    def _opened(self) -> Any:
        """The client, which is opened when it is first needed; of a copy of a folder where nothing may change."""
        if self._client is None:
            package = load_extra("qdrant_client")
            if self.folder is not None:
                copied = copied_folder(self.folder, self.where.name) if self.read_only else None
                folder = self._stack.enter_context(copied) if copied is not None else self.folder
                self._client = self._stack.enter_context(opened_folder(package, folder))
                hasten(self._client, self.where.name)
            else:
                self._client = package.QdrantClient(
                    url=self.where.location,
                    api_key=os.environ.get(KEY),
                    timeout=SECONDS,
                    check_compatibility=False,  # it would ask the server, and warn where it may not
                )
                self._stack.callback(self._client.close)
        return self._client

    def _vector(self, info: Any) -> VectorParameters:
        vectors = info.config.params.vectors
        if isinstance(vectors, dict):
            parameters: object = {name: value.model_dump() for name, value in vectors.items()}
        else:
            parameters = vectors.model_dump() if vectors is not None else None
        return chosen_vector(parameters, self.vector_name, str(self.where))

    def _blocks(self, client: Any, chosen: VectorParameters, points: list[tuple[Any, Any]]) -> Iterator[Rows]:
        """The vectors that a server gives, a block at a time; the ids of their points are put into a list."""
        following = None
        while True:
            records, following = client.scroll(
                self.where.name,
                limit=POINTS,
                offset=following,
                with_payload=[self.id_field or ID],
                with_vectors=[chosen.name] if chosen.name else True,
            )
            points += [(record.id, (record.payload or {}).get(self.id_field or ID)) for record in records]
            vectors = [record.vector[chosen.name] if chosen.name else record.vector for record in records]
            yield np.array(vectors, np.float32).reshape(-1, chosen.width)
            if following is None:
                return


def _quantization(models: Any, stored: NumberForm) -> Any:
    """How a server is told to search in fewer bits; it keeps the numbers themselves, and compares again with them."""
    if stored == "int8":
        return models.ScalarQuantization(scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8))
    if stored == "binary":
        return models.BinaryQuantization(binary=models.BinaryQuantizationConfig())
    return None


def _stored_words(info: Any) -> str:
    """How a server stores numbers."""
    quantized = info.config.quantization_config
    return "float32" if quantized is None else f"float32 and {type(quantized).__name__}"


QDRANT = Engine(
    name="Qdrant",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts(
                "VectorParams(distance=Distance.COSINE): it stores normalised copies", keeps_length=False
            ),
            Metric.INNER_PRODUCT: MetricFacts("VectorParams(distance=Distance.DOT)"),
            Metric.EUCLIDEAN: MetricFacts("VectorParams(distance=Distance.EUCLID)"),
        }
    ),
    prefix="qdrant",
    location="FOLDER-OR-URL:COLLECTION",
    open=QdrantCollection,
    notes=(
        "A server stores normalised vectors for cosine: lengths are lost.",
        "A folder is searched exactly, by the client itself: for up to some 20,000 vectors.",
        "No server's own program was tried here: what is said to one was said over HTTP to what its client has inside.",
        f"The key of a server is read from {KEY}.",
    ),
)
