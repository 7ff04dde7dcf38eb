"""Arrays that are remembered between runs, and the folder they are kept in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from offsphere.base.cache import Memo, cache_home


def test_the_cache_is_where_the_user_says_else_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "offsphere"
    for unset in (lambda: monkeypatch.setenv("XDG_CACHE_HOME", ""), lambda: monkeypatch.delenv("XDG_CACHE_HOME")):
        unset()
        assert cache_home() == Path.home() / ".cache" / "offsphere"


class Counted:
    """Makes arrays and counts how often."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return {"numbers": np.arange(3.0), "names": np.array(["a", "b"])}


def test_arrays_are_made_once_and_read_after_that(tmp_path):
    make, memo = Counted(), Memo(tmp_path / "not there yet")
    first, second = memo.arrays("part", make), memo.arrays("part", make)
    assert make.times == 1
    assert {name: array.tolist() for name, array in first.items()} == {"numbers": [0, 1, 2], "names": ["a", "b"]}
    assert all((first[name] == second[name]).all() for name in first)


def test_without_a_folder_nothing_is_kept():
    make = Counted()
    Memo().arrays("part", make)
    Memo().arrays("part", make)
    assert make.times == 2


@pytest.mark.parametrize("damage", [b"", b"no archive at all", None])
def test_damaged_files_are_made_again(tmp_path, damage):
    make, memo = Counted(), Memo(tmp_path)
    memo.arrays("part", make)
    path = tmp_path / "part.npz"
    path.write_bytes(path.read_bytes()[:-30] if damage is None else damage)
    assert memo.arrays("part", make)["numbers"].tolist() == [0, 1, 2]
    assert make.times == 2
    memo.arrays("part", make)
    assert make.times == 2


def test_a_folder_that_cannot_be_written_costs_time_and_nothing_else(tmp_path):
    (tmp_path / "a file").write_text("")
    (tmp_path / "part.npz").mkdir()
    for folder in (tmp_path / "a file", tmp_path):
        assert Memo(folder).arrays("part", Counted())["numbers"].tolist() == [0, 1, 2]
