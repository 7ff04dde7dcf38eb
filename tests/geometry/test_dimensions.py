from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsphere.geometry.dimensions import dimensions, informativity
from offsphere.geometry.scanning import Scan, scan

clouds = st.integers(4, 25).flatmap(
    lambda rows: arrays(np.float32, (rows, 5), elements=st.floats(-4, 4, width=32), unique=True)
)


def cosines(rows):
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return (units @ units.T)[np.tril_indices(len(rows), -1)]


@given(clouds)
def test_informativity_is_the_squared_correlation_of_the_two_matrices(cloud):
    rows = cloud.astype(np.float64)
    order = np.argsort(-Scan.of(cloud).directions.contributions, kind="stable")
    if (np.linalg.norm(rows[:, order[3:]], axis=1) < 1e-3).any():
        return
    values = informativity(cloud, order, [3, 1])
    for value, k in zip(values, (3, 1), strict=True):
        reduced = cosines(np.delete(rows, order[:k], axis=1))
        if reduced.std() > 1e-3 and cosines(rows).std() > 1e-3:
            assert np.isclose(value, np.corrcoef(cosines(rows), reduced)[0, 1] ** 2, atol=1e-6)


def test_a_planted_rogue_dimension_is_named():
    cloud = np.random.default_rng(0).normal(size=(600, 32)).astype(np.float32)
    cloud[:, 11] += 12
    whole = scan(cloud)
    side = dimensions("document", whole.directions, whole.sample)
    assert side.order[0] == 11
    assert side.cumulative_shares["1"] > 0.98
    assert side.needed == {"0.1": 1, "0.2": 1, "0.5": 1}
    assert side.informativity["1"] < 0.6  # it hid what the others say
    assert "dimension 11 alone" in side.sentence


def test_dropping_dimensions_that_are_nothing_keeps_everything():
    cloud = np.random.default_rng(0).normal(0.5, 1, (100, 6)).astype(np.float32)
    cloud[:, 4:] = 0
    order = np.array([4, 5, 0, 1, 2, 3])
    assert np.allclose(informativity(cloud, order, [1, 2]), 1)


def test_a_space_without_a_cone_has_no_rogue_dimension():
    whole = scan(np.random.default_rng(0).normal(size=(600, 32)).astype(np.float32))
    assert "near zero" in dimensions("document", whole.directions, whole.sample).sentence


def test_the_number_of_dimensions_needed_is_the_least_that_reaches_the_share():
    cloud = np.random.default_rng(0).normal(np.linspace(0.1, 1, 16), 1, (400, 16)).astype(np.float32)
    whole = scan(cloud)
    side = dimensions("document", whole.directions, whole.sample)
    parts = np.sort(whole.directions.contributions)[::-1]
    for share in (0.1, 0.2, 0.5):
        needed = side.needed[f"{share:g}"]
        assert parts[:needed].sum() >= share * parts.sum()
        assert parts[: needed - 1].sum() < share * parts.sum()


def test_informativity_does_not_see_lengths():
    rng = np.random.default_rng(0)
    cloud = rng.normal(0.4, 1, (60, 6))
    order = np.arange(6)
    scaled = cloud * np.exp(rng.normal(0, 8, (60, 1)))
    assert np.allclose(informativity(cloud, order, [1, 3]), informativity(scaled, order, [1, 3]))
