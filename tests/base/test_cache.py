"""Arrays that are remembered between runs, and the folder they are kept in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.cache import Memo
from offsphere.base.cache_home import cache_home
from tests.processes import PATIENCE


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


def other_content(path):
    """A whole archive with other arrays than those that were kept."""
    np.savez(path, numbers=np.arange(3, dtype=np.float32), names=np.array(["a", "b"]))


def moved(path):
    """An entry that was kept under another name, and is whole."""
    memo = Memo(path.parent)
    memo.arrays("another", lambda: {"numbers": np.zeros(3)})
    (path.parent / "another.npz").replace(path)


def as_folder(path):
    path.unlink()
    path.mkdir()


def flipped(path):
    """One bit of a number: numpy's own checksum stands beside it, and is mended too."""
    content = path.read_bytes()
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["numbers"][1] += 1
    np.savez(path, **arrays)
    assert path.read_bytes() != content


def without_digest(path):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files if name in ("numbers", "names")}
    np.savez(path, **arrays)


@pytest.mark.parametrize("damage", [other_content, moved, as_folder, flipped, without_digest])
def test_an_entry_that_is_not_what_was_kept_is_a_miss(tmp_path, damage):
    make, memo = Counted(), Memo(tmp_path)
    memo.arrays("part", make)
    damage(tmp_path / "part.npz")
    again = memo.arrays("part", make)
    assert make.times == 2
    assert again["numbers"].dtype == np.float64
    assert again["numbers"].tolist() == [0, 1, 2]


def test_an_entry_of_another_question_is_a_miss(tmp_path):
    make = Counted()
    Memo(tmp_path / "one").arrays("part", make)
    (tmp_path / "one").rename(tmp_path / "two")
    Memo(tmp_path / "two").arrays("part", make)
    assert make.times == 2


def test_what_does_not_fit_is_not_kept(tmp_path):
    make, memo = Counted(), Memo(tmp_path, most=100)
    assert memo.arrays("part", make)["numbers"].tolist() == [0, 1, 2]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on files")
def test_a_full_disk_costs_time_and_nothing_else(tmp_path):
    """No file of this process may grow beyond 100 bytes, as on a disk that is full."""
    code = f"""
import resource, signal
import numpy as np
from pathlib import Path
from offsphere.base.cache import Memo
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
print(Memo(Path({str(tmp_path)!r})).arrays("part", lambda: {{"x": np.arange(1_000)}})["x"].sum())
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert result.stdout == "499500\n"
    assert list(tmp_path.iterdir()) == []
