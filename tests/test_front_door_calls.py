"""The Python door: one order everywhere, lists become arrays, and a swapped call says so in one line."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp

rng = np.random.default_rng(0)
DOCUMENTS = (rng.normal(size=(40, 4)) * rng.lognormal(0, 0.5, (40, 1))).astype(np.float32)
QUERIES = (DOCUMENTS[:12] + rng.normal(0, 0.3, (12, 4))).astype(np.float32)


@pytest.fixture(scope="module")
def embedded():
    judged = {f"q{row}": {f"d{row}": 1} for row in range(12)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(40)])
    return task, osp.RankingVectors.of(task, QUERIES, DOCUMENTS)


@pytest.mark.parametrize("name", ["compare", "measure", "audit", "adapt", "threshold", "read_answers"])
def test_vectors_before_the_task_are_told_so(embedded, name):
    """Whatever else is missing: ``threshold`` once complained of its promise, ``read_answers`` of missing answers."""
    task, vectors = embedded
    more = ["reader"] if name == "read_answers" else []
    with pytest.raises(osp.OffsphereError) as told:
        getattr(osp, name)(vectors, task, *more)
    assert str(told.value) == f"{name}: the vectors come first here; write {name}(task, vectors)"


@pytest.mark.parametrize("name", ["embed", "train"])
def test_a_model_before_the_task_is_told_so(embedded, name):
    """Once: the model was loaded, and then an attribute of a task was looked for in a text."""
    with pytest.raises(osp.OffsphereError, match=rf"^{name}: the model comes first here; write {name}\(task, model\)$"):
        getattr(osp, name)("wordllama", embedded[0])
    with pytest.raises(osp.OffsphereError, match=rf"^{name}\(task, model\): the task is of type str; give one as osp."):
        getattr(osp, name)("scifact", "wordllama")


@pytest.mark.parametrize("name", ["learn", "ablate"])
def test_a_pair_of_vectors_and_task_is_told_so(embedded, name):
    task, vectors = embedded
    more = {"recipes": [osp.Recipe()], "test": None} if name == "learn" else {}
    with pytest.raises(osp.OffsphereError, match=rf"{name}: train is the wrong way round: write \(task, vectors\)"):
        getattr(osp, name)((vectors, task), **more)
    with pytest.raises(osp.OffsphereError, match=rf"{name}: train is a pair \(task, vectors\), not a RankingTask"):
        getattr(osp, name)(task, **more)


def test_other_calls_that_are_the_wrong_way_round_say_so(embedded, tmp_path):
    task, vectors = embedded
    table, shape = osp.compare(task, vectors, ["dot"]), osp.measure(task, vectors, ["lengths"])
    with pytest.raises(osp.OffsphereError, match=r"write advise\(table, shape\)"):
        osp.advise(shape, table)
    with pytest.raises(osp.OffsphereError, match=r"load_vectors\(folder, task\): the folder comes first"):
        osp.load_vectors(task, tmp_path)
    with pytest.raises(osp.OffsphereError, match=r"the task is of type ndarray; give one as osp.load_task makes it"):
        osp.compare(QUERIES, DOCUMENTS)
    with pytest.raises(osp.OffsphereError, match="the vectors of task are of type ndarray; give them as"):
        osp.compare(task, DOCUMENTS)
    with pytest.raises(osp.OffsphereError, match=r"there are no vectors; write measure\(task, vectors\)"):
        osp.measure(task)


def test_vectors_alone_are_measured(embedded):
    task, vectors = embedded
    assert osp.measure(DOCUMENTS, sections=["lengths"]).lengths[0].mean == pytest.approx(
        np.linalg.norm(DOCUMENTS, axis=1).mean()
    )
    assert osp.measure(task, vectors, ["lengths"]).of["queries"] == 12


def test_lists_are_taken_wherever_vectors_are(embedded):
    task, _ = embedded
    queries, documents = QUERIES.tolist(), DOCUMENTS.tolist()
    scorer = osp.parse_scorer("whiten(0.5) + cosine").fit(osp.Moments.of(documents))
    same = osp.parse_scorer("whiten(0.5) + cosine").fit(osp.Moments.of(DOCUMENTS))
    assert np.allclose(scorer.transform(documents), same.transform(DOCUMENTS), atol=1e-5)
    listed = osp.search(queries, documents, [osp.Scorer()], 5)[0]
    assert (listed.documents == osp.search(QUERIES, DOCUMENTS, [osp.Scorer()], 5)[0].documents).all()
    assert (
        osp.search(queries, [DOCUMENTS[:9], DOCUMENTS[9:]], [osp.Scorer()], 5)[0].documents == listed.documents
    ).all()
    assert osp.Scorer().score_pairs(queries, queries) == pytest.approx(1)
    assert osp.Moments.over([documents[:20], documents[20:]]).count == 40
    assert osp.RankingVectors.of(task, queries, documents).documents.dtype == np.float32
    assert osp.RankingVectors(queries, documents).dimension == task.vectors(queries, documents).dimension == 4
    pairs = osp.PairTask("pairs", np.arange(12.0))
    assert osp.PairVectors.of(pairs, queries, queries).left.shape == (12, 4)
    assert osp.measure(documents).lengths[0].mean == pytest.approx(osp.measure(DOCUMENTS).lengths[0].mean, rel=1e-6)
    biased = osp.nnn(osp.Scorer(), documents, queries, ids=task.document_ids)
    assert np.allclose(biased.bias.values, osp.nnn(osp.Scorer(), DOCUMENTS, QUERIES).bias.values)
    lowering = biased.lower()
    assert lowering.documents(documents, task.document_ids).shape == (40, 5)
    assert lowering.queries(queries).shape == (12, 5)
    assert osp.standardize_queries(osp.Scorer(), documents).name == "cosine + z-score"
    assert osp.stability(documents, regularized="factors").determined


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [3.0]], [["a", "b"]], [[None, 1.0]]])
def test_what_is_no_rows_of_numbers_is_one_line(rows):
    for call in (osp.Moments.of, osp.measure, lambda rows: osp.search(rows, DOCUMENTS, [osp.Scorer()])):
        with pytest.raises(osp.OffsphereError, match=r"no rows of numbers|not finite"):
            call(rows)


def test_one_scorer_needs_no_list(embedded):
    """Once: the name of a scorer was read letter by letter."""
    for scorer in ("dot", osp.parse_scorer("dot")):
        assert [row.name for row in osp.compare(*embedded, scorer).rows] == [
            row.name for row in osp.compare(*embedded, ["dot"]).rows
        ]
