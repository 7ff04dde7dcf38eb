"""Audits and ``probe --read-only`` leave every byte of a collection as it was, whatever its engine does by itself."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.registry import engine_of
from tests.engines.engine_laws import files_under

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages

RNG = np.random.default_rng(0)
DOCUMENTS = (RNG.normal(size=(150, 8)) * RNG.lognormal(0, 0.8, (150, 1))).astype(np.float32)
QUERIES = RNG.normal(size=(12, 8)).astype(np.float32)
CASES = {
    "qdrant": ("qdrant_client", "qdrant:{}/db:docs", {}),
    "qdrant-edge": ("qdrant_edge", "qdrant-edge:{}/shard", {}),
    "chroma": ("chromadb", "chroma:{}/db:docs", {}),
    "milvus": ("milvus_lite", "milvus:{}/m.db:docs", {}),
    "milvus graph": ("milvus_lite", "milvus:{}/m.db:docs", {"index": "graph"}),
    "lancedb": ("lancedb", "lancedb:{}/lance:docs", {}),
    "lancedb graph": ("lancedb", "lancedb:{}/lance:docs", {"index": "graph"}),
    "duckdb": ("duckdb", "duckdb:{}/x.duckdb:docs", {}),
    "duckdb graph": ("duckdb_extension_vss", "duckdb:{}/x.duckdb:docs", {"index": "graph"}),
    "sqlite": ("sqlite_vec", "sqlite:{}/x.sqlite:docs", {}),
}
WRITE_WHEN_OPENED = {"qdrant", "qdrant-edge", "chroma"}


@pytest.fixture(params=CASES)
def stored(request, tmp_path):
    """A collection, and its name."""
    package, target, options = CASES[request.param]
    pytest.importorskip(package)
    (tmp_path / "engine").mkdir()
    target = target.format(tmp_path / "engine")
    ids = [f"d{row}" for row in range(len(DOCUMENTS))]
    osp.export("euclidean", DOCUMENTS, target, ids=ids, queries=QUERIES, **options)
    if request.param == "qdrant":  # a row that an older client left: today's removes it as soon as it opens the folder
        storage = tmp_path / "engine" / "db" / "collection" / "docs" / "storage.sqlite"
        with sqlite3.connect(storage) as connection:
            connection.execute("INSERT INTO points SELECT 'another spelling', point FROM points WHERE rowid = 3")
        connection.close()
    return request.param, target


@pytest.fixture
def judged(tmp_path):
    """Judgments and query vectors beside it; the collection names the documents."""
    folder = tmp_path / "judged"
    folder.mkdir()
    lines = [f"q{row}\td{3 * row}\t1\n" for row in range(len(QUERIES))]
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    np.savez(folder / "queries.npz", vectors=QUERIES, ids=np.array([f"q{row}" for row in range(len(QUERIES))]))
    return folder


def content(folder):
    """Every file, apart from those that only lock."""
    return {name: content for name, content in files_under(folder).items() if not name.endswith(".lock")}


def test_audits_and_probes_change_no_byte(stored, judged, tmp_path):
    name, target = stored
    before = content(tmp_path / "engine")
    source = osp.CollectionSource(str(judged), collection=target)
    task, vectors = source.load()
    deployment = source.deployment(task, vectors)
    assert content(tmp_path / "engine") == before
    assert deployment.answers.recall > 0.9
    assert np.allclose(vectors.documents, DOCUMENTS[[int(name[1:]) for name in task.document_ids]], rtol=1e-5)
    (probed,) = osp.probe(target, read_only=True).metrics
    assert content(tmp_path / "engine") == before
    assert probed.as_set
    if name in WRITE_WHEN_OPENED:  # else this would show nothing
        engine, where = engine_of(target)
        with engine.at(where) as collection:
            collection.search(QUERIES, 3)
        assert content(tmp_path / "engine") != before
