from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics.metrics import over_pairs as pairs

ORACLES = {"spearman": stats.spearmanr, "pearson": stats.pearsonr, "kendall": stats.kendalltau}


@pytest.mark.parametrize("name", ORACLES)
@given(seed=st.integers(0, 2**32 - 1), levels=st.integers(2, 40), count=st.integers(3, 60))
def test_correlations_are_scipys_with_ties(name, seed, levels, count):
    rng = np.random.default_rng(seed)
    scores, gold = rng.integers(0, levels, count) * 0.3, rng.integers(0, 6, count) * 1.0
    assume(np.ptp(scores) > 0 and np.ptp(gold) > 0)
    expected = ORACLES[name](scores, gold).statistic
    assert np.isclose(getattr(pairs, name)(scores, gold)[0], expected)
    contributions = getattr(pairs, f"{name}_contributions")(scores, gold)
    assert np.isclose(contributions.mean(), expected)


@pytest.mark.parametrize("name", ORACLES)
def test_the_spread_of_contributions_is_the_error_of_a_difference(name):
    """Against resampling and scipy: sign flips and standard errors rest on it."""
    rng = np.random.default_rng(0)
    gold = rng.normal(size=400)
    first = gold + rng.normal(0, 0.7, 400)
    second = first + rng.normal(0, 0.4, 400)
    each = [getattr(pairs, f"{name}_contributions")(scores, gold) for scores in (first, second)]
    error = (each[0] - each[1]).std() / np.sqrt(400)
    drawn = rng.integers(0, 400, (400, 400))
    resampled = [
        ORACLES[name](first[rows], gold[rows]).statistic - ORACLES[name](second[rows], gold[rows]).statistic
        for rows in drawn
    ]
    assert error == pytest.approx(np.std(resampled), rel=0.12)


@pytest.mark.parametrize("name", ["spearman", "pearson"])
@given(seed=st.integers(0, 2**32 - 1))
def test_weights_are_repeated_pairs(name, seed):
    rng = np.random.default_rng(seed)
    scores, gold = rng.integers(0, 9, 40) * 0.3, rng.integers(0, 6, 40) * 1.0
    drawn = rng.integers(0, 40, 40)
    weights = np.bincount(drawn, minlength=40)[None, :].astype(float)
    assert np.isclose(
        getattr(pairs, name)(scores, gold, weights)[0], ORACLES[name](scores[drawn], gold[drawn]).statistic
    )


@given(seed=st.integers(0, 2**32 - 1))
def test_spearman_in_many_resamples_is_spearman_in_each(seed):
    rng = np.random.default_rng(seed)
    scores, gold = rng.integers(0, 9, (3, 40)) * 0.3, rng.integers(0, 6, 40) * 1.0
    weights = rng.multinomial(40, np.full(40, 1 / 40), size=5).astype(float)
    together = pairs.spearman_resampled(list(scores), gold, weights)
    assert np.allclose(together, np.stack([pairs.spearman(row, gold, weights) for row in scores], axis=1))


def test_the_linearised_kendall_has_the_spread_of_the_bootstrap():
    rng = np.random.default_rng(0)
    gold = rng.random(300)
    scores = gold + rng.normal(0, 0.4, 300)
    drawn = rng.integers(0, 300, (300, 300))
    weights = np.stack([np.bincount(row, minlength=300) for row in drawn]).astype(float)
    linear = pairs.kendall(scores, gold, weights)
    exact = np.array([stats.kendalltau(scores[row], gold[row]).statistic for row in drawn])
    assert linear.std() == pytest.approx(exact.std(), rel=0.1)


def test_a_constant_side_has_no_correlation():
    assert np.isnan(pairs.spearman(np.ones(5), np.arange(5.0))[0])


def test_a_kernel_that_fails_is_heard(monkeypatch):
    """Else what memory happened to hold would be taken for correlations."""
    from offsphere.statistics.metrics import resampling

    def fails(*_):
        raise MemoryError("no room for a resample")

    monkeypatch.setattr(resampling, "_correlate", fails)
    rng = np.random.default_rng(0)
    with pytest.raises(MemoryError, match="no room for a resample"):
        resampling.spearman_in_resamples([rng.normal(size=9)], rng.normal(size=9), np.ones((20, 9)))


@pytest.mark.parametrize("resamples", [0, 1, 2, 3, 7, 100])
def test_every_resample_is_computed_however_many_there_are(resamples):
    from offsphere.statistics.metrics.resampling import spearman_in_resamples

    rng = np.random.default_rng(0)
    scores, gold, weights = rng.normal(size=12), rng.normal(size=12), rng.integers(0, 3, (resamples, 12)) * 1.0
    values = spearman_in_resamples([scores], gold, weights)
    assert values.shape == (resamples, 1)
    for value, row in zip(values[:, 0], weights, strict=True):
        drawn = np.repeat(np.arange(12), row.astype(int))
        assert np.isclose(value, stats.spearmanr(scores[drawn], gold[drawn]).statistic)
