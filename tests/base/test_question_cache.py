"""The cache of audits stays within its size: what was not used for longest goes, and nothing that is in use."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from offsphere.base import question_cache
from offsphere.base.cached_folders import cached_folders, in_use, remove_folder
from offsphere.base.errors import ParameterError
from offsphere.base.question_cache import allowed_size, question_memo, questions_home, trim

KILOBYTES = {"x": np.zeros(5_000)}  # 40 of them


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("OFFSPHERE_CACHE_SIZE", raising=False)
    return questions_home()


def ask(key, days_ago=0.0):
    """Ask a question some days ago; gives its folder."""
    made = []
    with question_memo(key) as memo:
        memo.arrays("part", lambda: made.append(1) or KILOBYTES)
        folder = memo.folder
    when = time.time() - 86_400 * days_ago
    for path in (folder, *folder.rglob("*")) if folder.exists() else ():  # it may have been too large to stay
        os.utime(path, (when, when))
    return folder, bool(made)


def names(home):
    return {path.name.rpartition("-")[2] for path in home.iterdir()}


@pytest.mark.parametrize(
    ("text", "size"), [("", 2 * 10**9), ("0", 0), ("17", 17), ("2GB", 2 * 10**9), ("1.5 mb", 1_500_000), ("3KB", 3_000)]
)
def test_the_size_is_what_the_user_says(monkeypatch, text, size):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", text)
    assert allowed_size() == size


@pytest.mark.parametrize("text", ["much", "-1", "nan", "inf", "1e400", "2 XB", "9" * 40, "1\n2"])
def test_what_is_no_size_is_refused_in_one_line(monkeypatch, text):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", text)
    with pytest.raises(ParameterError, match="is no size: write 2GB, 500MB, or 0"), question_memo("key"):
        pass


def test_what_was_not_used_for_longest_goes_first(home, monkeypatch):
    for days_ago, key in enumerate("abcd", 1):
        ask(key, days_ago)
    ask("d", 0.5)  # asked again: now it is the newest
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", "125KB")  # room for three
    trim(allowed_size())
    assert names(home) == {"a", "b", "d"}
    assert ask("e")[1]
    assert names(home) == {"a", "d", "e"}
    assert not ask("a")[1]


def test_what_is_in_use_stays(home, monkeypatch):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", "50KB")
    with question_memo("used") as memo:
        memo.arrays("part", lambda: KILOBYTES)
        os.utime(memo.folder, (0, 0))
        trim(0)
        ask("another")
        assert "used" in names(home)
        assert not remove_folder(memo.folder)
        made = []
        memo.arrays("part", lambda: made.append(1) or KILOBYTES)
        assert not made
    trim(0)
    assert names(home) == set()


def test_no_size_keeps_nothing(home, monkeypatch):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", "0")
    with question_memo("key") as memo:
        memo.arrays("part", lambda: KILOBYTES)
    assert not home.exists() or names(home) == set()


def test_one_question_does_not_outgrow_the_whole_cache(monkeypatch):
    monkeypatch.setenv("OFFSPHERE_CACHE_SIZE", "100KB")
    with question_memo("key") as memo:
        for part in range(9):
            memo.arrays(str(part), lambda: KILOBYTES)
        (question,) = cached_folders(questions_home())
        assert 80_000 < question.size <= 100_000


def test_what_other_code_kept_goes_before_what_was_used_earlier_and_after_a_week(home, monkeypatch):
    mine, _ = ask("mine", 3)
    monkeypatch.setattr(question_cache, "_this_code", lambda: "other")
    ask("week", 8)
    ask("new", 1)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home.parents[1]))
    trim(10**9)
    assert names(home) == {"mine", "new"}
    trim(50_000)
    assert names(home) == {"mine"}
    assert mine.is_dir()


def test_what_a_killed_removal_left_is_removed(home):
    (home / ".removed-abc").mkdir(parents=True)
    (home / ".removed-abc" / "part.npz").write_bytes(b"x")
    ask("key")
    assert names(home) == {"key"}


def test_a_folder_that_cannot_be_made_costs_time_and_nothing_else(home):
    home.parent.mkdir(parents=True)
    home.write_text("a file")
    with question_memo("key") as memo:
        assert memo.arrays("part", lambda: KILOBYTES)["x"].sum() == 0
    assert home.read_text() == "a file"


def test_a_folder_that_vanishes_while_it_is_opened_is_made_again(tmp_path):
    for _ in range(3):
        with in_use(tmp_path / "folder"):
            assert (tmp_path / "folder").is_dir()
        assert remove_folder(tmp_path / "folder")
        assert not (tmp_path / "folder").exists()
