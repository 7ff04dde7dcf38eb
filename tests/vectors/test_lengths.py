"""Lengths of vectors, and whether they are all equal."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.vectors.lengths import are_equal, lengths


def test_lengths_do_not_depend_on_where_a_row_stands():
    rows = np.random.default_rng(0).standard_normal((50, 33)).astype(np.float32)
    assert lengths(rows) == pytest.approx(np.linalg.norm(rows.astype(np.float64), axis=1), rel=1e-14)
    assert (lengths(rows[::-1]) == lengths(rows)[::-1]).all()
    assert lengths(np.array([[3, 4]], np.float16)).tolist() == [5.0]


def test_normalised_vectors_have_equal_lengths_but_for_empty_ones():
    assert are_equal(np.array([1.0, 0.9995, 0.0, 1.0]))
    assert not are_equal(np.array([1.0, 0.99]))
    assert not are_equal(np.array([1.0, 0.0]))  # one vector is no evidence
