from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from offsphere.base.errors import VectorError
from offsphere.geometry.sample import Sample
from offsphere.geometry.scanning import Scan, scan

clouds = st.integers(3, 40).flatmap(
    lambda rows: st.integers(1, 6).flatmap(
        lambda columns: arrays(np.float32, (rows, columns), elements=st.floats(-100, 100, width=32))
    )
)


def close(first: Scan, second: Scan) -> None:
    for left, right in (
        (first.moments.mean, second.moments.mean),
        (first.moments.scatter, second.moments.scatter),
        (first.directions.total, second.directions.total),
        (first.directions.squares, second.directions.squares),
    ):
        assert np.allclose(left, right, rtol=1e-10, atol=1e-10 * max(1.0, np.abs(left).max()))
    assert first.directions.count == second.directions.count
    assert (first.lengths == second.lengths).all()
    assert (first.sample.rows == second.sample.rows).all()
    assert (first.sample.vectors == second.sample.vectors).all()


@given(clouds, st.data())
def test_merging_is_associative_and_equals_the_whole(cloud, data):
    first = data.draw(st.integers(1, len(cloud) - 2))
    second = data.draw(st.integers(first + 1, len(cloud) - 1))
    a, b, c = (
        Scan.of(part, start, sample=7)
        for part, start in ((cloud[:first], 0), (cloud[first:second], first), (cloud[second:], second))
    )
    close(a.merge(b).merge(c), a.merge(b.merge(c)))
    close(a.merge(b).merge(c), Scan.of(cloud, sample=7))


def test_a_scan_of_a_map_is_that_of_the_array_whatever_the_threads(tmp_path):
    rows = np.random.default_rng(0).normal(1, 1, (40_000, 16)).astype(np.float32)
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    single, many = scan(mapped, threads=1), scan(mapped, threads=4)
    assert (single.moments.scatter == many.moments.scatter).all()
    assert (single.directions.total == many.directions.total).all()
    assert (single.sample.vectors == many.sample.vectors).all()
    close(single, Scan.of(rows))


def test_the_fast_product_of_a_large_corpus_agrees_with_the_precise_one(monkeypatch):
    rows = np.random.default_rng(0).normal(3, 1, (30_000, 24)).astype(np.float32)  # a cone: cancellation would show
    precise = scan(rows).moments
    monkeypatch.setattr("offsphere.geometry.scanning.PRECISE", 0)
    fast = scan(rows).moments
    assert np.allclose(fast.mean, precise.mean, rtol=1e-12)
    assert np.abs(fast.covariance - precise.covariance).max() < 1e-5


def test_every_row_is_as_likely_to_be_sampled():
    rows = np.zeros((200, 1), np.float32)
    drawn = np.zeros(200)
    for seed in range(2_000):
        drawn[Sample.of(rows, 0, 20, seed).rows] += 1
    assert drawn.sum() == 20 * 2_000
    assert np.abs(drawn - 200).max() < 6 * np.sqrt(200)


def test_a_vector_that_is_not_finite_is_named_by_row():
    rows = np.ones((5_000, 3), np.float32)
    rows[4_321, 1] = np.nan
    with pytest.raises(VectorError, match="row 4321 is not finite"):
        scan(rows)
