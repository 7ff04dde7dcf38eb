from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from offsphere.statistics.random_effects import random_effects

# cases and others, vaccinated and not, in 13 trials of BCG against tuberculosis (Colditz et al. 1994)
BCG = np.array([
    (4, 119, 11, 128), (6, 300, 29, 274), (3, 228, 11, 209), (62, 13536, 248, 12619), (33, 5036, 47, 5761),
    (180, 1361, 372, 1079), (8, 2537, 10, 619), (505, 87886, 499, 87892), (29, 7470, 45, 7232),
    (17, 1699, 65, 1600), (186, 50448, 141, 27197), (5, 2493, 3, 2338), (27, 16886, 29, 17825),
])  # fmt: skip


def test_the_published_analysis_of_the_bcg_trials_comes_out():
    """The R package metafor (Viechtbauer 2010) gives -0.7141, tau^2 0.3088 and I^2 92.12 % by this method."""
    sick, well, sick_without, well_without = BCG.T.astype(float)
    effects = np.log(sick / (sick + well)) - np.log(sick_without / (sick_without + well_without))
    variances = 1 / sick - 1 / (sick + well) + 1 / sick_without - 1 / (sick_without + well_without)
    found = random_effects(effects, np.sqrt(variances))
    assert found.mean.value == pytest.approx(-0.7141, abs=5e-5)
    assert found.deviation**2 == pytest.approx(0.3088, abs=5e-5)
    assert found.share == pytest.approx(0.9212, abs=5e-5)


def test_with_equal_errors_it_is_the_mean_with_students_interval():
    effects = np.random.default_rng(0).normal(0.1, 0.3, 9)
    found = random_effects(effects, np.full(9, 0.05)).mean
    expected = ttest_1samp(effects, 0).confidence_interval()
    assert (found.value, found.low, found.high) == pytest.approx((effects.mean(), expected.low, expected.high))


def test_a_single_study_is_told_as_it_is():
    found = random_effects(np.array([0.2]), np.array([0.1]))
    assert found.mean == pytest.approx((0.2, 0.2 - 1.959964 * 0.1, 0.2 + 1.959964 * 0.1))
