"""All the way: what was learned is measured, exported, and asked by the printed snippet, with the same ten best."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.learning.conftest import hidden
from tests.learning.encoders.conftest import words_task
from tests.learning.encoders.trainings import load_static

pytestmark = pytest.mark.filterwarnings("ignore")  # of the engines' packages
EXACT = {
    "faiss": "faiss:{}/x.faiss",
    "usearch": "usearch:{}/x.usearch",
    "qdrant": "qdrant:{}/qdrant:docs",
    "qdrant_edge": "qdrant-edge:{}/edge",
    "milvus_lite": "milvus:{}/m.db:docs",
    "psycopg": "postgres:{}:docs",
    "lancedb": "lancedb:{}/db:docs",
    "duckdb": "duckdb:{}/x.duckdb:docs",
    "sqlite_vec": "sqlite:{}/x.sqlite:docs",
}
GRAPHS = {"hnswlib": "hnswlib:{}/x.hnsw", "chromadb": "chroma:{}/db:docs"}  # which have nothing else
ASKED = 8


class Learned:
    """What was trained, audited and is to be served: the task, its vectors, and the scorer that the audit names."""

    def __init__(self, task, vectors, scorer):
        self.vectors, self.scorer, self.ids = vectors, scorer, list(task.document_ids)
        self.queries = np.asarray(vectors.queries[:ASKED])
        best = osp.search(self.queries, vectors.documents, [scorer], 10, ids=self.ids)[0].documents
        self.best = [[self.ids[row] for row in rows] for rows in best.tolist()]


@pytest.fixture(scope="module")
def adapter():
    """A map that was learned from some queries and judged by others, with the lengths of documents kept."""
    task, vectors = hidden(queries=300)
    train, test = (np.arange(first, last) for first, last in ((0, 220), (220, 300)))
    learned_from, judged_by = (osp.RankingVectors(vectors.queries[rows], vectors.documents) for rows in (train, test))
    adapter = osp.adapt(task.only(train), learned_from, normalize="query", rate=0.03, batch=64, epochs=30)
    table = osp.compare(task.only(test), judged_by, [adapter.scorer])
    audit = osp.audit(task.only(test), judged_by, table=table, cache=False)
    assert audit.advice.scorer.key == adapter.scorer.key
    return Learned(task.only(test), judged_by, audit.advice.scorer)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A model that was trained with its queries alone normalised."""
    folder, task = tmp_path_factory.mktemp("encoder"), words_task()
    trained = osp.train(task, load_static(), folder / "model", normalize="query", steps=6, batch=16, rate=0.01)
    assert trained.plan["similarity"] == "dot"
    vectors = osp.embed(task, osp.load_encoder(str(folder / "model")), folder / "vectors")
    return Learned(task, vectors, osp.audit(task, vectors, cache=False).advice.scorer)


@pytest.fixture
def target(tmp_path, package, request):
    pytest.importorskip({"qdrant": "qdrant_client"}.get(package, package))
    form = (EXACT | GRAPHS)[package]
    if package != "psycopg":
        yield form.format(tmp_path)
    else:
        import psycopg

        address = request.getfixturevalue("postgres_address")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            connection.execute("DROP EXTENSION IF EXISTS vector")
        yield form.format(address)
    if package == "milvus_lite":
        from milvus_lite.server_manager import server_manager_instance

        server_manager_instance.release_server(str(tmp_path / "m.db"))


def asked_by_snippet(folder, queries):
    """The ids that the printed snippet finds for each query."""
    code = (folder / "query.py").read_text()
    return [[name for name, _ in laws.run_code(code, queries[row : row + 1])] for row in range(len(queries))]


@pytest.mark.parametrize("package", EXACT)
@pytest.mark.parametrize("what", ["adapter", "encoder"])
def test_what_was_trained_and_audited_is_served_with_the_same_ten_best(target, package, what, request, tmp_path):
    learned = request.getfixturevalue(what)
    done = export(learned.scorer, learned.vectors, target, ids=learned.ids, index="exact", out=tmp_path / "out")
    assert (done.verification.recall, done.verification.made_of) == (1.0, "queries")
    record = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert (record["recall"], record["key"]) == (1.0, learned.scorer.key)
    assert osp.Scorer.load(tmp_path / "out" / "scorer").key == learned.scorer.key
    assert asked_by_snippet(tmp_path / "out", learned.queries) == learned.best


@pytest.mark.parametrize("package", GRAPHS)
@pytest.mark.parametrize("what", ["adapter", "encoder"])
def test_a_graph_serves_it_as_far_as_the_goal_goes(target, package, what, request, tmp_path):
    learned = request.getfixturevalue(what)
    effort = len(learned.ids)  # a graph may be another at every load: here it looks at all that it can reach
    done = export(learned.scorer, learned.vectors, target, ids=learned.ids, effort=effort, out=tmp_path / "out")
    assert done.passed
    found = asked_by_snippet(tmp_path / "out", learned.queries)
    assert np.mean([np.isin(best, names).mean() for best, names in zip(learned.best, found, strict=True)]) >= done.goal


def test_every_engine_that_can_be_opened_is_gone_to():
    gone = {engine_of(form.format("/x"))[0].name for form in (EXACT | GRAPHS).values()}
    assert gone == {engine.name for engine in ENGINES if engine.open is not None}


def test_vectors_that_were_normalised_before_are_told_where_the_scorer_wants_lengths(tmp_path):
    rows = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert "lengths are gone" in export("dot", rows, f"faiss:{tmp_path}/a.faiss").notes[0]
    assert not export("cosine", rows, f"faiss:{tmp_path}/b.faiss").notes
    assert not export("dot", rows * np.linspace(1, 2, 100)[:, None], f"faiss:{tmp_path}/c.faiss").notes


@pytest.mark.slow
def test_a_tuned_export_that_was_killed_goes_on_with_what_the_race_chose(tmp_path, monkeypatch):
    from offsphere.engines.shipping import exporting

    rows = np.random.default_rng(0).normal(size=(400, 8)).astype(np.float32)
    target, out = f"lancedb:{tmp_path}/db:docs", tmp_path / "out"

    class KilledError(Exception):
        pass

    def killed(*_, **__):
        raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(exporting, "with_effort", killed)
        with pytest.raises(KilledError):
            export("dot", rows, target, tune=True, out=out)
    chosen = json.loads((out / "strategy.json").read_text())["kind"]
    with monkeypatch.context() as patch:
        patch.setattr(exporting, "race", killed)
        done = export("dot", rows, target, tune=True, out=out)
    assert done.strategy.index == chosen
    assert done.passed
