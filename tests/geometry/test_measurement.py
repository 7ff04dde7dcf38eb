from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError, UnknownNameError, VectorError
from offsphere.data import PairTask, PairVectors
from tests.generated import write_generated


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("generated")
    write_generated(folder)
    task = osp.load_task(str(folder / "qrels.tsv"), vectors=folder)
    return task, osp.load_vectors(folder, task)


def test_everything_is_measured_and_is_json(generated):
    task, vectors = generated
    shape = osp.measure(task, vectors, scorer="whiten(0.5) + cosine")
    assert set(shape.skipped) == {"frequency"}  # generated vectors have no texts
    assert shape.relevance.d.low > 0  # length carries authority there, and queries want authority
    assert [row.scorer for row in shape.hubness] == ["cosine", "dot", "whiten(0.5) + cosine"]
    assert shape.dual.metric == "ndcg@10"
    again = json.loads(json.dumps(shape.to_json(), allow_nan=False))
    assert again["of"]["vectors"] == {"query": [200, 64], "document": [3000, 64]}
    assert again["lengths"][1]["with_characters"] is None
    assert sum(again["lengths"][1]["histogram_counts"]) == 3_000
    assert again["relevance"]["sentence"] in str(shape)


def test_dual_evaluation_is_what_compare_finds(generated):
    task, vectors = generated
    table = osp.compare(task, vectors, ["dot"])
    dual = osp.measure(task, vectors, ["dual"]).dual
    assert dual.cosine.value == table["cosine"].value
    assert dual.difference.value == table["dot"].difference
    assert dual.p == table["dot"].p


def collapsing(seed, model_uses_length):
    """Relevance lies in length alone (cosine collapses), or length is mere noise (the dot product does)."""
    rng = np.random.default_rng(seed)
    if model_uses_length:
        queries = np.ones((60, 8)) + rng.normal(0, 0.05, (60, 8))
        directions = np.ones((400, 8)) + rng.normal(0, 0.05, (400, 8))
        lengths = np.where(np.arange(400) < 5, 9.0, 1.0)
        relevant = [list(range(5)) for _ in range(60)]
    else:
        directions = rng.normal(size=(400, 8))
        queries = directions[:60] + rng.normal(0, 0.1, (60, 8))
        lengths = rng.lognormal(0, 2, 400)
        relevant = [[q] for q in range(60)]
    documents = directions / np.linalg.norm(directions, axis=1, keepdims=True) * lengths[:, None]
    judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(relevant)}
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(400)])
    return task, osp.RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))


def test_a_collapse_is_warned_of_in_both_directions():
    task, vectors = collapsing(0, model_uses_length=True)
    assert osp.measure(task, vectors, ["dual"]).dual.warning.startswith("magnitude collapse: cosine keeps only")
    task, vectors = collapsing(0, model_uses_length=False)
    assert "the dot product keeps only" in osp.measure(task, vectors, ["dual"]).dual.warning


def test_vectors_alone_are_measured_and_no_vector_is_its_own_neighbour(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    shape = osp.measure(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert shape.of["vectors"] == {"vector": [300, 8]}
    judged = {"relevance", "dual", "negatives", "spread", "ceiling", "fisher", "gradients", "frequency"}
    assert set(shape.skipped) == judged
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = units @ units.T
    np.fill_diagonal(cosines, -2)
    lists = np.argsort(-cosines, axis=1)[:, :10]
    assert (
        shape.hubness[0].documents_in_lists.tolist() == np.bincount(np.bincount(lists.ravel(), minlength=300)).tolist()
    )


def test_pairs_are_measured():
    rng = np.random.default_rng(0)
    left = rng.normal(size=(200, 8)).astype(np.float32)
    gold = rng.uniform(0, 5, 200)
    right = (left + (5 - gold[:, None]) * rng.normal(0, 0.4, left.shape)).astype(np.float32)
    task = PairTask("pairs", gold)
    shape = osp.measure(task, PairVectors.of(task, left, right))
    assert [row.side for row in shape.lengths] == ["left", "right"]
    assert shape.negatives.positives == int((gold >= gold.min() + 0.8 * np.ptp(gold)).sum())
    assert shape.negatives.positive_mean > 0.5
    assert shape.dual.metric == "spearman"
    assert set(shape.skipped) == {"relevance", "frequency", "spread", "ceiling"}


def test_odd_vectors_are_measured_or_refused_in_words(tmp_path):
    rng = np.random.default_rng(0)
    line = osp.measure(rng.normal(size=(50, 1)).astype(np.float32))
    assert "one dimension" in line.skipped["dimensions"]
    assert np.isnan(line.isotropy[0].isoscore)
    same = osp.measure(np.ones((50, 4), np.float32))
    assert same.isotropy[0].constant_dimensions == 4
    assert np.isclose(same.isotropy[0].mean_cosine, 1)
    json.dumps(same.to_json(), allow_nan=False)
    nothing = osp.measure(np.zeros((50, 4), np.float32))
    assert nothing.lengths[0].empty == 50
    json.dumps(nothing.to_json(), allow_nan=False)
    with pytest.raises(VectorError, match="give a row a vector"):
        osp.measure(np.ones(50, np.float32))
    with pytest.raises(VectorError, match="the corpus is empty"):
        osp.measure(np.ones((0, 4), np.float32))
    with pytest.raises(OffsphereError, match="at least two vectors"):
        osp.measure(np.ones((1, 4), np.float32), None, ["hubness"])
    with pytest.raises(UnknownNameError, match="unknown section 'isotrpy': did you mean isotropy"):
        osp.measure(np.ones((5, 4), np.float32), None, ["isotrpy"])
    with pytest.raises(OffsphereError, match="positive pairs"):
        osp.measure(np.ones((5, 4), np.float32), None, ["gradients"])


def test_one_relevant_pair_is_too_few_for_gradients():
    task = osp.RankingTask.from_judgments({"q": {"a": 1.0}}, ["a", "b"])
    vectors = osp.RankingVectors.of(task, np.ones((1, 3), np.float32), np.eye(2, 3, dtype=np.float32))
    with pytest.raises(OffsphereError, match="at least two positive pairs, task has 1"):
        osp.measure(task, vectors, ["gradients"])


def test_lengths_that_differ_by_rounding_are_equal():
    rng = np.random.default_rng(0)
    row = rng.normal(size=37).astype(np.float32)
    shape = osp.measure(np.stack([rng.permutation(row) for _ in range(200)]))
    assert shape.lengths[0].normalised
    assert shape.lengths[0].histogram_counts.sum() == 200


def test_bad_vectors_are_an_error_and_no_reason_to_leave_things_out():
    rows = np.ones((5, 3), np.float32)
    rows[2, 1] = np.inf
    with pytest.raises(VectorError, match="row 2 is not finite"):
        osp.measure(rows)
    with pytest.raises(OffsphereError, match=r"give a list, \['lengths'\]"):
        osp.measure(np.ones((5, 3), np.float32), None, "lengths")


def test_gold_scores_turned_round_are_asked_about():
    rng = np.random.default_rng(0)
    left = rng.normal(size=(300, 8))
    distance = rng.uniform(0, 3, 300)
    right = left + distance[:, None] * rng.normal(size=left.shape)
    scale = np.exp(rng.normal(0, 1, (300, 1)))
    task = PairTask("distances", distance)
    shape = osp.measure(
        task, PairVectors.of(task, (left * scale).astype(np.float32), right.astype(np.float32)), ["dual"]
    )
    assert "less than chance would; are they distances, or turned round?" in shape.dual.sentence


def test_sentences_of_odd_vectors_hold_no_nan():
    rng = np.random.default_rng(0)
    for rows in (np.ones((1, 4)), np.ones((3, 4)), np.eye(3), np.zeros((4, 4)), rng.normal(size=(5, 1)), -np.eye(2)):
        assert "nan" not in repr(osp.measure(rows.astype(np.float32)))
