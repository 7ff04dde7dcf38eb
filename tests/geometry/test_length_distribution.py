from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import offsphere.geometry.length_distribution as lengths_spread
from offsphere.geometry.length import length_summary
from offsphere.geometry.length_distribution import QUANTILE_ERROR, LengthDistribution

values = st.lists(st.sampled_from([0.0, 1.0, 1.0005, 3.0]) | st.floats(1e-6, 1e6), max_size=12).map(np.array)


def told(spread):
    summary = spread.summary("vector")
    return {name: getattr(summary, name) for name in ("count", "empty", "mean", "deviation", "quantiles", "normalised")}


@pytest.mark.parametrize("most", [5, 1_000])
@given(parts=st.lists(values, min_size=3, max_size=3), order=st.permutations(range(3)))
def test_any_order_and_grouping_gives_one_distribution_and_nothing_changes_none(most, parts, order):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lengths_spread, "MOST_KEPT", most)
        first, second, third = (LengthDistribution.of(parts[number]) for number in order)
        whole = LengthDistribution.of(np.concatenate(parts))
        for merged in (
            first.merge(second).merge(third),
            first.merge(second.merge(third)),
            reduce(LengthDistribution.merge, [LengthDistribution.nothing(), third, second, first]),
        ):
            for name in ("kept", "bins", "counts"):
                assert np.array_equal(getattr(merged, name), getattr(whole, name))
            exact = ("count", "empty", "shortest", "longest")
            assert [getattr(merged, name) for name in exact] == [getattr(whole, name) for name in exact]
            assert merged.mean == pytest.approx(whole.mean, rel=1e-12)
            assert merged.squares == pytest.approx(whole.squares, rel=1e-10, abs=1e-10 * whole.longest**2)


@given(values.filter(len))
def test_few_lengths_are_told_exactly(lengths):
    summary = length_summary("vector", np.sort(lengths))
    for name, value in told(LengthDistribution.of(lengths)).items():
        assert value == getattr(summary, name)


def test_quantiles_of_many_lengths_are_within_the_error_that_is_stated(monkeypatch):
    monkeypatch.setattr(lengths_spread, "MOST_KEPT", 1_000)
    rng = np.random.default_rng(0)
    lengths = np.concatenate([rng.lognormal(2, 0.7, 20_000), np.zeros(30), [1e-5, 1e5]])
    parts = [LengthDistribution.of(part) for part in np.array_split(lengths, 7)]
    spread = reduce(LengthDistribution.merge, parts)
    assert not spread.exact
    assert len(spread.bins) == len(spread.counts) < 12_000
    exact, counted = length_summary("vector", lengths), spread.summary("vector")
    assert (counted.count, counted.empty) == (exact.count, exact.empty)
    assert counted.mean == pytest.approx(exact.mean, rel=1e-12)
    assert counted.deviation == pytest.approx(exact.deviation, rel=1e-12)
    for share, value in exact.quantiles.items():
        assert abs(counted.quantiles[share] - value) <= QUANTILE_ERROR * value * (1 + 1e-9)
    assert counted.histogram_counts.sum() == exact.histogram_counts.sum()
    assert QUANTILE_ERROR < 0.00034


def test_many_normalised_lengths_are_known_as_such(monkeypatch):
    monkeypatch.setattr(lengths_spread, "MOST_KEPT", 10)
    spread = LengthDistribution.of(np.full(50, 1.0) + np.linspace(0, 1e-4, 50))
    assert spread.summary("vector").normalised
    assert "normalised" in spread.summary("vector").sentence
