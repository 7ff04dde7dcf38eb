"""The harness notices what it is there for: a leftover, another outcome, and that it killed nothing at all."""

from __future__ import annotations

import random

import pytest

from tests.kills.__main__ import Trials, names_beside


@pytest.fixture
def trials(tmp_path):
    """Trials of a command that nobody runs: it leaves one file."""
    made = object.__new__(Trials)
    made.name, made.home, made.chance = "nothing", tmp_path, random.Random(0)
    made.counts = {"kills": 0, "full disks": 0, "pairs": 0}
    made.right, made.usual = {"file": "content"}, {"cache", "cache/entry"}
    made.outcome = lambda folder: {path.name: path.read_text() for path in (folder / "out").iterdir()}
    return made


@pytest.fixture
def folder(trials):
    """What an undisturbed run leaves."""
    folder = trials.fresh("trial")
    (folder / "out" / "file").write_text("content")
    (folder / "cache").mkdir()
    (folder / "cache" / "entry").write_text("kept")
    return folder


def test_what_an_undisturbed_run_leaves_is_right(trials, folder):
    trials.check(folder, "nothing")
    (folder / "cache" / "entry").unlink()
    trials.check(folder, "a full disk, which costs an entry of the cache")


@pytest.mark.parametrize(
    "name",
    [
        "out/.file.abc12def.partial",
        "out/deep/.file.unfinished",
        "out/.model-unfinished/.lock",
        "out/.v.hnsw.a1b2c3d4",
        "tmp/.removed-audits",
        "cache/.copy-of-database-x/copy/large",
        "cache/another",
        ".removed-x",
    ],
)
def test_a_leftover_is_a_failure_wherever_it_lies(trials, folder, name):
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("left")
    trials.outcome = lambda folder: trials.right
    with pytest.raises(SystemExit, match="there is what an undisturbed run does not leave"):
        trials.check(folder, "a kill")


@pytest.mark.parametrize("content", [None, "other"])
def test_another_outcome_is_a_failure(trials, folder, content):
    (folder / "out" / "file").unlink()
    if content is not None:
        (folder / "out" / "file").write_text(content)
    with pytest.raises(SystemExit, match=r"left something else in 1 parts: \['file'\]"):
        trials.check(folder, "a kill")


@pytest.mark.parametrize("lacking", ["kills", "full disks", "pairs"])
def test_a_command_that_was_not_disturbed_is_a_failure(trials, lacking):
    def trial_of(kind):
        return lambda folder: trials.counts.update({kind: trials.counts[kind] + (kind != lacking)})

    trials.kill, trials.fill_disk, trials.run_two = map(trial_of, ("kills", "full disks", "pairs"))
    with pytest.raises(SystemExit, match=f"asked for 3 kills, a full disk and two at once, got .*'{lacking}': 0"):
        trials.run(3)


def test_trials_go_on_until_everything_happened(trials):
    done = []
    trials.kill = lambda folder: trials.counts.update(kills=trials.counts["kills"] + 1)
    trials.fill_disk = lambda folder: done.append(folder) or trials.counts.update({"full disks": len(done) // 2})
    trials.run_two = lambda folder: trials.counts.update(pairs=trials.counts["pairs"] + 1)
    trials.run(1)
    assert trials.counts["kills"] >= 1
    assert trials.counts["full disks"] == 1
    assert trials.counts["pairs"] >= 1


def test_names_of_files_that_stay_are_none_that_pass(tmp_path):
    for name in ("v.npy", ".lock", "v.ids", "manifest.json", ".vectors.partial.npy", "report.html", ".used"):
        (tmp_path / name).touch()
    assert names_beside(tmp_path) == set()
