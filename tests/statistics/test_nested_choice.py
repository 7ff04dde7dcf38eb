"""The choice as a procedure, against the same procedure written in plain loops, and against its level."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from offsphere.statistics.nested_choice import choose_option, nested_choice


def choose_by_hand(values, complexity):
    """The simplest within one standard error of the paired difference from the best (Breiman et al. 1984)."""
    means = values.mean(axis=0)
    best = int(np.argmax(means))
    near = []
    for option in range(values.shape[1]):
        apart = values[:, best] - values[:, option]
        if option == best or apart.mean() <= apart.std(ddof=1) / np.sqrt(len(apart)):
            near.append(option)
    return min(near, key=lambda option: (complexity[option], -means[option], option))


@pytest.mark.parametrize("seed", range(8))
def test_choices_are_those_of_the_rule_in_plain_loops(seed):
    rng = np.random.default_rng(seed)
    gained = np.column_stack([np.zeros(31), rng.normal(0.1, 1, (31, 1)) + rng.normal(0.05, 0.6, (31, 9))])
    complexity = [(0, 0)] + [(int(a), int(b)) for a, b in rng.integers(0, 3, (9, 2))]
    assert choose_option(gained, complexity) == choose_by_hand(gained, complexity)
    nested = nested_choice(gained, complexity, folds=4, repeats=3, seed=seed, permutations=20)
    expected = np.zeros(31)
    for division, choices in zip(nested.divisions, nested.choices, strict=True):
        for fold in range(4):
            chosen = choose_by_hand(gained[division != fold], complexity)
            assert choices[fold] == chosen
            expected[division == fold] += gained[division == fold, chosen] / 3
    assert np.allclose(nested.gained, expected)
    assert nested.low <= nested.gained.mean() <= nested.high


def test_equal_options_leave_the_simplest_and_first():
    column = np.random.default_rng(0).normal(1, 0.1, 20)
    gained = np.column_stack([np.zeros(20), column, column, column])
    assert choose_option(gained, [(0,), (2,), (1,), (1,)]) == 2
    assert choose_option(np.zeros((20, 3)), [(1,), (0,), (0,)]) == 1
    assert choose_option(np.ones((1, 2)), [(1,), (0,)]) == 1  # one unit tells no error


def test_what_is_never_chosen_gains_nothing():
    rng = np.random.default_rng(0)
    gained = np.column_stack([np.zeros(50), -1 + rng.normal(0, 0.1, (50, 4))])
    nested = nested_choice(gained, [(0,)] * 5)
    assert nested.overall == 0
    assert not nested.gained.any()
    assert (nested.p, nested.low, nested.high) == (1.0, 0.0, 0.0)


def correlated(rng, units, options=24):
    """Options in groups that move together, of different spread, as those of a comparison do."""
    groups = np.repeat(rng.normal(size=(units, 6)), options // 6, axis=1)
    gained = (groups + 0.5 * rng.normal(size=(units, options))) * rng.lognormal(0, 0.7, options)
    return np.column_stack([np.zeros(units), gained]), [(0,)] + [(1 + number % 3,) for number in range(options)]


def test_where_nothing_gains_the_choice_is_called_better_or_worse_as_seldom_as_it_should():
    """300 null data sets of 40 units: an exact binomial bound on how often p < 0.05, in either direction."""
    better = worse = 0
    for seed in range(300):
        gained, complexity = correlated(np.random.default_rng(seed), 40)
        nested = nested_choice(gained, complexity, repeats=4, seed=seed, permutations=199)
        better += nested.p < 0.05 and nested.gained.mean() > 0
        worse += nested.p < 0.05 and nested.gained.mean() < 0
    most = stats.binom.ppf(0.999, 300, 0.025)
    assert better <= most
    assert worse <= most


def test_a_gain_that_is_there_is_found_and_the_interval_holds_it():
    found = held = 0
    for seed in range(60):
        gained, complexity = correlated(np.random.default_rng(seed), 80)
        widest = int(gained.std(axis=0).argmax())
        gain = 0.6 * gained[:, widest].std()
        gained[:, widest] += gain
        nested = nested_choice(gained, complexity, repeats=4, seed=seed, permutations=199)
        found += nested.p < 0.05 and nested.gained.mean() > 0
        held += nested.low <= gain <= nested.high
    assert found >= 50
    assert held >= stats.binom.ppf(0.001, 60, 0.9)
