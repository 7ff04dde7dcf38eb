"""Blocks of rows, whatever they are kept in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import VectorError
from offsphere.vectors.blocks import TILE, Blocks


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=5), st.integers(1, 3 * TILE))
def test_blocks_are_the_rows_in_order_whatever_the_parts(sizes, rows):
    whole = np.arange(sum(sizes), dtype=np.float64).reshape(-1, 1)
    parts = np.split(whole, np.cumsum(sizes)[:-1])
    if not len(whole):
        with pytest.raises(VectorError, match="the corpus is empty"):
            Blocks.of(parts, rows)
        return
    blocks = Blocks.of(parts, rows)
    pieces = list(blocks)
    assert (np.concatenate(pieces) == whole).all()
    assert all(piece.dtype == np.float32 for piece in pieces)
    assert all(len(piece) == blocks.rows for piece in pieces[:-1])
    assert blocks.rows % TILE == 0
    assert blocks.rows - TILE < rows <= blocks.rows
    assert (blocks.count, blocks.dimension) == (len(whole), 1)


def test_bad_blocks_are_named():
    with pytest.raises(VectorError, match=r"has shape \(2, 3\), expected \(n, 4\)"):
        Blocks.of([np.ones((1, 4)), np.ones((2, 3))])
    with pytest.raises(VectorError, match="of type int64"):
        Blocks.of(np.ones((1, 4), np.int64))
