from __future__ import annotations

import os
import time

import numpy as np
import pytest

from offsphere import CompareOptions, LocalRunner, compare, compare_shards
from offsphere.base.errors import DataError, OffsphereError, ParameterError, VectorError
from offsphere.base.kept_states import states_home
from offsphere.base.question_cache import question_memo
from offsphere.factors.task_source import task_source
from offsphere.shards.state_files import merge_files, write_state
from tests.runners.corpora import SCORERS, Backwards, Counting, Dying, write_corpus

OPTIONS = CompareOptions(scorers=list(SCORERS))


@pytest.fixture
def source(tmp_path):
    return write_corpus(tmp_path / "data", parts=3)


def changed(source, part, change):
    path = source.vectors / "documents" / f"0000{part}-of-00003.npy"
    np.save(path, change(np.load(path)))


def test_neither_shards_nor_who_works_change_a_bit_of_the_table(source):
    whole = compare(*source.load(), list(SCORERS)).to_json()
    for shards, runner in ((1, LocalRunner()), (4, Backwards())):
        assert compare_shards(source, OPTIONS, shards=shards, runner=runner).to_json() == whole


def test_a_killed_run_goes_on_and_does_nothing_twice(source, tmp_path):
    whole = compare_shards(source, OPTIONS, shards=4).to_json()
    states = tmp_path / "states"
    for after in (2, 3):  # in the first pass, then in the second
        with pytest.raises(KeyboardInterrupt):
            compare_shards(source, OPTIONS, shards=4, runner=Dying(after), folder=states)
    runner = Counting()
    assert compare_shards(source, OPTIONS, shards=4, runner=runner, folder=states).to_json() == whole
    assert len([*states.glob("fit-*.json")]) == len([*states.glob("search-*.json")]) == 4
    assert 0 < runner.made < 8
    again = Counting()
    assert compare_shards(source, OPTIONS, shards=4, runner=again, folder=states).to_json() == whole
    assert again.made == 0


def test_documents_that_changed_between_two_runs_are_named_and_nothing_is_merged(source, tmp_path):
    states = tmp_path / "states"
    compare_shards(source, OPTIONS, shards=4, folder=states)
    changed(source, 3, lambda rows: rows * 2)
    with pytest.raises(DataError, match=r"the documents of shard 3/4 were changed since .*fit-00003-of-00004"):
        compare_shards(source, OPTIONS, shards=4, folder=states)


def test_states_of_another_question_are_refused(source, tmp_path):
    states = tmp_path / "states"
    compare_shards(source, OPTIONS, shards=2, folder=states)
    with pytest.raises(DataError, match=r"search-00001-of-00002.json answers another question"):
        compare_shards(source, CompareOptions(scorers=["dot"]), shards=2, folder=states)
    queries = np.load(source.vectors / "queries.npy")
    np.save(source.vectors / "queries.npy", queries[::-1])
    with pytest.raises(DataError, match="answers another question"):
        compare_shards(source, OPTIONS, shards=2, folder=states)


def test_a_state_that_is_damaged_or_of_another_shard_is_named(source, tmp_path):
    states = tmp_path / "states"
    compare_shards(source, OPTIONS, shards=2, folder=states)
    numbers = states / "search-00002-of-00002.safetensors"
    content = numbers.read_bytes()
    numbers.write_bytes(content[:-9])
    with pytest.raises(DataError, match=r"search-00002-of-00002\.safetensors"):
        compare_shards(source, OPTIONS, shards=2, folder=states)
    numbers.write_bytes(content)
    fits = [states / f"fit-0000{number}-of-00002" for number in (1, 2)]
    write_state(fits[1], merge_files(fits))
    with pytest.raises(DataError, match=r"fit-00002-of-00002.json is not the state of shard 2/2"):
        compare_shards(source, OPTIONS, shards=2, folder=states)


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        (lambda path: path.unlink(), OffsphereError, "lacks the part 00002-of-00003"),
        (lambda path: path.write_bytes(path.read_bytes()[:-7]), DataError, r"00002-of-00003\.npy is truncated"),
        (
            lambda path: np.save(path, np.load(path)[:, :3]),
            VectorError,
            r"00002-of-00003\.npy has vectors of shape \(3000, 3\)",
        ),
    ],
)
def test_a_part_that_is_missing_truncated_or_of_another_width_is_named(source, tmp_path, change, error, told):
    change(source.vectors / "documents" / "00002-of-00003.npy")
    with pytest.raises(error, match=told):
        compare_shards(source, OPTIONS, shards=2, folder=tmp_path / "states")
    assert not [*(tmp_path / "states").glob("*.json")]


class Looking:
    """A runner that counts the states in the cache when a pass begins."""

    def __init__(self, cache):
        self.cache, self.seen = cache, []

    def run(self, job, pieces):
        self.seen.append(len([*self.cache.rglob("*.json")]))
        yield from LocalRunner().run(job, pieces)


@pytest.mark.parametrize(("size", "seen"), [("1KB", [0, 2]), ("0", [0, 0])])
def test_states_lie_in_the_cache_until_the_table_is_there(source, cache, monkeypatch, size, seen):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", size)
    runner = Looking(cache)
    compare_shards(source, OPTIONS, shards=2, runner=runner)
    assert runner.seen == seen
    assert not [*cache.rglob("*.json")]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_states_of_a_killed_run_outlive_the_bounded_cache_and_audits_in_between(source, cache, monkeypatch):
    whole = compare_shards(source, OPTIONS, shards=4).to_json()
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", "1KB")
    with pytest.raises(KeyboardInterrupt):
        compare_shards(source, OPTIONS, shards=4, runner=Dying(6))
    kept = {path.name: path.stat().st_mtime_ns for path in cache.rglob("*.json")}
    assert len(kept) == 6
    with question_memo("an audit in between") as memo:
        memo.arrays("part", lambda: {"x": np.zeros(1_000)})
    runner = Counting()
    assert compare_shards(source, OPTIONS, shards=4, runner=runner).to_json() == whole
    assert runner.made == 2
    assert not [*cache.rglob("*.json")]


def test_states_that_nobody_asks_for_again_are_forgotten_after_a_week(source, cache):
    with pytest.raises(KeyboardInterrupt):
        compare_shards(source, OPTIONS, shards=4, runner=Dying(6))
    for days, left in ((6, 6), (8, 0)):
        when = time.time() - days * 86_400
        for path in (states_home(), *states_home().rglob("*")):
            os.utime(path, (when, when))
        with pytest.raises(KeyboardInterrupt):
            compare_shards(source, OPTIONS, shards=3, runner=Dying(0))
        assert len([*cache.rglob("*-of-00004.json")]) == left


def test_vectors_that_are_in_no_file_are_refused():
    with pytest.raises(ParameterError, match="over shards vectors are read from files"):
        compare_shards(task_source("ratings", "factorize(64)"))
