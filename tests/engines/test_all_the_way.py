"""All the way: what was learned is measured, exported, and asked by the printed snippet, with the same ten best."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.exporting import export
from tests.learning.encoders.conftest import words_task
from tests.learning.encoders.trainings import load_static

TARGETS = ("faiss:{}/x.faiss", "lancedb:{}/db:docs", "duckdb:{}/x.duckdb:docs", "sqlite:{}/x.sqlite:docs")


def asked_by_snippet(folder, vectors):
    """The ids that the printed snippet finds."""
    scope = {"vectors": vectors}
    exec((folder / "query.py").read_text(), scope)
    return [name for name, _ in scope["hits"]]


@pytest.mark.parametrize("target", TARGETS)
def test_a_trained_adapter_is_served_as_it_was_measured(target, tmp_path):
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(300, 8)) * rng.lognormal(0, 0.5, (300, 1))).astype(np.float32)
    wanted = rng.permutation(300)[:120]
    turn = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    queries = (documents[wanted] @ turn + 0.1 * rng.normal(size=(120, 8))).astype(np.float32)
    ids = [f"d{row}" for row in range(300)]
    judged = {f"q{number}": {f"d{row}": 1.0} for number, row in enumerate(wanted)}
    task = osp.RankingTask.from_judgments(judged, ids)
    vectors = osp.RankingVectors.of(task, queries, documents)
    adapter = osp.adapt(task, vectors, normalize="query", epochs=3)
    table = osp.compare(task, vectors, [adapter.scorer])
    scorer = next(row.scorer for row in table.rows if row.scorer.key == adapter.scorer.key)
    done = export(scorer, vectors, target.format(tmp_path), ids=ids, index="exact", out=tmp_path / "out")
    assert done.passed
    best = osp.search(queries[:5], documents, [scorer], 10, ids=ids)[0].documents
    for number in range(5):
        found = asked_by_snippet(tmp_path / "out", queries[number : number + 1])
        assert found == [ids[row] for row in best[number].tolist()]


def test_a_one_sided_encoder_goes_from_training_to_the_index(tmp_path):
    task = words_task()
    trained = osp.train(task, load_static(), tmp_path / "model", normalize="query", steps=6, batch=16, rate=0.01)
    assert trained.plan["similarity"] == "dot"
    vectors = osp.embed(task, osp.load_encoder(str(tmp_path / "model")), tmp_path / "vectors")
    audit = osp.audit(task, vectors, cache=False)
    scorer = audit.advice.scorer
    done = export(scorer, vectors, f"usearch:{tmp_path}/x.usearch", ids=task.sides[1].ids, out=tmp_path / "out")
    assert done.passed
    kept = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert kept["recall"] == done.verification.recall
    again = osp.Scorer.load(tmp_path / "out" / "scorer")
    assert again.key == scorer.key
    queries = np.asarray(vectors.queries[:1])
    best = osp.search(queries, vectors.documents, [scorer], 10, ids=task.sides[1].ids)[0]
    found = asked_by_snippet(tmp_path / "out", queries)
    assert len(set(found) & {task.sides[1].ids[row] for row in best.documents[0].tolist()}) >= 9  # a graph, and ties


def test_vectors_that_were_normalised_before_are_told_where_the_scorer_wants_lengths(tmp_path):
    rows = np.random.default_rng(0).normal(size=(100, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    assert "lengths are gone" in export("dot", rows, f"faiss:{tmp_path}/a.faiss").notes[0]
    assert not export("cosine", rows, f"faiss:{tmp_path}/b.faiss").notes
    assert not export("dot", rows * np.linspace(1, 2, 100)[:, None], f"faiss:{tmp_path}/c.faiss").notes


@pytest.mark.slow
def test_a_tuned_export_that_was_killed_goes_on_with_what_the_race_chose(tmp_path, monkeypatch):
    from offsphere.engines import exporting

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
