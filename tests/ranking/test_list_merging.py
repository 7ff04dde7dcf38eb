from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.ranking.list_merging import merge_lists

KEYS = [-np.inf, -1.0, 0.0, 0.5, 0.5, 2.0]


@st.composite
def several_parts(draw, parts=3):
    """Lists over distinct documents, cut into parts: keys with many ties, some that are undefined."""
    lists, queries, depth = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    keys = rng.choice(KEYS, (lists, queries, 12))
    cuts = [0, *sorted(draw(st.lists(st.integers(0, 12), min_size=parts - 1, max_size=parts - 1))), 12]
    ranges = [np.arange(first, last) for first, last in pairwise(cuts)]
    return [best(keys, np.broadcast_to(rows, (lists, queries, len(rows))), depth) for rows in ranges], keys, depth


def best(keys, documents, depth):
    """The oracle: sort everything by key, then by number."""
    chosen = np.take_along_axis(keys, documents, axis=2)
    order = np.lexsort((documents, -chosen), axis=2)[..., :depth]
    return np.take_along_axis(documents, order, axis=2), np.take_along_axis(chosen, order, axis=2)


def same(left, right):
    kept = [part[0] >= 0 for part in (left, right)]
    return all(np.array_equal(a[kept[0]], b[kept[1]]) for a, b in zip(left, right, strict=True)) and np.array_equal(
        kept[0].sum(axis=2), kept[1].sum(axis=2)
    )


@given(several_parts())
def test_merging_is_sorting_everything_whatever_the_order_and_grouping(parts):
    (first, second, third), keys, depth = parts
    whole = best(keys, np.broadcast_to(np.arange(12), keys.shape), depth)
    assert same(merge_lists(merge_lists(first, second, depth), third, depth), whole)
    assert same(merge_lists(first, merge_lists(third, second, depth), depth), whole)
    assert same(merge_lists(third, merge_lists(second, first, depth), depth), whole)


@given(several_parts(parts=1))
def test_an_empty_part_changes_nothing(parts):
    (only,), _, depth = parts
    shape = (*only[0].shape[:2], 0)
    nothing = np.zeros(shape, np.int64), np.zeros(shape)
    ended = np.full((*shape[:2], 2), -1, np.int64), np.full((*shape[:2], 2), -np.inf)
    for empty in (nothing, ended):
        assert same(merge_lists(only, empty, depth), only)
        assert same(merge_lists(empty, only, depth), only)


def test_lists_of_other_queries_are_refused():
    mine = np.zeros((1, 2, 3), np.int64), np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match="cannot be merged"):
        merge_lists(mine, (np.zeros((1, 4, 3), np.int64), np.zeros((1, 4, 3))), 3)
    with pytest.raises(ValueError, match="cannot be merged"):
        merge_lists(mine, (mine[0], mine[1][..., :2]), 3)
