from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from offsphere.statistics.metrics.pooled import pooled_average_precision, roc_auc


@given(seed=st.integers(0, 2**32 - 1), levels=st.integers(2, 50))
def test_pooled_metrics_are_scikit_learns(seed, levels):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, levels, (6, 9)) / levels
    relevant = rng.random((6, 9)) < 0.3
    assume(relevant.any() and not relevant.all())
    missed = rng.integers(0, 3, 6)  # relevant documents that were not retrieved
    totals = relevant.sum(axis=1) + missed
    share = relevant.sum() / totals.sum()
    expected = average_precision_score(relevant.ravel(), scores.ravel()) * share
    assert np.isclose(pooled_average_precision(scores, relevant, totals.astype(float))[0], expected)
    # what was not retrieved stands below everything that was
    labels = np.append(relevant.ravel(), np.ones(missed.sum(), bool))
    below = np.append(scores.ravel(), np.full(missed.sum(), -1.0))
    assert np.isclose(roc_auc(scores, relevant, totals.astype(float))[0], roc_auc_score(labels, below))


@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_repeated_queries(seed):
    rng = np.random.default_rng(seed)
    scores, relevant = rng.integers(0, 9, (6, 9)) / 9, rng.random((6, 9)) < 0.4
    drawn = rng.integers(0, 6, 6)
    weights = np.bincount(drawn, minlength=6)[None, :].astype(float)
    totals = relevant.sum(axis=1).astype(float)
    assume(relevant[drawn].any() and not relevant[drawn].all())
    for metric in (pooled_average_precision, roc_auc):
        again = metric(scores[drawn], relevant[drawn], totals[drawn])
        assert np.isclose(metric(scores, relevant, totals, weights)[0], again[0])
