"""Milvus: a server by its address, or a file as Milvus Lite keeps one; vectors keep their lengths.

Milvus Lite answers by a server of its own within this process, on the loopback address. The client writes primary keys
into its filters as they are, quotes and all, so that the key is made from an id, and the id has a field of its own.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import ceil, sqrt
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.extras import load_extra
from offsphere.base.spilled import gather_rows
from offsphere.data.vector_files import id_texts
from offsphere.engines.collection import Collection, CollectionFacts, Hits, IndexKind, Layout, NamedRows, NumberForm
from offsphere.engines.databases import local_folder, working_with
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.milvus_fields import ID, KEY_FIELD, VECTOR, MilvusFields
from offsphere.engines.python_text import python_text
from offsphere.engines.qdrant_parameters import point_id
from offsphere.engines.target import Target

KEY = "MILVUS_TOKEN"  # the environment variable
METRICS = {Metric.COSINE: "COSINE", Metric.INNER_PRODUCT: "IP", Metric.EUCLIDEAN: "L2"}
INDEXES: dict[tuple[IndexKind, NumberForm], str] = {
    ("exact", "float32"): "FLAT",
    ("graph", "float32"): "HNSW",
    ("graph", "int8"): "HNSW_SQ",
    ("lists", "float32"): "IVF_FLAT",
    ("lists", "int8"): "IVF_SQ8",
}
EFFORTS = {"HNSW": "ef", "HNSW_SQ": "ef", "IVF_FLAT": "nprobe", "IVF_SQ8": "nprobe"}
NEIGHBOURS, CONSTRUCTION = 32, 200  # of the graph
NUMBERS = 2_000_000  # that a request carries: eight megabytes
ROWS = 1_000  # that a request reads
QUERIES = 100  # that a request asks
LONGEST_ID = 65_535  # bytes
PAUSE = 0.2  # seconds between two looks at a server that builds its index
LARGEST_K = 16_384


class MilvusCollection(Collection):
    """A collection of Milvus."""

    index_kinds = ("exact", "graph", "lists")
    stored_forms = ("float32", "int8")

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        self.where, self.id_field, self.vector_name = where, id_field, vector_name
        self.file = local_folder(where)
        if self.file is not None and self.file.suffix != ".db":
            raise DataError(f"{self.file} cannot be a file of Milvus Lite: its name must end in .db")
        self._client: Any = None
        self._stack = ExitStack()

    def facts(self) -> CollectionFacts | None:
        """What Milvus says of the collection; one of ours is marked by an alias until it is finished."""
        if self.file is not None and not self.file.exists():
            return None
        with self._working():
            client = self._opened()
            if not client.has_collection(self.where.name):
                return None
            fields = self._fields(client)
            index = self._index(client, fields.vector)
            rows, aliases = self._count(client), client.list_aliases(self.where.name)["aliases"]
        word = str(index.get("metric_type", ""))
        metric = {name: metric for metric, name in METRICS.items()}.get(word)
        words = str(index.get("index_type", "none"))
        return CollectionFacts(
            fields.width,
            metric,
            rows,
            words,
            stored="int8" if words.endswith(("SQ", "SQ8")) else fields.stored,
            unfinished=fields.ours and (not rows or _mark(self.where.name) in aliases),
            other_metric=word if metric is None else "",
        )

    def check(self, layout: Layout, ids: Sequence[str]) -> None:
        """Refuse an index that there is not, and ids that are too long."""
        if (layout.index, layout.stored) not in INDEXES:
            raise OffsphereError(f"Milvus has no exact index of {layout.stored}: take --index graph, or lists")
        for name in ids:
            if len(name) * 4 > LONGEST_ID and len(name.encode()) > LONGEST_ID:
                raise DataError(f"Milvus holds ids of at most {LONGEST_ID:,} bytes: shorten {name[:30]!r}...")

    def create(self, layout: Layout) -> None:
        """Make the collection and its index, which Milvus builds as vectors are written to disk."""
        kinds = load_extra("pymilvus").DataType
        with self._working():
            client = self._opened()
            schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
            schema.add_field(KEY_FIELD, kinds.VARCHAR, is_primary=True, max_length=len(point_id("")))
            schema.add_field(ID, kinds.VARCHAR, max_length=LONGEST_ID)
            schema.add_field(VECTOR, kinds.FLOAT_VECTOR, dim=layout.dimension)
            index = client.prepare_index_params()
            index.add_index(
                VECTOR,
                index_type=INDEXES[layout.index, layout.stored],
                metric_type=METRICS[layout.metric],
                params=_index_parameters(layout),
            )
            client.create_collection(self.where.name, schema=schema, index_params=index)
            client.create_alias(self.where.name, _mark(self.where.name))

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors, some megabytes at a time."""
        at_once = max(1, NUMBERS // rows.shape[1])
        with self._working():
            client = self._opened()
            for start in range(0, len(ids), at_once):
                pairs = zip(ids[start : start + at_once], rows[start : start + at_once], strict=True)
                client.insert(
                    self.where.name, [{KEY_FIELD: point_id(name), ID: name, VECTOR: row} for name, row in pairs]
                )

    def discard(self, ids: Sequence[str]) -> None:
        """Remove the vectors of these ids."""
        with self._working():
            client = self._opened()
            for start in range(0, len(ids), ROWS):
                client.delete(self.where.name, ids=[point_id(name) for name in ids[start : start + ROWS]])

    def finish(self) -> None:
        """Write all to disk, take the mark away, and wait for the index: before, Milvus compares all vectors.

        Milvus Lite says nothing of how far it is, but ends what it does when it is closed.
        """
        with self._working():
            client = self._opened()
            client.flush(self.where.name)
            while int(self._index(client, VECTOR).get("pending_index_rows") or 0):
                time.sleep(PAUSE)
            self._load(client)
            client.drop_alias(_mark(self.where.name))
        if self.file is not None:
            self.close()

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask for the best of each query, after all that was added."""
        ids: list[list[str]] = []
        scores: list[Array] = []
        with self._working():
            client = self._opened()
            fields = self._fields(client)
            word = EFFORTS.get(str(self._index(client, fields.vector).get("index_type")))
            params = {word: _effort(word, effort, k)} if word and effort is not None else {}
            self._load(client)
            for start in range(0, len(queries), QUERIES):
                answers = client.search(
                    self.where.name,
                    data=list(np.ascontiguousarray(queries[start : start + QUERIES], np.float32)),
                    anns_field=fields.vector,
                    limit=k,
                    search_params={"params": params},
                    output_fields=[fields.id],
                    consistency_level="Strong",
                )
                for answer in answers:
                    ids.append([str(hit["entity"][fields.id]) for hit in answer])
                    scores.append(np.array([hit["distance"] for hit in answer], np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read all vectors, in the order of their keys."""
        if self.file is not None and not self.file.exists():
            raise DataError(f"{self.file} does not exist: give a file of Milvus Lite")
        values: list[Any] = []
        with self._working():
            client = self._opened()
            fields = self._fields(client)
            self._load(client)
            shape = (self._count(client), fields.width)
            vectors = gather_rows(self._blocks(client, fields, values), shape, np.float32, str(self))
        return NamedRows(vectors, id_texts(values, str(self)))

    def remove(self) -> None:
        """Remove the collection and all that is in it."""
        if self.file is not None and not self.file.exists():
            return
        with self._working():
            client = self._opened()
            if client.has_collection(self.where.name):
                for alias in client.list_aliases(self.where.name)["aliases"]:
                    client.drop_alias(alias)  # Milvus drops no collection that has one
                client.drop_collection(self.where.name)

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:
        """Ask by Milvus' own client."""
        token = f', token=os.environ.get("{KEY}", "")' if self.file is None else ""
        name, word = python_text(self.where.name), EFFORTS.get(INDEXES[layout.index, layout.stored])
        params = f', search_params={{"params": {{"{word}": {_effort(word, effort, k)}}}}}' if word and effort else ""
        return "\n".join(
            [
                *(["import os"] if token else []),
                "from pymilvus import MilvusClient",
                f"client = MilvusClient({python_text(self.where.public_location)}{token})",
                f"client.load_collection({name})",
                f'(answer,) = client.search({name}, data=[query], limit={k}, output_fields=["{ID}"]{params})',
                f'hits = [(hit["entity"]["{ID}"], hit["distance"]) for hit in answer]',
            ]
        )

    def close(self) -> None:
        """Let go of the connection, and of the server in this process where it was started here."""
        self._client = None
        self._stack.close()

    def __repr__(self) -> str:
        """Where it is, without a password."""
        return str(self.where)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Errors in one line; the client would write tracebacks to the log."""
        loggers = [logging.getLogger(name) for name in ("pymilvus", "milvus_lite")]
        levels = [logger.level for logger in loggers]
        try:
            for logger in loggers:
                logger.setLevel(logging.CRITICAL + 1)
            with working_with("Milvus", self.where, KEY):
                yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.setLevel(level)

    def _opened(self) -> Any:
        """The client, which is opened when it is first needed."""
        if self._client is None:
            package = load_extra("pymilvus")
            if self.file is not None:
                self._start_lite(self.file)
                self._client = package.MilvusClient(str(self.file))
            else:
                self._client = package.MilvusClient(self.where.location, token=os.environ.get(KEY, ""))
            self._stack.callback(self._client.close)
        return self._client

    def _start_lite(self, file: Path) -> None:
        """Start the server of a file, unless it runs in this process already; who starts it stops it."""
        manager = _lite_manager()
        if str(file.absolute()) in getattr(manager, "_servers", {}):
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        if manager.start_and_get_uri(str(file)) is None:
            raise OffsphereError(f"cannot open {file}: another process uses it, or it is no file of Milvus Lite")
        self._stack.callback(manager.release_server, str(file))

    def _fields(self, client: Any) -> MilvusFields:
        description = client.describe_collection(self.where.name)
        return MilvusFields.of(description, self.id_field, self.vector_name, str(self.where))

    def _index(self, client: Any, vector: str) -> dict[str, Any]:
        """What the index on a field is; nothing where there is none."""
        for name in client.list_indexes(self.where.name):
            index = client.describe_index(self.where.name, name)
            if index and index.get("field_name") == vector:
                return dict(index)
        return {}

    def _count(self, client: Any) -> int:
        """How many vectors there are; what is deleted counts where the collection is not loaded."""
        if _state(client, self.where.name) == "Loaded":
            answer = client.query(self.where.name, output_fields=["count(*)"], consistency_level="Strong")
            return int(answer[0]["count(*)"])
        return int(client.get_collection_stats(self.where.name)["row_count"])

    def _load(self, client: Any) -> None:
        if _state(client, self.where.name) != "Loaded":
            client.load_collection(self.where.name)

    def _blocks(self, client: Any, fields: MilvusFields, values: list[Any]) -> Iterator[Rows]:
        """The vectors, a block at a time; what their ids are is put into a list."""
        iterator = client.query_iterator(
            self.where.name, batch_size=ROWS, output_fields=[fields.id, fields.vector], consistency_level="Strong"
        )
        try:
            while block := iterator.next():
                values += [row[fields.id] for row in block]
                yield fields.numbers([row[fields.vector] for row in block])
        finally:
            iterator.close()


def _mark(name: str) -> str:
    """The alias that a collection has until it is finished."""
    return f"{name}_offsphere_unfinished"


def _state(client: Any, name: str) -> str:
    state = client.get_load_state(name)["state"]
    return str(getattr(state, "name", state))


def _effort(word: str | None, effort: int | None, k: int) -> int:
    """How many candidates a graph looks at, which may not be fewer than k; or how many lists."""
    return max(effort or k, k) if word == "ef" else int(effort or 1)


def _index_parameters(layout: Layout) -> dict[str, Any]:
    """What an index is built with."""
    if layout.index == "graph":
        more = {"sq_type": "SQ8"} if layout.stored == "int8" else {}
        return {"M": NEIGHBOURS, "efConstruction": CONSTRUCTION, **more}
    return {"nlist": max(1, min(65_536, ceil(4 * sqrt(layout.rows))))} if layout.index == "lists" else {}


def _lite_manager() -> Any:
    """What starts and stops the servers of files."""
    return load_extra("milvus_lite.server_manager").server_manager_instance


MILVUS = Engine(
    name="Milvus",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('metric_type="COSINE"'),
            Metric.INNER_PRODUCT: MetricFacts('metric_type="IP"'),
            Metric.EUCLIDEAN: MetricFacts('metric_type="L2"', ScoreFormula(squared=True)),
        }
    ),
    prefix="milvus",
    location="FILE-OR-URL:COLLECTION",
    open=MilvusCollection,
    largest_k=LARGEST_K,
    notes=(
        f"A server gives a query at most {LARGEST_K:,} documents, and an id has at most {LONGEST_ID:,} bytes.",
        "Its client writes primary keys into filters as they are: quotes in them break deleting and iterating.",
        "No server was tried here: its client was, with Milvus Lite in a file.",
        f"The token of a server is read from {KEY}.",
    ),
)
