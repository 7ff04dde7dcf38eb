from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics.significance import (
    bootstrap_means,
    bootstrap_p,
    holm,
    interval,
    randomization_test,
    randomization_test_pairs,
    win_tie_loss,
)


def test_p_is_that_of_scipys_permutation_test():
    rng = np.random.default_rng(0)
    for shift in (0.0, 0.1, 0.3):
        differences = rng.normal(shift, 0.6, 40)
        p = randomization_test(differences, permutations=20_000)[0]
        expected = stats.permutation_test(
            (differences,), lambda d: abs(d.mean()), permutation_type="samples", n_resamples=20_000,
            alternative="greater", rng=1,
        ).pvalue  # fmt: skip
        assert p == pytest.approx(expected, abs=0.012)


def test_few_queries_give_the_exact_p():
    # with 3 equal differences, 2 of the 8 sign patterns reach the observed sum: p = 1/4
    p = randomization_test(np.array([0.2, 0.2, 0.2]), permutations=40_000)[0]
    assert p == pytest.approx(0.25, abs=0.01)


def test_sums_equal_up_to_rounding_count_as_reached():
    # 0.1 + 0.2 is not 0.3 in binary: every pattern of these reaches the observed sum of zero
    assert randomization_test(np.array([0.1, 0.2, -0.3])) == 1


@given(seed=st.integers(0, 2**32 - 1))
def test_all_pairs_at_once_are_the_pairs_one_by_one(seed):
    values = np.random.default_rng(seed).random((30, 4))
    together = randomization_test_pairs(values, permutations=300, seed=seed)
    first, second = np.triu_indices(4, 1)
    alone = randomization_test(values[:, first] - values[:, second], permutations=300, seed=seed)
    assert np.allclose(together[first, second], alone)
    assert np.allclose(together, together.T)


def test_false_alarms_come_at_the_stated_rate():
    rng = np.random.default_rng(1)
    p = randomization_test(rng.normal(0, 1, (50, 600)), permutations=2_000)
    assert (p < 0.05).mean() == pytest.approx(0.05, abs=0.025)


def test_intervals_cover_at_the_stated_rate():
    rng = np.random.default_rng(2)
    covered = 0
    for trial in range(150):
        around = interval(bootstrap_means(rng.exponential(1.0, 120), count=600, seed=trial))
        covered += around.low[0] <= 1.0 <= around.high[0]
    assert covered / 150 == pytest.approx(0.95, abs=0.05)


def test_bootstrap_is_scipys():
    values = np.random.default_rng(3).exponential(1.0, 200)
    around = interval(bootstrap_means(values, count=8_000))
    expected = stats.bootstrap((values,), np.mean, n_resamples=8_000, method="percentile", rng=1).confidence_interval
    assert np.allclose([around.low[0], around.high[0]], [expected.low, expected.high], atol=0.02)


def test_holm_by_hand_and_by_law():
    assert np.allclose(holm(np.array([0.01, 0.04, 0.03])), [0.03, 0.06, 0.06])
    p = np.random.default_rng(4).random(20) / 100
    corrected = holm(p)
    order = np.argsort(p)
    assert (corrected >= p).all()
    assert (np.diff(corrected[order]) >= 0).all()
    assert corrected[order[0]] == 20 * p[order[0]]  # Bonferroni for the smallest


def test_the_same_seed_gives_the_same_p():
    values = np.random.default_rng(5).normal(0.1, 1, (37, 3))
    assert (randomization_test(values, 500, seed=9) == randomization_test(values, 500, seed=9)).all()
    assert (randomization_test(values, 500, seed=9) != randomization_test(values, 500, seed=8)).any()


def test_bootstrap_p_is_the_normal_one():
    samples = np.random.default_rng(6).normal(0.2, 0.1, (20_000, 1))
    assert bootstrap_p(np.array([0.2]), samples)[0] == pytest.approx(2 * stats.norm.sf(2.0), rel=0.1)
    assert bootstrap_p(np.array([0.0]), np.zeros((5, 1)))[0] == 1


def test_wins_ties_losses():
    assert win_tie_loss(np.array([0.1, 0, -0.2, 0.3])) == (2, 1, 1)
