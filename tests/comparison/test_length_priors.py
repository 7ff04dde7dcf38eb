"""The length as a free prior: a planted function is found again, nothing leaks between folds, and it is served."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.comparison.candidates import WEIGHTS
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.length_priors import length_priors
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.metrics import parse_metric
from offsphere.statistics.monotone_logit import fit_monotone
from tests.comparison.test_compare_scorers import trec
from tests.oracles import top

PLANTED = {
    "a step": lambda z: 0.3 * (z > 0.2),
    "a bend": lambda z: 0.25 * np.tanh(2 * z),
    "falling": lambda z: -0.2 * z,
    "nothing": lambda z: 0.0 * z,
}


def judged_by(function, queries=300, documents=800, seed=0, slope=12.0):
    """A task whose judgments were drawn from a logistic model of cosine and a function of the log-length."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(documents, 10))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = rng.lognormal(0, 0.6, documents)
    asked = rng.normal(size=(queries, 10))
    cosine = asked @ directions.T / np.linalg.norm(asked, axis=1, keepdims=True)
    chance = 1 / (1 + np.exp(-(slope * (cosine + function(np.log(lengths))) - 10)))
    relevant = rng.random(chance.shape) < chance
    relevant[np.arange(queries), cosine.argmax(axis=1)] |= ~relevant.any(axis=1)
    judged = {f"q{q}": {f"d{d}": 1 for d in np.flatnonzero(row)} for q, row in enumerate(relevant)}
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(documents)])
    rows = (directions * lengths[:, None]).astype(np.float32)
    return task, osp.RankingVectors.of(task, asked.astype(np.float32), rows), judged


def evaluator(task, vectors, folds=5):
    return task.evaluator(vectors, parse_metric("ndcg@10"), assign_folds(task.units, folds, 0))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_function_of_the_length_is_recovered(name):
    planted = PLANTED[name]
    task, vectors, _ = judged_by(planted)
    whole, _ = length_priors(evaluator(task, vectors))
    prior = whole.options[2].similarity  # at the fitted strength
    points = np.linspace(-0.9, 0.9, 40)
    found, expected = prior.prior(np.exp(points)), planted(points)
    assert np.abs((found - found.mean()) - (expected - expected.mean())).mean() < 0.035
    assert (np.diff(prior.heights) >= 0).all() or (np.diff(prior.heights) <= 0).all()


def test_the_fit_is_at_least_as_likely_as_the_function_that_was_planted():
    rng = np.random.default_rng(1)
    x, bins = rng.normal(size=20_000), rng.integers(0, 12, 20_000)
    heights = np.linspace(-1, 1, 12) ** 3
    value = 2 * x + heights[bins] - 1
    positive = rng.random(20_000) < 1 / (1 + np.exp(-value))
    fit = fit_monotone(x, bins, positive, 12)
    deviance = 2 * (np.logaddexp(0, value) - positive * value).sum()
    assert fit.deviance <= deviance
    assert fit.slope == pytest.approx(2, abs=0.1)
    assert np.abs(fit.heights - fit.heights.mean() - heights).max() < 0.3


def test_no_positives_say_nothing():
    fit = fit_monotone(np.arange(9.0), np.arange(9) % 3, np.zeros(9, bool), 3)
    assert not fit.heights.any()


def test_a_fold_is_measured_by_a_function_that_never_saw_it():
    task, vectors, judged = judged_by(PLANTED["a step"], queries=60)
    row = compare(task, vectors, ["dot"], more=True)["length-prior (tuned)"]
    folds = assign_folds(60, 5, 0)
    _, by_fold = length_priors(evaluator(task, vectors))
    q, d = vectors.queries.astype(float), vectors.documents.astype(float)
    lengths = np.linalg.norm(d, axis=1)
    cosine = q @ d.T / np.outer(np.linalg.norm(q, axis=1), lengths)
    for fold in range(5):
        chosen = [p["strength"] for p in row.fold_parameters][fold]
        option = [p["strength"] for p in by_fold[fold].parameters].index(chosen)
        prior = by_fold[fold].options[option].similarity
        heights = np.interp(np.log(lengths), prior.knots, prior.heights)
        expected = trec(judged, top(cosine + heights, 10))
        assert np.allclose(row.values[folds == fold], expected[folds == fold])


def test_it_gains_where_length_matters_in_a_way_that_no_power_follows():
    task, vectors, _ = judged_by(PLANTED["a step"], queries=200)
    table = compare(task, vectors, more=True, permutations=500)
    prior = table["length-prior (tuned)"]
    assert prior.better
    assert prior.value > table["polar (tuned)"].value
    assert prior.value > table["log-prior (tuned)"].value
    assert [p["weight"] for p in table["log-prior (tuned)"].fold_parameters if p["weight"] not in WEIGHTS] == []


def test_it_is_saved_and_served_by_one_more_coordinate(tmp_path):
    prior = osp.LengthPrior(np.log([0.5, 1.0, 4.0]), np.array([0.0, 0.3, 0.2]))
    scorer = osp.Scorer(prior)
    scorer.save(tmp_path)
    loaded = osp.Scorer.load(tmp_path)
    assert loaded.key == scorer.key
    assert scorer.key != osp.Scorer(osp.LengthPrior(prior.knots, 2 * prior.heights)).key
    rng = np.random.default_rng(0)
    queries = rng.normal(size=(20, 5)).astype(np.float32)
    documents = (rng.normal(size=(200, 5)) * rng.lognormal(0, 1, (200, 1))).astype(np.float32)
    documents[7] = 0
    lengths = np.linalg.norm(documents.astype(float), axis=1)
    with np.errstate(all="ignore"):
        cosine = queries.astype(float) @ documents.T / np.outer(np.linalg.norm(queries, axis=1), lengths)
        full = np.where(lengths > 0, cosine + np.interp(np.log(lengths), prior.knots, prior.heights), -np.inf)
    found = osp.search(queries, documents, [loaded], 10)[0]
    assert (found.documents == top(full, 10)).mean() > 0.99
    assert np.allclose(found.scores, np.take_along_axis(full, found.documents, axis=1), atol=1e-6)
    lowering = loaded.lower()
    rows = lowering.documents(documents)
    assert rows.shape == (200, 6)
    kept = np.flatnonzero(lowering.is_rankable(documents))
    inner = lowering.queries(queries) @ rows[kept].T
    assert (kept[top(inner, 10)] == found.documents).mean() > 0.99


def test_what_is_no_function_is_refused():
    with pytest.raises(DataError, match="are no function"):
        osp.LengthPrior(np.array([1.0, 0.5]), np.zeros(2))
    with pytest.raises(OffsphereError, match="length-prior is not made from its name but from judgments"):
        osp.parse_scorer("length-prior")


def test_equal_lengths_leave_nothing_to_fit():
    task, vectors, _ = judged_by(PLANTED["nothing"], queries=40)
    documents = vectors.documents / np.linalg.norm(vectors.documents, axis=1, keepdims=True)
    assert length_priors(evaluator(task, osp.RankingVectors.of(task, vectors.queries, np.round(documents, 5)))) is None
