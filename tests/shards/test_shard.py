from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import ParameterError
from offsphere.shards.shard import BLOCK, Shard
from offsphere.vectors.blocks import TILE


@given(st.integers(1, 400_000), st.integers(1, 60), st.sampled_from(["rows", "fitted_rows"]))
def test_shards_have_every_row_once_and_in_order(documents, count, kind):
    parts = [getattr(Shard(number, count), kind)(documents) for number in range(1, count + 1)]
    assert parts[0].start == 0
    assert parts[-1].stop == documents
    assert all(before.stop == after.start for before, after in pairwise(parts))
    grain = TILE if kind == "rows" else BLOCK
    assert all(part.stop % grain == 0 or part.stop == documents for part in parts)


@given(st.integers(1, 400_000), st.integers(1, 60))
def test_shards_are_even_to_a_tile(documents, count):
    sizes = [len(Shard(number, count).rows(documents)) for number in range(1, count + 1)]
    assert max(sizes) - min(sizes) <= 2 * TILE


@given(st.integers(1, 400_000), st.integers(1, 60), st.data())
def test_a_shard_fits_the_blocks_that_begin_in_it(documents, count, data):
    shard = Shard(data.draw(st.integers(1, count)), count)
    rows, fits = shard.rows(documents), shard.fitted_rows(documents)
    begins = [start for start in range(0, documents, BLOCK) if start in rows]
    assert list(range(fits.start, fits.stop, BLOCK)) == begins


@pytest.mark.parametrize("text", ["0/7", "8/7", "2", "2/0", "-1/7", "a/b", "1/7/9", ""])
def test_what_is_no_shard_is_told_with_an_example(text):
    with pytest.raises(ParameterError, match=r"shard"):
        Shard.read(text)


def test_a_shard_is_printed_as_it_is_typed():
    assert str(Shard.read(" 2/7 ")) == "2/7"
