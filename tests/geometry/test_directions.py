from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsphere.geometry.directions import Directions

clouds = st.integers(2, 25).flatmap(
    lambda rows: arrays(np.float32, (rows, 5), elements=st.floats(-10, 10, width=32, allow_subnormal=False))
)


def pairwise(cloud: np.ndarray) -> np.ndarray:
    """The product of every dimension of every two different directions: (pairs, dimension)."""
    lengths = np.linalg.norm(cloud.astype(np.float64), axis=1)
    units = cloud[lengths > 0].astype(np.float64) / lengths[lengths > 0, None]
    first, second = np.triu_indices(len(units), 1)
    return units[first] * units[second]


@given(clouds)
def test_the_mean_cosine_is_that_of_all_pairs(cloud):
    naive = pairwise(cloud)
    assume(len(naive))
    sums, lengths = Directions.of(cloud)
    assert np.allclose(lengths, np.linalg.norm(cloud.astype(np.float64), axis=1))
    assert np.isclose(sums.mean_cosine, naive.sum(axis=1).mean(), atol=1e-12)
    assert np.allclose(sums.contributions, naive.mean(axis=0), atol=1e-12)


def test_turning_the_space_changes_contributions_but_not_the_mean_cosine():
    rng = np.random.default_rng(0)
    cloud = rng.normal(0.3, 1, (500, 6))
    turn, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    before, _ = Directions.of(cloud)
    after, _ = Directions.of(cloud @ turn)
    scaled, _ = Directions.of(cloud * rng.uniform(0.1, 9, (500, 1)))
    assert np.isclose(before.mean_cosine, after.mean_cosine, atol=1e-6)
    assert np.isclose(before.mean_cosine, scaled.mean_cosine, atol=1e-6)
    assert np.abs(before.contributions - after.contributions).max() > 0.01


def test_one_vector_has_no_mean_cosine():
    assert np.isnan(Directions.of(np.ones((1, 3), np.float32))[0].mean_cosine)


def test_the_mean_cosine_of_two_sets_is_that_of_all_their_pairs():
    rng = np.random.default_rng(1)
    left, right = rng.normal(0.2, 1, (30, 4)), rng.normal(0.5, 1, (20, 4))
    units = [cloud / np.linalg.norm(cloud, axis=1, keepdims=True) for cloud in (left, right)]
    mean = Directions.of(left)[0].mean_cosine_with(Directions.of(right)[0])
    assert np.isclose(mean, (units[0] @ units[1].T).mean(), atol=1e-7)
