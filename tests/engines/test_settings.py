"""What the advice tells people to set, done in the real engines: they must return what the scorer ranks first."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines import engine_settings
from offsphere.engines.registry import ENGINES
from offsphere.engines.settings import UNTRIED

RNG = np.random.default_rng(0)
DOCUMENTS = (RNG.normal(0.3, 1, (400, 8)) * np.exp(RNG.normal(0, 0.7, (400, 1)))).astype(np.float32)
QUERIES = RNG.normal(0.3, 1, (20, 8)).astype(np.float32)
NAMES = ["cosine", "dot", "euclidean", "polar(1, 0.5)", "whiten(0.5) + cosine", "norm-mix(0.8)"]


def served(name):
    """The scorer, its setting for each engine, the vectors to store and to ask with, and the right answer."""
    scorer = osp.parse_scorer(name).fit(osp.Moments.of(DOCUMENTS))
    settings = {row.engine: row for row in engine_settings(scorer)}
    store, ask = DOCUMENTS, QUERIES
    if "lower()" in settings["FAISS"].store:
        lowering = scorer.lower()
        store, ask = lowering.documents(DOCUMENTS), lowering.queries(QUERIES)
    return settings, store, ask, osp.search(QUERIES, DOCUMENTS, [scorer], 10)[0].documents


@pytest.mark.parametrize("name", NAMES)
def test_faiss_as_it_is_told(name):
    faiss = pytest.importorskip("faiss")
    settings, store, ask, right = served(name)
    setting = settings["FAISS"].setting
    if "divided by their lengths" in settings["FAISS"].store:
        store, ask = store.copy(), ask.copy()
        faiss.normalize_L2(store)
        faiss.normalize_L2(ask)
    index = faiss.IndexFlatL2(store.shape[1]) if "IndexFlatL2" in setting else faiss.IndexFlatIP(store.shape[1])
    index.add(store)
    assert (index.search(ask, 10)[1] == right).all()


@pytest.mark.parametrize("name", NAMES)
def test_qdrant_as_it_is_told(name):
    qdrant = pytest.importorskip("qdrant_client")
    settings, store, ask, right = served(name)
    distance = settings["Qdrant"].setting.partition("Distance.")[2].partition(")")[0]
    client = qdrant.QdrantClient(":memory:")
    params = qdrant.models.VectorParams(size=store.shape[1], distance=qdrant.models.Distance[distance])
    client.create_collection("documents", vectors_config=params)
    client.upload_collection("documents", vectors=store, ids=list(range(len(store))))
    for query, wanted in zip(ask, right, strict=True):
        points = client.query_points("documents", query=query.tolist(), limit=10).points
        assert [point.id for point in points] == wanted.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_lancedb_as_it_is_told(name, tmp_path):
    lancedb = pytest.importorskip("lancedb")
    settings, store, ask, right = served(name)
    kind = settings["LanceDB"].setting.split('"')[1]
    rows = [{"id": number, "vector": row.tolist()} for number, row in enumerate(store)]
    table = lancedb.connect(tmp_path).create_table("documents", rows)
    for query, wanted in zip(ask, right, strict=True):
        rows = table.search(query).distance_type(kind).limit(10).to_list()
        assert [row["id"] for row in rows] == wanted.tolist()


def test_what_was_not_tried_is_said_and_what_bites_too():
    for row in engine_settings(osp.parse_scorer("dot")):
        engine = next(engine for engine in ENGINES if engine.name == row.engine)
        assert (UNTRIED in row.notes) is (not engine.tested)
        assert set(engine.notes) <= set(row.notes)
        assert " = " in row.score
    scores = {row.engine: row.score for row in engine_settings(osp.parse_scorer("dot"))}
    assert scores["Elasticsearch"] == "score = 1 + dot where dot >= 0, else 1 / (1 - dot)"
    assert (scores["Qdrant"], scores["usearch"], scores["pgvector"]) == (
        "dot = score",
        "dot = 1 - score",
        "dot = -score",
    )
