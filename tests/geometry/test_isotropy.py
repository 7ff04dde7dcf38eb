from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsphere.geometry.isotropy import isotropy, partition_score
from offsphere.geometry.scanning import Scan, scan
from offsphere.vectors.spectrum import effective_rank, eigenvalues, isoscore

clouds = st.integers(3, 30).flatmap(
    lambda rows: arrays(np.float32, (rows, 4), elements=st.floats(0.015625, 3, width=32), unique=True)
)


def turned(cloud, seed=0):
    turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(cloud.shape[1],) * 2))
    return cloud @ turn


def test_isoscore_is_that_of_its_authors_package():
    package = pytest.importorskip("IsoScore.IsoScore")
    rng = np.random.default_rng(0)
    for dimension, scales in ((3, 1.0), (20, np.geomspace(1, 30, 20)), (64, rng.uniform(0.1, 2, 64))):
        cloud = rng.normal(2, 1, (500, dimension)) * scales
        ours = isoscore(eigenvalues(scan(cloud).moments.covariance))
        assert np.isclose(ours, float(package.IsoScore(cloud.astype(np.float32))), atol=1e-4)


def test_isoscore_of_a_sphere_is_one_and_of_a_line_zero():
    assert np.isclose(isoscore(np.ones(10)), 1)
    assert np.isclose(isoscore(np.eye(10)[0]), 0, atol=1e-12)
    assert np.isnan(isoscore(np.ones(1)))
    assert np.isnan(isoscore(np.zeros(5)))


def test_the_effective_rank_counts_equal_directions():
    assert np.isclose(effective_rank(np.array([2.0, 2, 2, 0, 0])), 3)
    assert np.isclose(effective_rank(np.array([1.0, 0])), 1)


@given(clouds)
def test_means_over_pairs_are_those_of_all_pairs(cloud):
    shape = isotropy("x", Scan.of(cloud))
    units = cloud.astype(np.float64) / np.linalg.norm(cloud.astype(np.float64), axis=1, keepdims=True)
    first, second = np.triu_indices(len(units), 1)
    cosines = (units[first] * units[second]).sum(axis=1)
    distances = ((units[first] - units[second]) ** 2).sum(axis=1)
    assert np.isclose(shape.mean_cosine, cosines.mean(), atol=1e-9)
    assert np.isclose(shape.cosine_variance.value, cosines.var(), atol=1e-5)
    assert np.isclose(shape.uniformity.value, np.log(np.exp(-2 * distances).mean()), atol=1e-5)


@given(clouds)
def test_the_partition_score_is_that_of_its_definition(cloud):
    rows = cloud.astype(np.float64)
    _, vectors = np.linalg.eigh(rows.T @ rows)
    totals = np.exp(rows @ np.concatenate([vectors, -vectors], axis=1)).sum(axis=0)
    assert np.isclose(partition_score(Scan.of(cloud)).value, totals.min() / totals.max(), rtol=1e-4)


def test_turning_changes_nothing_and_scaling_changes_what_it_should():
    cloud = np.random.default_rng(1).normal(0.5, [2, 1, 1, 0.5], (800, 4))
    before, after, scaled = (isotropy("x", scan(c)) for c in (cloud, turned(cloud), 3 * cloud))
    for name in ("mean_cosine", "isoscore", "effective_rank"):
        assert np.isclose(getattr(before, name), getattr(after, name), atol=1e-4)
        assert np.isclose(getattr(before, name), getattr(scaled, name), atol=1e-4)
    for name in ("partition", "uniformity"):
        assert np.isclose(getattr(before, name).value, getattr(after, name).value, rtol=1e-3)
    assert np.isclose(before.uniformity.value, scaled.uniformity.value, rtol=1e-3)
    assert scaled.partition.value < before.partition.value / 10


def test_a_sample_gives_intervals_that_hold_the_exact_value():
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(60):
        cloud = rng.normal(0.15, 0.5, (3_000, 5)).astype(np.float32)
        exact = isotropy("x", scan(cloud))
        sampled = isotropy("x", scan(cloud, sample=400))
        assert exact.sampled is None
        assert sampled.sampled == 400
        assert exact.mean_cosine == sampled.mean_cosine
        assert exact.uniformity.low is None
        covered.append(
            [
                getattr(sampled, name).low < getattr(exact, name).value < getattr(sampled, name).high
                for name in ("uniformity", "cosine_variance", "partition")
            ]
        )
    assert (np.mean(covered, axis=0) > 0.85).all()


def test_a_constant_dimension_is_counted():
    cloud = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    cloud[:, 2] = 0.25
    assert isotropy("x", scan(cloud)).constant_dimensions == 1


def test_the_effective_rank_is_the_exponential_of_the_entropy():
    from scipy.stats import entropy

    spectrum = np.array([5.0, 3.0, 1.0, 0.5, 0.0])
    assert np.isclose(effective_rank(spectrum), np.exp(entropy(spectrum)))


def test_shares_of_the_variance_add_up():
    cloud = np.random.default_rng(0).normal(size=(400, 12)) * np.arange(12, 0, -1)
    shape = isotropy("x", scan(cloud))
    values = np.sort(np.linalg.eigvalsh(np.cov(cloud.T)))[::-1]
    for k in (1, 3, 10):
        assert np.isclose(shape.variance_shares[str(k)], values[:k].sum() / values.sum(), rtol=1e-4)


@pytest.mark.parametrize("whole", [True, False])
def test_the_dimension_that_varies_most_is_numpys(whole):
    rng = np.random.default_rng(4)
    cloud = (rng.normal(size=(3_000, 9)) * rng.lognormal(0, 1, 9) + 5 * rng.normal(size=9)).astype(np.float32)
    shape = isotropy("x", scan(cloud) if whole else scan(cloud, sample=500))
    variances = cloud.astype(np.float64).var(axis=0)
    assert shape.top_dimension == variances.argmax()
    assert np.isclose(shape.top_dimension_share, variances.max() / variances.sum(), rtol=1e-6)
    still = isotropy("x", scan(np.ones((5, 3), np.float32)))
    assert np.isnan(still.top_dimension_share)


def test_a_partition_that_a_few_rows_dominate_is_not_estimated_from_a_sample():
    cloud = np.random.default_rng(0).normal(size=(20_000, 8)).astype(np.float32) * 6
    assert np.isnan(isotropy("x", scan(cloud, sample=800)).partition.value)


def test_vectors_beyond_float32_squares_are_measured():
    cloud = np.random.default_rng(0).normal(size=(140_000, 4)).astype(np.float32)
    huge = isotropy("x", scan(cloud * np.float32(1e18)))
    assert np.isclose(huge.isoscore, isotropy("x", scan(cloud)).isoscore, rtol=1e-4)
