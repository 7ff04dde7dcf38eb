from __future__ import annotations

import numpy as np
import pytest

from offsphere import LocalRunner, measure_shards
from offsphere.base.errors import DataError, ParameterError
from tests.runners.corpora import Backwards, Counting, Dying


@pytest.fixture
def path(tmp_path):
    rows = np.random.default_rng(0).normal(0.3, 1, (30_000, 4)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", rows)
    return tmp_path / "vectors.npy"


def test_the_order_in_which_shards_end_does_not_change_a_bit(path):
    one, other = (measure_shards(path, shards=5, runner=runner).to_json() for runner in (LocalRunner(), Backwards()))
    assert one == other


def test_a_killed_run_goes_on(path, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        measure_shards(path, shards=3, runner=Dying(2), folder=tmp_path / "states")
    runner = Counting()
    shape = measure_shards(path, shards=3, runner=runner, folder=tmp_path / "states")
    assert (runner.made, shape.to_json()) == (1, measure_shards(path, shards=3).to_json())


def test_what_an_earlier_run_left_of_something_else_is_refused(path, tmp_path):
    measure_shards(path, shards=3, folder=tmp_path / "states")
    with pytest.raises(DataError, match="its seed is 0, that of this run 1"):
        measure_shards(path, shards=3, seed=1, folder=tmp_path / "states")
    np.save(path, np.load(path)[::-1])
    with pytest.raises(DataError, match="the documents of shard 1/3 were changed"):
        measure_shards(path, shards=3, folder=tmp_path / "states")


def test_sections_that_need_all_vectors_are_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ParameterError, match="section hubness needs all vectors at once"):
        measure_shards(tmp_path / "nothing", sections=["hubness"])
    with pytest.raises(DataError, match="is no file, store or folder of vectors"):
        measure_shards(tmp_path / "nothing")
