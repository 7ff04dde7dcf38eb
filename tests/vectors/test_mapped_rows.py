from __future__ import annotations

import numpy as np
import pytest

from offsphere.scoring.names import parse_scorer
from offsphere.vectors.mapped_rows import mapped_rows
from offsphere.vectors.moments import Moments


@pytest.mark.parametrize("dimension", [1, 2, 17, 33, 300])
def test_equal_rows_are_mapped_to_equal_rows_wherever_they_stand(dimension):
    for seed in range(200 if dimension < 100 else 4):
        rng = np.random.default_rng([seed, dimension])
        kinds = rng.integers(0, 3, int(rng.choice([2, 5, 7, 77])))
        base = (rng.standard_normal((3, dimension)) + 1000).astype(np.float32)
        matrix = rng.standard_normal((dimension, dimension))
        shift = -base.mean(axis=0) @ matrix  # what is left is a small difference of large numbers
        mapped = mapped_rows(base[kinds], matrix, shift)
        alone = np.concatenate([mapped_rows(row[None], matrix, shift) for row in base])
        assert (mapped == alone[kinds]).all()


def test_equal_documents_stay_equal_after_a_transform():
    """With the products of BLAS alone these came out as four different vectors."""
    for seed in (1027, 1177):
        rng = np.random.default_rng(seed)
        rng.choice([17, 33, 300]), rng.choice([5, 7, 777])
        documents = (rng.standard_normal((3, 33)) + 1000).astype(np.float32)[rng.integers(0, 3, 5)]
        transformed = parse_scorer("whiten(0.5) + cosine").fit(Moments.of(documents)).transform(documents)
        assert len(np.unique(transformed, axis=0)) == len(np.unique(documents, axis=0))


@pytest.mark.parametrize("scale", [1e-42, 1e-20, 1.0, 1e30])
def test_mapped_rows_are_the_product_rounded_once(scale):
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal((50, 20)) * scale).astype(np.float32)
    matrix, shift = rng.standard_normal((20, 6)), rng.standard_normal(6) * scale
    exact = np.einsum("ni,io->no", vectors.astype(np.longdouble), matrix.astype(np.longdouble)) + shift
    room = 2.0**-24 * np.abs(exact) * (1 + 1e-6) + 2.0**-150
    assert (np.abs(mapped_rows(vectors, matrix, shift) - exact) <= room).all()


def test_a_product_beyond_float32_is_infinite_and_no_number_stays_none():
    mapped = mapped_rows(np.array([[1e30], [np.nan]], np.float32), np.array([[1e30]]))
    assert np.isinf(mapped[0, 0])
    assert np.isnan(mapped[1, 0])
