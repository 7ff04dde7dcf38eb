from __future__ import annotations

import numpy as np

from offsphere.statistics.power import units_needed


def test_the_number_of_queries_gives_the_power_it_promises():
    """Simulated: with so many queries, a paired test sees the difference in four of five tries."""
    rng = np.random.default_rng(0)
    needed = units_needed(0.1, 0.1 - 1.96 * 0.05, 0.1 + 1.96 * 0.05, 100)
    draws = rng.normal(0.1, 0.5, (4_000, needed))
    seen = np.abs(draws.mean(axis=1)) > 1.96 * draws.std(axis=1) / np.sqrt(needed)
    assert abs(seen.mean() - 0.8) < 0.03


def test_no_difference_is_never_seen():
    assert units_needed(0.0, -0.1, 0.1, 100) is None
    assert units_needed(0.1, 0.1, 0.1, 100) is None
    assert units_needed(0.1, float("nan"), 0.2, 100) is None
