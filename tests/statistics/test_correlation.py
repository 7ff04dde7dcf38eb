from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics.correlation import correlation
from offsphere.statistics.metrics.over_pairs import pearson, spearman
from offsphere.statistics.significance import bootstrap, interval


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(-5, 5)), min_size=5, max_size=60))
def test_values_are_scipys_ties_included(rows):
    x, y = np.array(rows, float).T
    assume(np.ptp(x) > 0 and np.ptp(y) > 0)
    result = correlation(x, y)
    assert np.isclose(result.pearson.value, stats.pearsonr(x, y).statistic, atol=1e-9)
    assert np.isclose(result.spearman.value, stats.spearmanr(x, y).statistic, atol=1e-9)


@pytest.mark.parametrize("strength", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("heavy", [False, True])
def test_intervals_are_as_wide_as_the_bootstraps(strength, heavy):
    rng = np.random.default_rng(3)
    x = rng.normal(size=800)
    y = strength * x + np.sqrt(1 - strength**2) * rng.normal(size=800) * (1 + heavy * np.abs(x))
    y = np.round(y, 1)  # ties
    result = correlation(x, y)
    for estimate, metric in ((result.pearson, pearson), (result.spearman, spearman)):
        low, high = interval(bootstrap(lambda weights, metric=metric: metric(x, y, weights), 800))
        assert abs(estimate.low - low) < 0.15 * (high - low)
        assert abs(estimate.high - high) < 0.15 * (high - low)


def test_the_interval_holds_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth = 6 / np.pi * np.arcsin(0.6 / 2)  # Spearman's of a normal pair with correlation .6
    covered = []
    for _ in range(400):
        x, noise = rng.normal(size=(2, 60))
        result = correlation(x, 0.6 * x + 0.8 * noise)
        linear, ranks = result.pearson, result.spearman
        covered.append((linear.low < 0.6 < linear.high, ranks.low < truth < ranks.high))
    assert (np.abs(np.mean(covered, axis=0) - 0.95) < 0.04).all()


def test_a_constant_or_three_rows_have_no_correlation():
    assert np.isnan(correlation(np.ones(9), np.arange(9)).pearson.value)
    assert np.isnan(correlation(np.arange(3), np.arange(3)).spearman.value)
    assert correlation(np.arange(9), 2 * np.arange(9)).pearson == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("count", [5, 6, 10, 20])
def test_few_rows_raise_no_false_alarm(count):
    rng = np.random.default_rng(count)
    results = [correlation(*rng.normal(size=(2, count))) for _ in range(400)]
    assert np.mean([result.pearson.excludes_zero for result in results]) < 0.09
    assert np.mean([result.spearman.excludes_zero for result in results]) < 0.09


def test_rows_that_hang_together_count_as_one():
    """Null: both columns are constant within a group but for noise, and independent between groups."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 30)
    alarms = []
    for _ in range(150):
        x, y = rng.normal(size=(2, 60))[:, groups] + 0.5 * rng.normal(size=(2, 1_800))
        alarms.append((correlation(x, y).pearson.excludes_zero, correlation(x, y, groups).pearson.excludes_zero))
    naive, clustered = np.mean(alarms, axis=0)
    assert naive > 0.4
    assert clustered < 0.1
