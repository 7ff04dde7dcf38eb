"""Whenever the writing of a folder is killed, the old one stands whole under its name, or the new one."""

from __future__ import annotations

import signal

import pytest

from offsphere.base.errors import OffsphereError
from offsphere.engines.models import whole_folder
from offsphere.engines.models.whole_folder import put_in_place, swap_folders, working_folder
from tests.processes import run_warm

WRITE = """
import os, shutil, signal, sys
from pathlib import Path
from offsphere.engines.models import whole_folder

target, can_swap = Path(sys.argv[1]), sys.argv[2] == "swaps"
left = [int(sys.argv[3])]

def tick():
    left[0] -= 1
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def watched(owner, step):
    plain = getattr(owner, step)
    def step_of(*given, **more):
        tick()
        returned = plain(*given, **more)
        tick()
        return returned
    setattr(owner, step, step_of)

if not can_swap:
    whole_folder.swap_folders = lambda one, other: False
for owner, step in ((Path, "rename"), (whole_folder, "swap_folders"), (shutil, "rmtree")):
    watched(owner, step)
with whole_folder.working_folder(target) as folder:
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text("new")
    whole_folder.put_in_place(folder, target)
"""
MOMENTS = range(1, 13)  # before or after a call that removes or renames


def written(folder, word):
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text(word)


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else None


def killed(target, swaps, moment):
    result = run_warm(WRITE, target, swaps, moment, imports=("offsphere.engines.models.whole_folder",))
    assert result.returncode in (0, -signal.SIGKILL), result.stderr
    return result.returncode != 0


def refused(target):
    """Another run that comes to nothing, as one whose scores are off by too much."""
    with pytest.raises(OffsphereError, match="nothing was written"), working_folder(target):
        raise OffsphereError("nothing was written")


OLD, NEW = ({"one": word, "two": word} for word in ("old", "new"))


def test_a_kill_leaves_the_old_folder_or_the_new_one_under_the_name(tmp_path):
    written(tmp_path / "probe", "here")
    written(tmp_path / "other", "there")
    if not swap_folders(tmp_path / "probe", tmp_path / "other"):
        pytest.skip("this system cannot exchange the names of two folders")
    seen, kills = [], 0
    for moment in MOMENTS:
        target = tmp_path / str(moment) / "model"
        target.parent.mkdir()
        written(target, "old")
        kills += killed(target, "swaps", moment)
        seen.append(contents(target))
        assert seen[-1] in (OLD, NEW)
        refused(target)
        assert contents(target) == seen[-1]
        assert [path.name for path in target.parent.iterdir()] == ["model"]
    assert 6 <= kills < len(MOMENTS)  # the last moments are none: all had been written
    assert OLD in seen
    assert NEW in seen


def test_where_names_cannot_be_exchanged_the_next_run_gives_the_old_folder_its_name_again(tmp_path):
    """Also a run that is refused: what was put aside is the user's, and no leftover."""
    gone, kills = 0, 0
    for moment in MOMENTS:
        target = tmp_path / str(moment) / "model"
        target.parent.mkdir()
        written(target, "old")
        kills += killed(target, "cannot", moment)
        gone += not target.exists()
        refused(target)
        assert contents(target) in (OLD, NEW)
        assert [path.name for path in target.parent.iterdir()] == ["model"]
    assert 6 <= kills < len(MOMENTS)  # the last moments are none: all had been written
    assert gone  # or no kill came between the two steps


def test_a_rename_that_the_system_refuses_leaves_the_old_folder(tmp_path, monkeypatch):
    target = tmp_path / "model"
    written(target, "old")
    monkeypatch.setattr(whole_folder, "swap_folders", lambda one, other: False)
    with pytest.raises(OffsphereError, match="No such file or directory"), working_folder(target) as folder:
        put_in_place(folder, target)  # nothing was written, so that only the first of the two renames succeeds
    assert contents(target) == OLD
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_two_names_are_exchanged_in_one_step_or_nothing_is_changed(tmp_path):
    written(tmp_path / "a", "old")
    assert not swap_folders(tmp_path / "a", tmp_path / "nowhere")
    assert contents(tmp_path / "a") == OLD
