"""Chroma: a folder or a server, with a graph and nothing else; vectors keep their lengths.

Distance is the metric of a collection where nobody says otherwise. How many candidates the graph looks at is a setting
of the collection, which Chroma takes up when it loads the collection anew.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from offsphere.base.arrays import Array, Rows
from offsphere.base.errors import DataError
from offsphere.base.extras import load_extra
from offsphere.base.spilled import gather_rows
from offsphere.data.vector_files import id_texts
from offsphere.engines.chroma_copy import DATABASE, copied_database
from offsphere.engines.collection import Collection, CollectionFacts, Hits, Layout, NamedRows
from offsphere.engines.databases import database_folder, local_folder, working_with
from offsphere.engines.engine import BATCH, Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula
from offsphere.engines.python_text import python_text
from offsphere.engines.target import Target

KEY = "CHROMA_API_KEY"  # the environment variable
SPACES = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "ip", Metric.EUCLIDEAN: "l2"}
NEIGHBOURS, CONSTRUCTION = 32, 200  # of the graph: with Chroma's own 16 and 100 it misses vectors of unlike lengths
EFFORT = 100  # candidates; Chroma's own
MARK = "offsphere"  # in the metadata of a collection
UNFINISHED, FINISHED = "unfinished", "finished"
PORTS = {"http": 8000, "https": 443}


class ChromaCollection(Collection):
    """A collection of Chroma."""

    index_kinds = ("graph",)

    def __init__(self, where: Target, *, id_field: str | None = None, vector_name: str | None = None) -> None:
        if vector_name is not None:
            raise DataError(f"{where} has one vector a document, without a name: leave --vector-column out")
        self.where, self.id_field = where, id_field
        self.folder = local_folder(where)
        self._client: Any = None
        self._stack = ExitStack()

    def facts(self) -> CollectionFacts | None:
        """What Chroma says of a copy of the database, or of the server's collection."""
        if self.folder is not None and not _is_database(self.folder):
            return None
        with self._reading() as client:
            collection = self._there(client)
            if collection is None:
                return None
            rows = collection.count()
            settings = _graph_settings(collection)
            first = collection.get(limit=1, include=["embeddings"])["embeddings"] if rows else None
        metric = {space: metric for metric, space in SPACES.items()}.get(settings.get("space", "l2"))
        unfinished = (collection.metadata or {}).get(MARK) == UNFINISHED
        width = len(first[0]) if first is not None and len(first) else 0
        return CollectionFacts(width, metric, rows, "HNSW", unfinished=unfinished)

    def check(self, layout: Layout, ids: Sequence[str]) -> None:  # noqa: ARG002
        """Refuse the empty text."""
        if "" in ids:
            raise DataError("Chroma holds no id without a letter: give the document '' another")

    def create(self, layout: Layout) -> None:
        """Make the collection, marked as unfinished."""
        graph = {"space": SPACES[layout.metric], "max_neighbors": NEIGHBOURS, "ef_construction": CONSTRUCTION}
        with self._working():
            self._opened().create_collection(
                self.where.name,
                embedding_function=None,  # whose default would be downloaded
                configuration={"hnsw": {**graph, "ef_search": EFFORT}},
                metadata={MARK: UNFINISHED},
            )

    def add(self, ids: Sequence[str], rows: Rows) -> None:
        """Add vectors, as many at a time as Chroma takes."""
        with self._working():
            client = self._opened()
            collection, at_once = self._collection(client), client.get_max_batch_size()
            for start in range(0, len(ids), at_once):
                names = list(ids[start : start + at_once])
                collection.add(ids=names, embeddings=rows[start : start + at_once])

    def discard(self, ids: Sequence[str]) -> None:
        """Remove the vectors of these ids."""
        with self._working():
            client = self._opened()
            collection, at_once = self._collection(client), client.get_max_batch_size()
            for start in range(0, len(ids), at_once):
                collection.delete(ids=list(ids[start : start + at_once]))

    def finish(self) -> None:
        """Take the mark away, and close, so that what is asked is what is in the files."""
        with self._working():
            self._collection(self._opened()).modify(metadata={MARK: FINISHED})
        self.close()

    def search(self, queries: Rows, k: int, effort: int | None = None) -> Hits:
        """Ask for the best of all queries; another effort is set in the collection, which is then loaded anew."""
        ids: list[list[str]] = []
        scores: list[Array] = []
        with self._working():
            collection = self._collection(self._opened())
            if effort is not None and _graph_settings(collection).get("ef_search") != max(effort, k):
                collection.modify(configuration={"hnsw": {"ef_search": max(effort, k)}})
                self.close()
                collection = self._collection(self._opened())
            for start in range(0, len(queries), BATCH):
                block = np.ascontiguousarray(queries[start : start + BATCH], np.float32)
                answer = collection.query(query_embeddings=block, n_results=k, include=["distances", "metadatas"])
                for names, values, fields in zip(answer["ids"], answer["distances"], answer["metadatas"], strict=True):
                    ids.append(self._names(names, fields))
                    scores.append(np.asarray(values, np.float64))
        return Hits(ids, scores)

    def read(self) -> NamedRows:
        """Read all vectors, from a copy of a folder."""
        if self.folder is not None and not _is_database(self.folder):
            raise DataError(f"{self.folder} has no {DATABASE}: give the folder of a Chroma database")
        names: list[str] = []
        with self._reading() as client:
            collection = self._collection(client)
            rows = collection.count()
            width = len(collection.get(limit=1, include=["embeddings"])["embeddings"][0]) if rows else 0
            vectors = gather_rows(self._blocks(collection, rows, names), (rows, width), np.float32, str(self))
        return NamedRows(vectors, names)

    def remove(self) -> None:
        """Remove the collection and all that is in it."""
        if self.folder is not None and not _is_database(self.folder):
            return
        with self._working():
            client = self._opened()
            if self._there(client) is not None:
                client.delete_collection(self.where.name)
        self.close()

    def snippet(self, layout: Layout, k: int, effort: int | None = None) -> str:  # noqa: ARG002  # it is in the collection
        """Ask by Chroma's own client."""
        quiet = "settings=chromadb.Settings(anonymized_telemetry=False)"
        if self.folder is not None:
            opened = f"chromadb.PersistentClient({python_text(self.where.location)}, {quiet})"
        else:
            host, port, ssl = _address(self.where)
            headers = f'headers={{"x-chroma-token": os.environ.get("{KEY}", "")}}'
            opened = f"chromadb.HttpClient({python_text(host)}, {port}, {ssl}, {headers}, {quiet})"
        return "\n".join(
            [
                "import os, chromadb" if self.folder is None else "import chromadb",
                f"client = {opened}",
                f"collection = client.get_collection({python_text(self.where.name)}, embedding_function=None)",
                f'answer = collection.query(query_embeddings=query[None], n_results={k}, include=["distances"])',
                'hits = list(zip(answer["ids"][0], answer["distances"][0]))',
            ]
        )

    def close(self) -> None:
        """Let go of the files, or of the connection."""
        self._client = None
        self._stack.close()

    def __repr__(self) -> str:
        """Where it is, without a password."""
        return str(self.where)

    def _working(self) -> Any:
        return working_with("Chroma", self.where, KEY)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """A client that changes nothing: of a server, or of a copy of the folder."""
        with self._working():
            if self.folder is None or self._client is not None or self.read_only:
                yield self._opened()
                return
            with copied_database(self.folder, self.where.name) as copy, ExitStack() as stack:
                yield _local_client(copy, stack)

    def _opened(self) -> Any:
        """The client, which is opened when it is first needed; of a copy where nothing may change."""
        if self._client is None:
            if self.folder is not None:
                copied = copied_database(self.folder, self.where.name) if self.read_only else None
                folder = self._stack.enter_context(copied) if copied is not None else self.folder
                self._client = _local_client(folder, self._stack)
            else:
                chroma = load_extra("chromadb")
                host, port, ssl = _address(self.where)
                headers = {"x-chroma-token": os.environ[KEY]} if os.environ.get(KEY) else None
                self._client = chroma.HttpClient(host, port, ssl, headers, settings=_settings(chroma))
                self._stack.callback(_hang_up, self._client)
        return self._client

    def _collection(self, client: Any) -> Any:
        return client.get_collection(self.where.name, embedding_function=None)

    def _there(self, client: Any) -> Any:
        """The collection; nothing where there is none."""
        try:
            return self._collection(client)
        except load_extra("chromadb").errors.NotFoundError:
            return None

    def _blocks(self, collection: Any, rows: int, names: list[str]) -> Iterator[Rows]:
        """The vectors, a block at a time; their ids are put into a list."""
        for start in range(0, rows, BATCH):
            answer = collection.get(limit=BATCH, offset=start, include=["embeddings", "metadatas"])
            names += self._names(answer["ids"], answer["metadatas"])
            yield np.asarray(answer["embeddings"], np.float32)

    def _names(self, names: list[str], fields: Sequence[Any] | None) -> list[str]:
        """The ids, or what a field of the metadata has."""
        if self.id_field is None:
            return list(names)
        values = [(row or {}).get(self.id_field) for row in fields or [None] * len(names)]
        if None in values:
            raise DataError(f"{self.where}: {names[values.index(None)]!r} has no {self.id_field!r} in its metadata")
        return id_texts(values, str(self.where))


def _is_database(folder: Path) -> bool:
    return folder.exists() and (database_folder("Chroma", folder) / DATABASE).is_file()


def _graph_settings(collection: Any) -> dict[str, Any]:
    configuration = collection.configuration or {}
    return configuration.get("hnsw") or configuration.get("spann") or {}


def _local_client(folder: Path, stack: ExitStack) -> Any:
    chroma = load_extra("chromadb")
    client = chroma.PersistentClient(str(folder), settings=_settings(chroma))
    stack.callback(client.close)
    return client


def _hang_up(client: Any) -> None:
    """Close a client of a server, and the connection, which Chroma leaves open."""
    session = getattr(getattr(client, "_server", None), "_session", None)
    client.close()
    if session is not None:
        session.close()


def _address(where: Target) -> tuple[str, int, bool]:
    """The host and port of a server, and whether the connection is encrypted."""
    split = urlsplit(where.location)
    if not split.hostname or split.username is not None:
        raise DataError(
            f"cannot read the address of {where}: write http://HOST:PORT, and set {KEY} where it wants a key"
        )
    return split.hostname, split.port or PORTS.get(split.scheme, PORTS["http"]), split.scheme == "https"


def _settings(chroma: Any) -> Any:
    return chroma.Settings(anonymized_telemetry=False)


CHROMA = Engine(
    name="Chroma",
    metrics=MappingProxyType(
        {
            Metric.COSINE: MetricFacts('configuration={"hnsw": {"space": "cosine"}}', ScoreFormula(-1, 1.0)),
            Metric.INNER_PRODUCT: MetricFacts('configuration={"hnsw": {"space": "ip"}}', ScoreFormula(-1, 1.0)),
            Metric.EUCLIDEAN: MetricFacts('configuration={"hnsw": {"space": "l2"}}', ScoreFormula(squared=True)),
        }
    ),
    prefix="chroma",
    location="FOLDER-OR-URL:COLLECTION",
    open=ChromaCollection,
    notes=(
        "Distance is what a collection ranks by where nobody sets a space.",
        "It has a graph and no exact search; a server takes a new ef_search up when it is started again.",
        f"The key of a server is read from {KEY}.",
    ),
)
