"""Step-down max-T against an enumeration of all sign patterns that is written here, and against its laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics import max_t
from offsphere.statistics.max_t import max_t_by_bootstrap, max_t_by_signs
from offsphere.statistics.significance import holm

SEEDS = st.integers(0, 2**32 - 1)


def every_pattern(units, *_):
    """All sign patterns but the observed one, which the test counts by itself."""
    yield np.array(list(product([1.0, -1.0], repeat=units))[1:])


def correlated(seed, units=9, columns=6):
    rng = np.random.default_rng(seed)
    return rng.normal(0.4, 1, (units, 1)) + rng.normal(0, 0.7, (units, columns)) * rng.lognormal(0, 1, columns)


def by_hand(differences):
    """Westfall & Young's step-down (1993, p. 66-67) on Student's t of every sign pattern, in plain loops."""
    units, columns = differences.shape
    patterns = [np.array(signs)[:, None] for signs in product([1.0, -1.0], repeat=units)]
    t = np.array([np.abs(stats.ttest_1samp(signs * differences, 0).statistic) for signs in patterns])
    observed = t[0]
    order = list(np.argsort(-observed))
    p, corrected = np.zeros(columns), 0.0
    for place, column in enumerate(order):
        largest = t[:, order[place:]].max(axis=1)
        corrected = max(corrected, float((largest >= observed[column] - 1e-9).mean()))
        p[column] = corrected
    return (t >= observed - 1e-9).mean(axis=0), p


@pytest.mark.parametrize("seed", range(6))
def test_it_is_westfall_and_youngs_on_all_sign_patterns(monkeypatch, seed):
    differences = correlated(seed)
    monkeypatch.setattr(max_t, "random_signs", every_pattern)
    tests = max_t_by_signs(differences, 2**9 - 1)
    alone, corrected = by_hand(differences)
    assert np.allclose(tests.alone, alone)
    assert np.allclose(tests.corrected, corrected)
    # between the uncorrected and Holm's
    assert (tests.corrected >= tests.alone).all()
    assert (tests.corrected <= holm(tests.alone) + 1e-12).all()


@given(seed=SEEDS)
@settings(max_examples=20)
def test_corrected_p_never_fall_with_the_statistic_and_never_below_the_uncorrected(seed):
    differences = correlated(seed, 30, 8)
    alone, corrected, _ = max_t_by_signs(differences, 500, seed)
    assert (corrected >= alone).all()
    order = np.argsort(-np.abs(stats.ttest_1samp(differences, 0).statistic))
    assert (np.diff(corrected[order]) >= 0).all()


def test_a_copied_column_costs_nothing_and_one_without_a_value_disturbs_nobody():
    differences = correlated(1, 40, 5)
    before = max_t_by_signs(differences, 2_000)
    more = np.column_stack([differences, differences, np.zeros(40), np.full(40, np.nan)])
    after = max_t_by_signs(more, 2_000)
    assert np.array_equal(after.corrected[:5], before.corrected)
    assert np.array_equal(after.corrected[5:10], before.corrected)
    assert after.corrected[10:].tolist() == after.alone[10:].tolist() == [1.0, 1.0]


def test_planned_columns_keep_their_p_and_dilute_nobody():
    differences = correlated(2, 40, 5)
    together = np.array([False, True, True, True, True])
    tests = max_t_by_signs(differences, 2_000, together=together)
    assert tests.corrected[0] == tests.alone[0]
    assert np.array_equal(tests.corrected[1:], max_t_by_signs(differences[:, 1:], 2_000).corrected)


def test_uncorrected_p_are_those_of_scipy():
    differences = correlated(3, 25, 3)
    for column, p in zip(differences.T, max_t_by_signs(differences, 20_000).alone, strict=True):
        oracle = stats.permutation_test(
            (column,), np.mean, permutation_type="samples", n_resamples=20_000, rng=0
        ).pvalue
        assert p == pytest.approx(oracle, abs=0.015)


def test_the_bootstrap_version_knows_that_rows_move_together():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(4_000, 1))
    observed = np.full(20, 2.2)
    together = max_t_by_bootstrap(observed, observed + common + rng.normal(0, 1e-6, (4_000, 20)))
    apart = max_t_by_bootstrap(observed, observed + rng.normal(size=(4_000, 20)))
    assert np.allclose(together.corrected, stats.norm.sf(2.2) * 2, atol=0.01)
    # of independent rows the largest of 20 counts
    assert np.allclose(apart.corrected, 1 - (1 - stats.norm.sf(2.2) * 2) ** 20, atol=0.08)
    broken = max_t_by_bootstrap(np.array([2.2, np.nan]), np.column_stack([2.2 + common, np.full((4_000, 1), np.nan)]))
    assert broken.corrected[1] == 1.0
    assert broken.corrected[0] == pytest.approx(together.corrected[0], abs=0.01)
