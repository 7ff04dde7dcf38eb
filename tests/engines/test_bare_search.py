"""What a bare search gives is what the engine's own package gives to whoever sets nothing but k."""

from __future__ import annotations

import json
from contextlib import closing

import numpy as np
import pytest

from offsphere.base.errors import OffsphereError
from offsphere.engines import qdrant_edge
from offsphere.engines.collection import Layout
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.bands import BandedCollection
from tests.engines.engine_laws import DOCUMENTS, QUERIES

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages

ROWS, WIDTH = DOCUMENTS.shape
KS = (10, 100, ROWS, ROWS + 1, 5_000)
REFUSED = "refused"
SHARED = ("chroma", "milvus")  # a server in this process, which builds its graph anew when it is started again


def faiss_alone(where):
    faiss = pytest.importorskip("faiss")
    index = faiss.read_index(where.location)
    return lambda query, k: [str(row) for row in index.search(query[None], k)[1][0] if row >= 0]


def usearch_alone(where, exact):
    index = pytest.importorskip("usearch.index").Index.restore(where.location)
    return lambda query, k: [str(key) for key in index.search(query, k, exact=exact).keys]


def hnswlib_alone(where):
    index = pytest.importorskip("hnswlib").Index("l2", WIDTH)
    index.load_index(where.location)
    return lambda query, k: [str(key) for key in index.knn_query(query[None], k)[0][0]]


def qdrant_alone(where):
    qdrant = pytest.importorskip("qdrant_client")

    def ask(query, k):
        with closing(qdrant.QdrantClient(path=where.location)) as client:
            return [
                point.payload["id"] for point in client.query_points(where.name, query=query.tolist(), limit=k).points
            ]

    return ask


def qdrant_edge_alone(where):
    edge = pytest.importorskip("qdrant_edge")

    def ask(query, k):
        with closing(edge.EdgeShard.load(where.location)) as shard:
            request = edge.QueryRequest(k, query=edge.Query.Nearest(query.tolist()), with_payload=["id"])
            return [point.payload["id"] for point in shard.query(request)]

    return ask


def postgres_alone(where):
    psycopg = pytest.importorskip("psycopg")

    def ask(query, k):
        with psycopg.connect(where.location) as connection:
            connection.execute("SET enable_seqscan = off; SET enable_sort = off")  # so that an index answers
            words = f"SELECT id FROM {where.name} ORDER BY embedding <-> '{query.tolist()}' LIMIT {k}"
            return [name for (name,) in connection.execute(words)]

    return ask


def lancedb_alone(where):
    table = pytest.importorskip("lancedb").connect(where.location).open_table(where.name)
    return lambda query, k: [row["id"] for row in table.search(query).distance_type("l2").limit(k).to_list()]


def duckdb_alone(where):
    duckdb = pytest.importorskip("duckdb")
    vss = pytest.importorskip("duckdb_extension_vss")

    def ask(query, k):
        with duckdb.connect(where.location, read_only=True) as connection:
            connection.execute(f"LOAD '{vss.__path__[0]}/extensions/v{duckdb.__version__}/vss.duckdb_extension'")
            words = f"SELECT id FROM {where.name} ORDER BY array_distance(vector, ?::FLOAT[{WIDTH}]) LIMIT {k}"
            return [name for (name,) in connection.execute(words, [query.tolist()]).fetchall()]

    return ask


def sqlite_alone(where):
    apsw, extension = pytest.importorskip("apsw"), pytest.importorskip("sqlite_vec")

    def ask(query, k):
        with closing(apsw.Connection(where.location)) as connection:
            connection.enable_load_extension(True)
            connection.load_extension(extension.loadable_path())
            words = f"SELECT id FROM {where.name} WHERE vector MATCH ? AND k = {k} ORDER BY distance"
            return [name for (name,) in connection.execute(words, [query.tobytes()])]

    return ask


def chroma_alone(where):
    chroma = pytest.importorskip("chromadb")

    def ask(query, k):
        settings = chroma.Settings(anonymized_telemetry=False)
        with closing(chroma.PersistentClient(where.location, settings=settings)) as client:
            collection = client.get_collection(where.name, embedding_function=None)
            return collection.query(query_embeddings=query[None], n_results=k)["ids"][0]

    return ask


def milvus_alone(where):
    pymilvus = pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")

    def ask(query, k):
        with closing(pymilvus.MilvusClient(where.location)) as client:
            client.load_collection(where.name)
            (answer,) = client.search(where.name, data=[query], limit=k, output_fields=["id"])
            return [hit["entity"]["id"] for hit in answer]

    return ask


CASES = {
    ("faiss", "exact"): (faiss_alone, "{}/x.faiss", {5_000: ROWS}),
    ("faiss", "graph"): (faiss_alone, "{}/x.faiss", {}),
    ("faiss", "lists"): (faiss_alone, "{}/x.faiss", {}),
    ("usearch", "exact"): (lambda where: usearch_alone(where, exact=True), "{}/x.usearch", {5_000: ROWS}),
    ("usearch", "graph"): (lambda where: usearch_alone(where, exact=False), "{}/x.usearch", {}),
    ("hnswlib", "graph"): (hnswlib_alone, "{}/x.hnsw", {ROWS + 1: REFUSED, 5_000: REFUSED}),
    ("qdrant", "exact"): (qdrant_alone, "{}/q:docs", {5_000: ROWS}),
    ("qdrant-edge", "exact"): (qdrant_edge_alone, "{}/edge", {5_000: ROWS}),
    ("qdrant-edge", "graph"): (qdrant_edge_alone, "{}/edge", {5_000: ROWS}),
    ("postgres", "exact"): (postgres_alone, "{}:docs", {5_000: ROWS}),
    ("postgres", "graph"): (postgres_alone, "{}:docs", {10: 10, 100: 40, ROWS: 40, 5_000: 40}),
    ("postgres", "lists"): (postgres_alone, "{}:docs", {}),
    ("lancedb", "exact"): (lancedb_alone, "{}/l:docs", {5_000: ROWS}),
    ("lancedb", "graph"): (lancedb_alone, "{}/l:docs", {}),
    ("lancedb", "lists"): (lancedb_alone, "{}/l:docs", {}),
    ("duckdb", "exact"): (duckdb_alone, "{}/x.duckdb:docs", {5_000: ROWS}),
    ("duckdb", "graph"): (duckdb_alone, "{}/x.duckdb:docs", {}),
    ("sqlite", "exact"): (sqlite_alone, "{}/x.sqlite:docs", {ROWS: ROWS, 5_000: REFUSED}),
    ("chroma", "graph"): (chroma_alone, "{}/c:docs", {}),
    ("milvus", "exact"): (milvus_alone, "{}/m.db:docs", {5_000: ROWS}),
    ("milvus", "graph"): (milvus_alone, "{}/m.db:docs", {}),
    ("milvus", "lists"): (milvus_alone, "{}/m.db:docs", {}),
}


def place_of(prefix, form, request, tmp_path):
    return f"{prefix}:{form}".format(request.getfixturevalue("postgres_address") if prefix == "postgres" else tmp_path)


def answers(ask):
    """The documents that came for each query and k, or that so many were refused."""
    told = {}
    for number, query in enumerate(QUERIES[:3]):
        for k in KS:
            try:
                told[number, k] = [str(name) for name in ask(query, k)]
            except Exception:  # noqa: BLE001  # each package has errors of its own
                told[number, k] = REFUSED
    return told


def asked_barely(collection):
    def ask(query, k):
        return collection.bare_search(query[None], k).ids[0]

    return ask


@pytest.mark.parametrize(("prefix", "index"), CASES)
def test_a_bare_search_gives_what_the_package_itself_gives(prefix, index, request, tmp_path, monkeypatch):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)  # kilobytes: otherwise so few vectors get no graph
    alone, form, known = CASES[prefix, index]
    engine, where = engine_of(place_of(prefix, form, request, tmp_path))
    with engine.at(where) as collection:
        collection.remove()
        collection.create(Layout(WIDTH, Metric.EUCLIDEAN, index, rows=ROWS))
        collection.add([str(row) for row in range(ROWS)], DOCUMENTS)
        collection.finish()
        ours = answers(asked_barely(collection))
        if prefix == "sqlite":
            with pytest.raises(OffsphereError, match="4096"):
                collection.bare_search(QUERIES[:1], 5_000)
        if prefix in SHARED:
            theirs = answers(alone(where))
    if prefix not in SHARED:
        theirs = answers(alone(where))
    assert ours == theirs
    for k, count in known.items():
        came = {told if told == REFUSED else len(told) for (_, asked), told in theirs.items() if asked == k}
        assert came == {count}, k
    assert all(told != REFUSED for (_, k), told in theirs.items() if k == 10)


def test_every_index_of_every_engine_is_asked(request, tmp_path):
    for engine in ENGINES:
        if engine.open is not None:
            kinds = {index for prefix, index in CASES if prefix == engine.prefix}
            form = next(form for (prefix, _), (_, form, _) in CASES.items() if prefix == engine.prefix)
            with engine.at(engine_of(f"{engine.prefix}:{form}".format(tmp_path))[1]) as collection:
                assert kinds == set(collection.index_kinds), engine.prefix


def test_an_effort_that_was_asked_for_is_not_that_of_a_bare_search(tmp_path):
    """DuckDB and hnswlib keep what was set last; pgvector's settings end with their transaction."""
    for prefix, form in (("duckdb", "{}/x.duckdb:docs"), ("hnswlib", "{}/x.hnsw")):
        pytest.importorskip(prefix)
        engine, where = engine_of(f"{prefix}:{form}".format(tmp_path))
        with engine.at(where) as collection:
            collection.create(Layout(WIDTH, Metric.EUCLIDEAN, "graph", rows=ROWS))
            collection.add([str(row) for row in range(ROWS)], DOCUMENTS)
            collection.finish()
            before = collection.bare_search(QUERIES, 10).ids
            wide = collection.search(QUERIES, 10, 500).ids
            assert collection.bare_search(QUERIES, 10).ids == before
            assert json.dumps(wide) != json.dumps(before) or prefix == "duckdb"  # ef 10 misses some, 64 need not


def test_bands_are_asked_barely_each(tmp_path):
    pytest.importorskip("hnswlib")
    engine, where = engine_of(f"hnswlib:{tmp_path}/x.hnsw")
    edges = (float(np.median(np.linalg.norm(DOCUMENTS, axis=1))),)
    with BandedCollection(engine, where, edges, Metric.EUCLIDEAN) as bands:
        bands.create(Layout(WIDTH, Metric.EUCLIDEAN, "graph", rows=ROWS))
        bands.add([str(row) for row in range(ROWS)], DOCUMENTS)
        bands.finish()
        assert [len(answer) for answer in bands.bare_search(QUERIES[:5], 10).ids] == [10] * 5
        with pytest.raises(OffsphereError):
            bands.bare_search(QUERIES[:1], ROWS)  # each has half of them
