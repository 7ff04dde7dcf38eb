from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from offsphere.data import RankingTask, RankingVectors
from offsphere.geometry.negatives import minibatch_bounds, negatives
from offsphere.geometry.positives import positives_of
from offsphere.geometry.scanning import scan


def embedded(queries, documents, relevant):
    judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(relevant)}
    task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(len(documents))])
    vectors = RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))
    return vectors, positives_of(task, vectors)


@given(st.integers(0, 1_000))
def test_moments_of_negatives_are_those_of_all_negative_pairs(seed):
    rng = np.random.default_rng(seed)
    queries, documents = rng.normal(0.4, 1, (6, 4)), rng.normal(0.2, 1, (9, 4))
    relevant = [sorted(set(rng.integers(0, 9, 2).tolist())) for _ in range(6)]
    vectors, positives = embedded(queries, documents, relevant)
    result = negatives(scan(vectors.queries), scan(vectors.documents), positives)
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (queries, documents)]
    cosines = units[0] @ units[1].T
    mask = np.ones_like(cosines, bool)
    for q, row in enumerate(relevant):
        mask[q, row] = False
    assert np.isclose(result.mean, cosines[mask].mean(), atol=1e-6)
    assert np.isclose(result.variance.value, cosines[mask].var(), atol=1e-6)
    assert np.isclose(result.positive_mean, cosines[~mask].mean(), atol=1e-6)
    assert np.isclose(result.alignment, 2 - 2 * cosines[~mask].mean(), atol=1e-6)


def test_a_simplex_is_the_optimum_and_reaches_the_bound():
    n = 12
    simplex = np.eye(n) - 1 / n
    vectors, positives = embedded(simplex, simplex, [[i] for i in range(n)])
    result = negatives(scan(vectors.queries), scan(vectors.documents), positives)
    assert np.isclose(result.mean, -1 / (n - 1), atol=1e-6)
    assert np.isclose(result.optimum, -1 / (n - 1))
    assert np.isclose(result.positive_mean, 1)
    assert np.isclose(result.variance.value, 0, atol=1e-9)
    assert np.isclose(result.slack, 0, atol=1e-6)  # E[pos] = 1 + E[neg] + 1/(n - 1)


@given(st.integers(0, 200))
def test_no_encoder_exceeds_what_its_negatives_allow(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    left = rng.normal(size=(n, 3))
    vectors, positives = embedded(left, left + rng.normal(0, 0.3, left.shape), [[i] for i in range(n)])
    assert negatives(scan(vectors.queries), scan(vectors.documents), positives).slack >= -1e-6


def test_bounds_are_lees_and_shrink_with_the_batch():
    first, second = minibatch_bounds(100, (10, 50))
    assert np.isclose(first.low, 90 / (9 * 99**2))
    assert np.isclose(first.high, 100 * first.low)
    assert second.high < first.high
    assert minibatch_bounds(100, (100, 200)) == []


def test_a_sampled_variance_comes_with_an_interval():
    rng = np.random.default_rng(0)
    vectors, positives = embedded(rng.normal(0.2, 1, (60, 5)), rng.normal(0.2, 1, (3_000, 5)), [[i] for i in range(60)])
    left = scan(vectors.queries)
    exact = negatives(left, scan(vectors.documents), positives)
    sampled = negatives(left, scan(vectors.documents, sample=500), positives)
    assert exact.variance.low is None
    assert sampled.mean == exact.mean
    assert sampled.variance.low < exact.variance.value < sampled.variance.high


def test_slack_is_told_for_one_to_one_pairs_alone_and_bounds_for_a_known_training_set():
    rng = np.random.default_rng(0)
    vectors, positives = embedded(rng.normal(size=(9, 4)), rng.normal(size=(20, 4)), [[i] for i in range(9)])
    scans = scan(vectors.queries), scan(vectors.documents)
    result = negatives(*scans, positives)
    assert result.slack is None
    assert "more scattered" not in result.sentence
    with_size = negatives(*scans, positives, training_size=5_000)
    assert [bound.batch for bound in with_size.bounds] == [32, 64, 256, 1_024]
    above = [bound.batch for bound in with_size.bounds if with_size.variance.value > bound.high]
    assert f"batches of {min(above)} or more leaves them" in with_size.sentence
