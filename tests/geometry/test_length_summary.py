from __future__ import annotations

import numpy as np
from scipy.stats import variation

import offsphere as osp


def test_variation_is_deviation_over_mean_of_the_lengths_before_any_normalisation():
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(300, 8)) * rng.gamma(2, 1, (300, 1))).astype(np.float32)
    (side,) = osp.measure(rows, sections=["lengths"]).lengths
    lengths = np.sqrt((rows.astype(np.float64) ** 2).sum(axis=1))
    assert np.isclose(side.variation, variation(lengths))
    assert np.isclose(side.mean, lengths.mean())


def test_variation_does_not_see_the_unit():
    rows = np.random.default_rng(1).normal(size=(200, 4)).astype(np.float32)
    small, large = (osp.measure(rows * unit, sections=["lengths"]).lengths[0].variation for unit in (0.01, 100))
    assert np.isclose(small, large, rtol=1e-5)
