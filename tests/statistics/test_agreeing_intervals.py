"""Intervals and p of one row never contradict: zero is left out exactly where p is below 0.05."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from offsphere.statistics.agreeing_intervals import around_means, around_statistics, around_values
from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.max_t import max_t_by_bootstrap, max_t_by_signs
from offsphere.statistics.nested_choice import nested_choice
from offsphere.statistics.significance import bootstrap_means
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["smooth", "steps", "sparse"])


def drawn(rng, kind, units, columns):
    """Differences as metrics make them: of any size, of whole steps (equal as often as not), or mostly none."""
    means = rng.choice([-0.5, 0.0, 0.2, 0.4], columns)
    if kind == "smooth":
        return rng.normal(means, rng.uniform(0.3, 1.5, columns), (units, columns))
    values = np.sign(rng.normal(means, 1, (units, columns)))
    return values if kind == "steps" else values * (rng.random((units, columns)) < 0.3)


def agree(p, around):
    """Whether every interval leaves out zero exactly where its p is small."""
    return ((p < 0.05) == ((around.low > 0) | (around.high < 0))).all()


@given(seed=SEEDS, kind=KINDS, units=st.integers(1, 60), permutations=st.sampled_from([10, 99, 999]))
@settings(max_examples=150)
def test_columns_that_are_corrected_and_planned_ones_beside_them(seed, kind, units, permutations):
    rng = np.random.default_rng(seed)
    columns = drawn(rng, kind, units, 6) * rng.choice([1e-3, 1.0])
    columns[:, 5] = 0.0
    together = np.array([False, False, True, True, True, True])
    tests = max_t_by_signs(columns, permutations, seed, together=together)
    around = around_means(columns, tests.reach)
    assert agree(tests.corrected, around)
    means = columns.mean(axis=0)
    assert ((around.low <= means + 1e-12) & (means <= around.high + 1e-12)).all()
    # a planned row's own interval knows of no other row, and a corrected one is never narrower than it would be alone
    alone = around_means(columns, max_t_by_signs(columns, permutations, seed, together=np.zeros(6, bool)).reach)
    assert np.allclose(around.low[:2], alone.low[:2])
    assert (around.low <= alone.low + 1e-12).all()
    assert (alone.high <= around.high + 1e-12).all()


@pytest.mark.parametrize("kind", ["smooth", "steps", "sparse"])
@pytest.mark.parametrize("seed", range(8))
def test_rows_that_were_tuned(seed, kind):
    """Rows with one option and rows that were tuned, one without any difference, one planned."""
    rng = np.random.default_rng(seed)
    units = int(rng.integers(12, 200))
    options = drawn(rng, kind, units, 9)
    options[:, 8] = 0.0
    folds = assign_folds(units, 5, seed)
    rows = [np.tile(part, (5, 1)) for part in ([0], [1], [2, 3], [4, 5, 6, 7], [8])]
    held = [tune([options[:, o] for o in row[0]], MeanOverQueries(units), folds).measured for row in rows]
    tests = max_t_by_tuned_signs(options, rows, folds, 999, seed, together=np.array([False, True, True, True, True]))
    assert agree(tests.corrected, around_means(np.stack(held, axis=1), tests.reach))


@given(seed=SEEDS)
@settings(max_examples=30, deadline=None)
def test_statistics_that_only_resampling_can_test(seed):
    rng = np.random.default_rng(seed)
    columns = drawn(rng, "smooth", 40, 5)
    columns[:, 4] = 0.0
    samples = bootstrap_means(columns, 400, seed)
    observed = columns.mean(axis=0)
    tests = max_t_by_bootstrap(observed, samples, together=np.array([False, True, True, True, True]))
    around = around_statistics(observed, samples.std(axis=0), tests.reach)
    assert agree(tests.corrected, around)
    assert around.low[4] == around.high[4] == 0


@given(seed=SEEDS, kind=KINDS, scale=st.floats(0.2, 5))
@settings(max_examples=60)
def test_what_is_told_on_another_scale_than_it_was_tested_on(seed, kind, scale):
    rng = np.random.default_rng(seed)
    tested = drawn(rng, kind, 30, 5)
    told = scale * tested + rng.normal(0, 0.05, tested.shape)
    tests = max_t_by_signs(tested, 999, seed)
    around = around_values(told.mean(axis=0), told, tested, tests.reach)
    same_side = tested.mean(axis=0) * told.mean(axis=0) > 0
    assert agree(tests.corrected[same_side], type(around)(around.low[same_side], around.high[same_side]))
    same = around_values(tested.mean(axis=0), tested, tested, tests.reach)
    assert np.allclose(same, around_means(tested, tests.reach), atol=1e-12)


@given(seed=SEEDS, kind=KINDS, units=st.integers(2, 40))
@settings(max_examples=60, deadline=None)
def test_the_choice(seed, kind, units):
    rng = np.random.default_rng(seed)
    gained = np.column_stack([np.zeros(units), drawn(rng, kind, units, 4)])
    nested = nested_choice(gained, [(0,), (1,), (1,), (2,), (2,)], folds=2, repeats=2, seed=seed, permutations=199)
    assert (nested.p < 0.05) == (nested.low > 0 or nested.high < 0)
    assert nested.low <= nested.gained.mean() + 1e-12
    assert nested.gained.mean() <= nested.high + 1e-12


def test_the_interval_of_a_row_alone_is_students():
    values = np.random.default_rng(0).normal(0.2, 1, (400, 1))
    around = around_means(values, max_t_by_signs(values, 20_000).reach)
    expected = stats.ttest_1samp(values[:, 0], 0).confidence_interval(0.95)
    assert [around.low[0], around.high[0]] == pytest.approx(list(expected), abs=0.005)


def test_each_interval_holds_its_mean_as_often_as_it_says():
    """Of 200 sets of three rows, two of them much alike, no row's interval misses its mean in many more than 5 %."""
    rng = np.random.default_rng(0)
    truth, missed = np.array([0.0, 0.3, 0.4]), np.zeros(3)
    for seed in range(200):
        sample = rng.normal(size=(60, 3))
        sample[:, 1] = 0.8 * sample[:, 0] + 0.6 * sample[:, 1]
        around = around_means(sample + truth, max_t_by_signs(sample + truth, 199, seed).reach)
        missed += (around.low > truth) | (around.high < truth)
    assert (missed <= 18).all()  # of 10 at most expected; more than 18 has a chance of 1 in 200
