"""Where to cut: thresholds of scorers side by side, on other data, saved with the scorer and exported with it."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError, UnknownNameError
from offsphere.comparison.goal import Goal
from offsphere.comparison.thresholds import DEPTH
from offsphere.scoring.cut import Cut
from offsphere.statistics.cross_validation import assign_folds


def near_copies(queries=150, documents=600, seed=0, noise=0.5, spread=0.4):
    """Queries that are noisy copies of one document or of two, of vectors with different lengths."""
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(documents, 12)) * rng.lognormal(0, spread, (documents, 1))).astype(np.float32)
    rows[1 : queries + 1 : 3] = rows[0:queries:3] + 0.3 * rows[1 : queries + 1 : 3]
    asked = (rows[:queries] + rng.normal(0, noise, (queries, 12))).astype(np.float32)
    asked *= rng.lognormal(0, spread, (queries, 1)).astype(np.float32)
    judged = {f"q{q}": {f"d{q}": 1, **({f"d{q + 1}": 1} if q % 3 == 0 else {})} for q in range(queries)}
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(documents)], f"copies {seed}")
    return task, task.vectors(asked, rows)


@pytest.fixture(scope="module")
def copies():
    return near_copies()


def cosines(vectors):
    q, d = vectors.queries.astype(float), vectors.documents.astype(float)
    return q @ d.T / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(d, axis=1))


def relevance(task):
    full = np.zeros((task.units, len(task.document_ids)), bool)
    full[task.judgments.queries, task.judgments.documents] = True
    return full


def test_recall_is_that_of_all_documents_above_the_threshold(copies):
    task, vectors = copies
    row = osp.threshold(task, vectors, ["cosine"], recall=0.8)["cosine"]
    full, relevant = cosines(vectors), relevance(task)
    folds = assign_folds(task.units, 5, 0)
    n = task.units
    missed = 1 - ((full >= row.threshold - 1e-9) & relevant).sum(axis=1) / relevant.sum(axis=1)
    assert (n * missed.mean() + 1) / (n + 1) <= 0.2
    higher = 1 - ((full > row.threshold + 1e-9) & relevant).sum(axis=1) / relevant.sum(axis=1)
    assert (n * higher.mean() + 1) / (n + 1) > 0.2  # the highest that keeps it
    assert row.outcome.recall[0] == pytest.approx(0.8, abs=0.06)
    assert row.outcome.recall[1] < row.outcome.recall[0] < row.outcome.recall[2]
    assert len(np.unique(folds)) == 5


def test_what_is_shown_for_nothing_is_counted_without_the_relevant_documents(copies):
    task, vectors = copies
    row = osp.threshold(task, vectors, ["cosine"], false_alarms=0.1)["cosine"]
    wrong = np.where(relevance(task), -np.inf, cosines(vectors)).max(axis=1)
    assert (wrong > row.threshold + 1e-6).sum() == int(0.1 * (task.units + 1)) - 1
    assert row.outcome.false_alarms[0] == pytest.approx(0.1, abs=0.07)


def test_precision_is_of_queries_that_are_shown_something(copies):
    task, vectors = copies
    found = osp.threshold(task, vectors, ["cosine"], precision=0.6)
    row = found["cosine"]
    passed = cosines(vectors) >= row.threshold
    some = passed.any(axis=1)
    precision = ((passed & relevance(task)).sum(axis=1)[some] / passed.sum(axis=1)[some]).mean()
    assert precision > 0.6
    assert row.outcome.precision[0] > 0.55
    assert "with 90 % confidence" in found.goal.promise


def test_one_threshold_keeps_less_where_queries_are_on_scales_of_their_own(copies):
    """Under the dot product a long query has high scores throughout; cosine and z-scores do not know its length."""
    found = osp.threshold(*copies, recall=0.8)
    kept = {row.name: row.kept for row in found.rows}
    assert list(kept) == ["cosine", "dot", "cosine + z-score"]
    assert kept["dot"] < kept["cosine"]
    assert kept["dot"] < kept["cosine + z-score"]
    assert found.best.name != "dot"


def test_what_is_kept_is_the_average_precision_of_the_pool_over_that_of_the_queries():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(90, 6)).astype(np.float32)
    judged = {f"q{q}": {f"d{q}": 1} for q in range(40)}  # one each, so that all queries weigh alike in a pool
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(90)])
    vectors = task.vectors(rows[:40] + rng.normal(0, 0.8, (40, 6)).astype(np.float32), rows)
    row = osp.threshold(task, vectors, ["cosine"], recall=0.5)["cosine"]
    full, relevant = cosines(vectors), relevance(task)
    from sklearn.metrics import average_precision_score

    own = np.mean([average_precision_score(r, s) for r, s in zip(relevant, full, strict=True)])
    pooled = average_precision_score(relevant.ravel(), full.ravel())
    assert row.kept == pytest.approx(pooled / own, rel=1e-6)


def test_a_threshold_is_tried_on_other_data(copies):
    other = near_copies(seed=7)
    noisy = near_copies(seed=8, noise=1.2)
    same, worse = (osp.threshold(*copies, recall=0.8, also=data) for data in (other, noisy))
    assert same["cosine"].elsewhere.recall[0] == pytest.approx(0.8, abs=0.1)
    assert worse["cosine"].elsewhere.recall[0] < 0.5
    passed = cosines(noisy[1]) >= worse["cosine"].threshold
    expected = ((passed & relevance(noisy[0])).sum(axis=1) / relevance(noisy[0]).sum(axis=1)).mean()
    assert worse["cosine"].elsewhere.recall[0] == pytest.approx(expected)
    assert same.also["name"] == "copies 7"


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ({}, "give one of precision, recall and false alarms"),
        ({"recall": 0.9, "precision": 0.9}, "a threshold keeps one promise"),
        ({"recall": 1.0}, "give a share between 0 and 1"),
        ({"false_alarms": 0.0}, "give a share between 0 and 1"),
        ({"recall": 0.995}, "cannot be promised from 150 judged queries: it takes at least 199"),
        ({"precision": 0.99}, r"cannot be promised from 150 judged queries: it takes at least 460"),
        ({"false_alarms": 0.005}, "it takes at least 199"),
    ],
)
def test_what_cannot_be_promised_is_refused_and_says_what_it_takes(copies, goal, message):
    with pytest.raises(ParameterError, match=message):
        osp.threshold(*copies, ["cosine"], **goal)


def test_a_promise_that_no_threshold_keeps_is_told(copies):
    task, vectors = copies
    lost = task.vectors(
        np.random.default_rng(123).normal(size=vectors.queries.shape).astype(np.float32), vectors.documents
    )
    found = osp.threshold(task, lost, ["cosine"], recall=0.95)
    assert found["cosine"].threshold is None
    assert found.best is None
    assert f"even the first {DEPTH} documents of each query hold less" in found.notes[0]
    unsure = osp.threshold(task, lost, ["cosine"], precision=0.9)
    assert "at none do enough queries show that so much" in unsure.notes[0]
    with pytest.raises(ParameterError, match="there is no threshold to save"):
        found.save("nowhere")


def test_pairs_have_nothing_to_show():
    task = osp.PairTask("pairs", np.arange(30.0))
    rows = np.random.default_rng(0).normal(size=(2, 30, 4)).astype(np.float32)
    with pytest.raises(ParameterError, match="pairs has no lists of results"):
        osp.threshold(task, task.vectors(*rows), recall=0.9)


def test_a_misspelt_scorer_is_refused(copies):
    with pytest.raises(UnknownNameError, match="did you mean cosine"):
        osp.threshold(*copies, ["cosin + z-score"], recall=0.9)


def test_it_is_saved_with_the_scorer_and_a_flipped_byte_is_noticed(copies, tmp_path):
    found = osp.threshold(*copies, ["whiten(0.5) + cosine"], recall=0.8)
    found.save(tmp_path)
    key = found.rows[0].scorer.key
    cut = Cut.load(tmp_path, key)
    assert cut.threshold == found.rows[0].threshold
    assert "at least 80 %" in cut.promise
    assert osp.Scorer.load(tmp_path).key == found.rows[0].scorer.key
    with pytest.raises(DataError, match="is the threshold of another scorer"):
        Cut.load(tmp_path, osp.Scorer().key)
    path = tmp_path / "threshold.json"
    path.write_text(path.read_text().replace('"threshold": ', '"threshold": 1'))
    with pytest.raises(DataError, match="damaged"):
        Cut.load(tmp_path, key)


def test_it_is_exported_with_the_scorer_and_the_engine_shows_the_same_documents(copies, tmp_path):
    faiss = pytest.importorskip("faiss")
    task, vectors = copies
    found = osp.threshold(task, vectors, recall=0.8)
    for name in ("cosine", "cosine + z-score"):
        row, folder = found[name], tmp_path / name.replace(" ", "")
        found.save(folder, name)
        target = f"faiss:{folder}/index.faiss"
        done = osp.export(str(folder), vectors.documents, target, ids=list(task.document_ids), out=folder / "out")
        assert done.cut.threshold == row.threshold
        assert any(f"show what scores at least {row.threshold:.6g}" in note for note in done.notes)
        assert Cut.load(folder / "out" / "scorer", row.scorer.key) == done.cut
        assert json.loads((folder / "out" / "verification.json").read_text())["threshold"] == row.threshold
        lowering = row.scorer.lower()
        index = faiss.IndexFlatIP(lowering.documents(vectors.documents).shape[1])
        index.add(lowering.documents(vectors.documents))
        scores, _ = index.search(lowering.queries(vectors.queries), 100)
        ours = osp.search(vectors.queries, vectors.documents, [row.scorer], 100)[0].scores
        values = lowering.values(vectors.queries, scores)
        assert np.allclose(values, ours, atol=1e-4)
        assert ((values >= row.threshold) == (ours >= row.threshold)).mean() > 0.999


def test_a_saved_promise_says_what_it_assumes():
    for goal in (Goal("recall", 0.9), Goal("precision", 0.9), Goal("false alarms", 0.05)):
        assert "exchangeable" in goal.promise
        assert "what nobody judged is not relevant" in goal.promise


@pytest.fixture(scope="module")
def folder(copies, tmp_path_factory):
    """The same data as files, for the command."""
    task, vectors = copies
    place = tmp_path_factory.mktemp("copies")
    pairs = zip(task.judgments.queries.tolist(), task.judgments.documents.tolist(), strict=True)
    (place / "qrels").write_text("".join(f"q{q} 0 d{d} 1\n" for q, d in pairs))
    for name, rows, ids in (
        ("queries", vectors.queries, task.query_ids),
        ("documents", vectors.documents, task.document_ids),
    ):
        np.save(place / f"{name}.npy", rows)
        (place / f"{name}.ids").write_text("".join(f"{one}\n" for one in ids))
    return place


def test_the_command_says_what_to_show_and_its_json_is_json(folder, tmp_path):
    from tests.cli.running import printed

    text = printed("threshold", folder, "--recall", "0.8", "--also", f"{folder}={folder}", "--save", tmp_path / "s")
    assert "Show what" in text
    assert "The same thresholds on" in text
    assert "exchangeable" in text
    assert Cut.load(tmp_path / "s", osp.Scorer.load(tmp_path / "s").key) is not None
    values = json.loads(printed("threshold", folder, "--scorer", "dot", "--false-alarms", "0.1", "--json"))
    assert values["goal"] == "false alarms"
    assert [row["scorer"] for row in values["scorers"]] == ["dot"]


def test_a_scorer_without_a_threshold_is_named_with_those_that_have_one():
    task, vectors = near_copies(30, 60)
    thresholds = osp.threshold(task, vectors, ["cosine", "dot"], recall=0.6)
    with pytest.raises(UnknownNameError, match="unknown scorer 'cosin': did you mean cosine"):
        thresholds["cosin"]


def test_an_audit_draws_where_to_cut():
    from offsphere.report import to_html, to_markdown

    audit = osp.audit(*near_copies(30, 60), goal=Goal("recall", 0.6), cache=False)
    page, text = to_html(audit), to_markdown(audit)
    assert 'id="spec-cut"' in page
    assert "## Where to cut" in text
    assert audit.to_json()["thresholds"]["goal"] == "recall"
