"""Arrays written piece by piece have the bytes that numpy writes."""

from __future__ import annotations

import io

import numpy as np
import pytest

from offsphere.base.npy_writing import write_blocks

ARRAYS = [
    np.arange(12.0).reshape(4, 3),
    np.arange(12, dtype=np.float16).reshape(6, 2),
    np.array(["a", "bcd", ""]),
    np.zeros((0, 5), np.float32),
    np.arange(5),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_the_bytes_are_numpy_s(array):
    expected, buffer = io.BytesIO(), io.BytesIO()
    np.save(expected, array)
    write_blocks(buffer, [array[:2], array[2:]], array.shape, array.dtype)
    assert buffer.getvalue() == expected.getvalue()


def test_rows_that_lie_apart_are_written_in_their_order():
    turned = np.asfortranarray(np.arange(12.0).reshape(4, 3))[::2]
    buffer = io.BytesIO()
    write_blocks(buffer, [turned], turned.shape, turned.dtype)
    buffer.seek(0)
    assert (np.load(buffer) == turned).all()
