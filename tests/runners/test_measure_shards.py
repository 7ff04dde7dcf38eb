from __future__ import annotations

import numpy as np
import pytest

from offsphere import LocalRunner, measure, measure_shards
from offsphere.base.errors import DataError, ParameterError
from offsphere.geometry.shape import SECTIONS
from offsphere.runners.measure_task import NEED_ALL
from tests.cli.running import printed, run_here
from tests.runners.corpora import Backwards, Counting, Dying, Sending, write_corpus
from tests.shards.test_measure_state import assert_close

OF_A_TASK = [name for name in SECTIONS if name not in NEED_ALL]


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


@pytest.fixture
def source(tmp_path):
    return write_corpus(tmp_path / "data", documents=20_000, parts=3)


@pytest.mark.parametrize("shards", [1, 4])
def test_a_task_over_shards_tells_what_one_run_tells_of_both_sides(source, monkeypatch, shards):
    assert len(OF_A_TASK) == 8
    whole = measure(*source.load(), sections=OF_A_TASK).to_json()
    runner = Sending(monkeypatch)
    assert_close(measure_shards(source, sections=OF_A_TASK, shards=shards, runner=runner).to_json(), whole)
    told = measure_shards(source, shards=shards, runner=Backwards()).to_json()
    assert set(told["skipped"]) == set(NEED_ALL)
    assert_close(told | {"skipped": {}}, whole)


def test_what_of_a_task_needs_every_document_is_refused_with_its_reason(source):
    with pytest.raises(ParameterError, match="section ceiling needs all vectors at once: it learns a number for every"):
        measure_shards(source, sections=["ceiling"])


def test_a_killed_measurement_of_a_task_goes_on(source, tmp_path):
    states = tmp_path / "states"
    for after in (2, 1, 3):  # among the scans, then among the two passes of the comparison
        with pytest.raises(KeyboardInterrupt):
            measure_shards(source, shards=3, runner=Dying(after), folder=states)
    runner = Counting()
    shape = measure_shards(source, shards=3, runner=runner, folder=states)
    assert 0 < runner.made < 9
    assert shape.to_json() == measure_shards(source, shards=3).to_json()


def test_by_the_command_a_task_is_measured_as_in_one_run(source):
    asked = ("measure", source.data, "--vectors", source.vectors)
    chosen = [word for name in ("lengths", "negatives", "dual", "gradients") for word in ("--section", name)]
    assert printed(*asked, *chosen, "--on", "local", "--shards", 2) == printed(*asked, *chosen)
    with pytest.raises(ParameterError, match="it reads the texts of all documents; measure it in one run"):
        run_here(*asked, "--section", "frequency", "--on", "local")
