"""Mean and covariance, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import VectorError


def test_moments_are_those_of_numpy_however_they_are_cut():
    rows = np.random.default_rng(1).standard_normal((200, 5)) * [1, 2, 3, 4, 5] + 7
    for moments in (
        osp.Moments.of(rows),
        osp.Moments.over([rows[:50], rows[:0], rows[50:]]),
        osp.Moments.of(rows[:1]).merge(osp.Moments.of(rows[1:])),
    ):
        assert moments.count == 200
        assert moments.mean == pytest.approx(rows.mean(axis=0), rel=1e-12)
        assert moments.covariance == pytest.approx(np.cov(rows.T, bias=True), rel=1e-10)
        assert moments.second == pytest.approx(rows.T @ rows, rel=1e-12)
    with pytest.raises(VectorError, match="no documents to fit on"):
        osp.Moments.over([])


def test_a_fast_product_that_overflows_is_computed_again_exactly():
    rows = np.array([[1e30], [-1e30]], np.float32)
    assert osp.Moments.of(rows, np.float32).scatter == pytest.approx(np.array([[2e60]]), rel=1e-6)
