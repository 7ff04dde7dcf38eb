"""Step-down max-T against an enumeration of all sign patterns that is written here, and against its laws."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics import max_t, tuned_signs
from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.max_t import max_t_by_bootstrap, max_t_by_signs
from offsphere.statistics.significance import holm
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs, max_t_with_intervals

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
    alone, corrected = max_t_by_signs(differences, 500, seed)
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


def test_rows_that_are_not_tuned_are_tested_as_plain_columns():
    differences = correlated(4, 40, 5)
    rows = [np.full((5, 1), column) for column in range(5)]
    tuned = max_t_by_tuned_signs(differences, rows, assign_folds(40, 5, 0), 2_000)
    plain = max_t_by_signs(differences, 2_000)
    assert np.allclose(tuned.alone, plain.alone, atol=0.05)
    assert np.allclose(tuned.corrected, plain.corrected, atol=0.06)


def test_a_tuned_row_is_tuned_again_under_every_pattern(monkeypatch):
    """Against cross-validation run once for each of all sign patterns; a heavy tail is shrunk to the usual 1.96."""
    rng = np.random.default_rng(5)
    options = rng.normal(0.3, 1, (8, 4))
    folds = assign_folds(8, 4, 0)
    monkeypatch.setattr(tuned_signs, "random_signs", every_pattern)
    rows = [np.zeros((4, 1), int), np.tile([1, 2, 3], (4, 1))]
    tests = max_t_by_tuned_signs(options, rows, folds, 2**8 - 1)

    def statistic(signs):
        flipped = options * np.array(signs)[:, None]
        held_out = tune(list(flipped[:, 1:].T), MeanOverQueries(8), folds).measured
        return [column.sum() / np.sqrt((column**2).sum()) for column in (flipped[:, 0], held_out)]

    every = np.array([statistic(signs) for signs in product([1.0, -1.0], repeat=8)])
    low, high = np.quantile(every[:, 1], [0.025, 0.975])
    assert -low > high  # losses of what was tuned are larger by chance
    every[every[:, 1] > 0, 1] *= min(1.959964 / high, 1)
    every[every[:, 1] < 0, 1] *= min(1.959964 / -low, 1)
    every = np.abs(every)
    assert np.allclose(tests.alone, (every >= every[0] - 1e-9).mean(axis=0))
    first = int(every[0].argmax())
    assert tests.corrected[first] == pytest.approx((every.max(axis=1) >= every[0, first] - 1e-9).mean())


def test_options_made_without_a_fold_are_used_for_that_fold_alone():
    rng = np.random.default_rng(6)
    folds = np.arange(40) % 2
    useful = rng.normal(1, 0.1, 40)
    columns = np.column_stack([np.where(folds == 0, useful, np.nan_to_num(rng.normal(0, 50, 40))), useful])
    rows = [np.array([[0], [1]])]
    assert max_t_by_tuned_signs(columns, rows, folds, 999).alone[0] == pytest.approx(0.001)


@pytest.mark.parametrize("seed", range(12))
def test_an_interval_leaves_out_zero_exactly_where_its_corrected_p_is_below_five_percent(seed):
    """Rows with one option and rows that were tuned, some with a gain or a loss, some all alike, one without any."""
    rng = np.random.default_rng(seed)
    units = int(rng.integers(12, 200))
    means = rng.choice([-0.4, 0.0, 0.15, 0.3], 9)
    options = rng.normal(means, rng.uniform(0.5, 1.5, 9), (units, 9)) * rng.choice([0.001, 1.0])
    options[:, 8] = 0.0
    folds = assign_folds(units, 5, seed)
    rows = [np.tile(part, (5, 1)) for part in ([0], [1], [2, 3], [4, 5, 6, 7], [8])]
    held = [tune([options[:, o] for o in row[0]], MeanOverQueries(units), folds).measured for row in rows]
    tests, around = max_t_with_intervals(options, rows, np.stack(held, axis=1), folds, 999, seed)
    assert ((tests.corrected < 0.05) == ((around.low > 0) | (around.high < 0))).all()
    again = max_t_by_tuned_signs(options, rows, folds, 999, seed)
    assert (tests.corrected == again.corrected).all()


def test_the_interval_of_a_row_alone_is_students():
    values = np.random.default_rng(0).normal(0.2, 1, 400)
    rows = [np.zeros((5, 1), int)]
    _, around = max_t_with_intervals(values[:, None], rows, values[:, None], np.arange(400) % 5, 20_000)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert [around.low[0], around.high[0]] == pytest.approx(list(expected), abs=0.005)


def test_each_interval_holds_its_mean_as_often_as_it_says():
    """Of 200 sets of three rows, two of them much alike, no row's interval misses its mean in many more than 5 %."""
    rng = np.random.default_rng(0)
    truth, rows = np.array([0.0, 0.3, 0.4]), [np.full((5, 1), row) for row in range(3)]
    missed = np.zeros(3)
    for seed in range(200):
        drawn = rng.normal(size=(60, 3))
        drawn[:, 1] = 0.8 * drawn[:, 0] + 0.6 * drawn[:, 1]
        _, around = max_t_with_intervals(drawn + truth, rows, drawn + truth, np.arange(60) % 5, 199, seed)
        missed += (around.low > truth) | (around.high < truth)
    assert (missed <= 18).all()  # of 10 at most expected; more than 18 has a chance of 1 in 200
