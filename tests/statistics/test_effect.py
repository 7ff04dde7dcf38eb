from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_ind
from sklearn.metrics import roc_auc_score

from offsphere.statistics import effect
from offsphere.statistics.effect import band, cohen_d, superiority


@pytest.mark.parametrize("planted", [-0.8, 0.0, 0.35])
def test_a_planted_effect_lies_in_the_interval_as_often_as_it_says(planted):
    rng = np.random.default_rng(0)
    estimates = [cohen_d(rng.normal(5 + 2 * planted, 2, 300), rng.normal(5, 2, 6_000)) for _ in range(100)]
    assert np.mean([estimate.low < planted < estimate.high for estimate in estimates]) >= 0.88
    assert abs(np.mean([estimate.value for estimate in estimates]) - planted) < 0.02


def test_the_interval_has_the_width_that_theory_gives_it():
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.5, 1, 400), rng.normal(0, 1, 900)
    estimate = cohen_d(first, second)
    error = np.sqrt(1 / 400 + 1 / 900 + estimate.value**2 / (2 * 1_300))  # Hedges & Olkin 1985
    assert np.isclose(estimate.high - estimate.low, 2 * 1.96 * error, rtol=0.1)


def test_many_values_are_resampled_from_the_limit_of_drawing_them(monkeypatch):
    rng = np.random.default_rng(2)
    first, second = rng.gamma(2, 1, 4_000), rng.gamma(1.8, 1, 3_000)
    drawn = cohen_d(first, second)
    monkeypatch.setattr(effect, "DRAWN", 10)
    limit = cohen_d(first, second)
    assert drawn.value == limit.value
    assert abs(drawn.low - limit.low) < 0.006
    assert abs(drawn.high - limit.high) < 0.006


def test_superiority_is_the_area_under_the_curve():
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 20, 150) + 2.0, rng.integers(0, 20, 400) * 1.0
    estimate = superiority(first, second)
    labels = np.repeat([1, 0], [150, 400])
    assert np.isclose(estimate.value, roc_auc_score(labels, np.concatenate([first, second])))
    again = [superiority(rng.choice(first, 150), rng.choice(second, 400)).value for _ in range(600)]
    low, high = np.quantile(again, [0.025, 0.975])
    assert abs(estimate.low - low) < 0.01
    assert abs(estimate.high - high) < 0.01


@pytest.mark.parametrize("sizes", [(40, 900), (300, 7)])
def test_d_is_students_t_without_the_sample_size(sizes):
    """With the pooled deviation, ``t = d / sqrt(1/n + 1/m)``: scipy's t gives d."""
    rng = np.random.default_rng(4)
    first, second = (rng.gamma(2, 1, size) for size in sizes)
    t = ttest_ind(first, second).statistic
    assert np.isclose(cohen_d(first, second).value, t * np.sqrt(sum(1 / size for size in sizes)))


def test_bands_are_cohens():
    assert [band(d) for d in (0.1, -0.3, 0.6, -2)] == ["negligible", "small", "medium", "large"]


def test_equal_numbers_have_no_effect():
    assert cohen_d(np.ones(5), np.ones(9)) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("few", [2, 3, 5, 10, 20, 40])
def test_small_groups_raise_no_false_alarm(few):
    rng = np.random.default_rng(few)
    alarms = [cohen_d(rng.normal(size=few), rng.normal(size=300)).excludes_zero for _ in range(300)]
    assert np.mean(alarms) < 0.09
