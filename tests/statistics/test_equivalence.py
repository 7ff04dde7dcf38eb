from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from offsphere.statistics.equivalence import most_to_gain, usual_worth


def test_the_bound_holds_for_all_rows_in_95_of_100_cases():
    """Twenty correlated rows whose best truly gains 0.02: drawn again and again, the bound is below that in 5 %."""
    rng = np.random.default_rng(0)
    truth = np.linspace(-0.02, 0.02, 20)
    below = 0
    for _ in range(300):
        noise = rng.normal(0, 0.01, (1, 1)) + rng.normal(0, 0.01, (1, 20))
        observed = truth + noise[0]
        samples = observed + rng.normal(0, 0.01, (800, 1)) + rng.normal(0, 0.01, (800, 20))
        below += most_to_gain(observed, samples) < truth.max()
    assert below <= stats.binom.ppf(0.999, 300, 0.05)


def test_one_row_has_the_usual_one_sided_bound():
    samples = np.random.default_rng(0).normal(0.01, 0.005, (20_000, 1))
    assert most_to_gain(np.array([0.01]), samples) == pytest.approx(0.01 + stats.norm.ppf(0.95) * 0.005, abs=2e-4)


def test_nothing_to_compare_has_nothing_to_gain():
    assert most_to_gain(np.zeros(0), np.zeros((10, 0))) == 0
    assert most_to_gain(np.array([-0.2]), np.full((10, 1), -0.2)) == 0
    assert np.isnan(most_to_gain(np.array([np.nan]), np.full((10, 1), np.nan)))


def test_what_matters_is_a_hundredth_or_two_percent():
    assert usual_worth(0.1) == 0.01
    assert usual_worth(0.9) == pytest.approx(0.018)
    assert usual_worth(float("nan")) == 0.01
