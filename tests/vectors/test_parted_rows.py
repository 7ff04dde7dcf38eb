from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import VectorError
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.parted_rows import PartedRows

sizes = st.lists(st.integers(0, 5), min_size=1, max_size=6).filter(any)


def parted(counts):
    whole = np.arange(3 * sum(counts), dtype=np.float32).reshape(-1, 3)
    return PartedRows(np.split(whole, np.cumsum(counts)[:-1])), whole


@given(sizes, st.data())
def test_every_key_gives_what_it_gives_of_the_joined_array(counts, data):
    rows, whole = parted(counts)
    count = len(whole)
    number = st.integers(-count, count - 1)
    cut = st.builds(slice, *[st.none() | number] * 2, st.none() | st.sampled_from([1, 2, -1, -3]))
    key = data.draw(
        st.one_of(
            number,
            cut,
            st.lists(number, max_size=6),
            st.lists(st.booleans(), min_size=count, max_size=count).map(np.array),
            st.tuples(cut, st.sampled_from([0, slice(1, 3), [2, 0]])),
            st.tuples(number, st.sampled_from([0, slice(1, 3)])),
        )
    )
    expected = whole[key if not (isinstance(key, list) and not key) else np.zeros(0, int)]
    assert np.array_equal(rows[key], expected)
    assert np.shape(rows[key]) == expected.shape


@given(sizes)
def test_it_is_asked_for_its_size_as_an_array_is(counts):
    rows, whole = parted(counts)
    assert (len(rows), rows.shape, rows.ndim, rows.size) == (len(whole), whole.shape, whole.ndim, whole.size)
    assert (rows.dtype, rows.nbytes) == (whole.dtype, whole.nbytes)
    assert np.array_equal(np.asarray(rows), whole)
    assert rows.tolist() == whole.tolist() == [row.tolist() for row in rows]


@given(sizes, st.data())
def test_a_cut_stays_in_its_parts(counts, data):
    rows, whole = parted(counts)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    cut = rows.cut(start, stop)
    assert np.array_equal(np.asarray(cut), whole[start:stop])
    assert all(any(np.shares_memory(part, owner) for owner in rows.parts) for part in cut.parts if len(part))


@given(sizes, st.integers(1, 3))
def test_blocks_cross_the_borders_of_parts_without_joining_them(counts, rows):
    several, whole = parted(counts)
    joined = np.concatenate(list(Blocks.of(several, rows)))
    assert np.array_equal(joined, whole)


def test_a_slice_of_one_part_is_a_view():
    rows, _ = parted([4, 4])
    assert np.shares_memory(rows[1:3], rows.parts[0])
    assert not any(np.shares_memory(rows[3:5], part) for part in rows.parts)


def test_the_widest_precision_is_that_of_the_whole():
    rows = PartedRows([np.ones((1, 2), np.float16), np.ones((1, 2), np.float32)])
    assert rows.dtype == rows[:1].dtype == rows[:].dtype == np.float32


@pytest.mark.parametrize("key", [6, -7, [0, 6], np.array([True])])
def test_rows_that_are_not_there_are_refused(key):
    rows, _ = parted([2, 4])
    with pytest.raises(IndexError):
        rows[key]


def test_parts_of_another_width_are_named():
    with pytest.raises(VectorError, match=r"b\.npy has vectors of shape \(1, 3\), a\.npy has 2 dimensions"):
        PartedRows([np.ones((1, 2)), np.ones((1, 3))], ["a.npy", "b.npy"])
    with pytest.raises(VectorError, match="no parts"):
        PartedRows([])
