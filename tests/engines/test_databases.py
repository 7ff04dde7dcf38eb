"""Copies of databases in the cache: gone afterwards, and those of killed runs with the next one."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from offsphere.base.errors import ENDINGS, OffsphereError
from offsphere.engines.databases import scratch_folder, working_with
from tests.processes import PATIENCE, ROOT, environment_with

HOLD = """
from offsphere.engines.databases import scratch_folder, working_with
with scratch_folder() as copy:
    (copy / "large").write_bytes(b"x" * 1000)
    print(copy, flush=True)
    input()
"""


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "offsphere"


def test_an_engine_in_rust_that_fails_itself_is_one_line():
    polars = pytest.importorskip(
        "polars", reason="polars, which has the exception of all extensions in Rust, is absent"
    )
    with (
        pytest.raises(OffsphereError, match="LanceDB cannot use things: called `Option::unwrap"),
        working_with("LanceDB", "things"),
    ):
        raise polars.exceptions.PanicException("called `Option::unwrap()` on a `None` value")


@pytest.mark.parametrize("ending", ENDINGS)
def test_who_stops_an_engine_stops_it(ending):
    with pytest.raises(ending), working_with("LanceDB", "things"):
        raise ending


def copies(home):
    return {path for path in home.rglob("*") if path.name == "large"}


@pytest.fixture
def other(home):
    """Another process that reads from a copy."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdin=-1, stdout=-1, text=True, env=environment_with(ROOT))
    process.copy = process.stdout.readline().strip()
    yield process
    process.kill()
    process.communicate(timeout=PATIENCE)


def test_a_copy_is_empty_at_first_and_gone_afterwards(home):
    with scratch_folder() as copy:
        assert list(copy.iterdir()) == []
        (copy / "large").write_bytes(b"x")
        assert copies(home) == {copy / "large"}
    assert not copy.exists()
    assert copies(home) == set()


def test_what_a_killed_run_left_goes_with_the_next_one_and_what_is_in_use_stays(home, other):
    with scratch_folder() as copy:
        (copy / "large").write_bytes(b"x")
        assert {str(path.parent) for path in copies(home)} == {other.copy, str(copy)}
    assert {str(path.parent) for path in copies(home)} == {other.copy}
    other.send_signal(signal.SIGKILL)
    other.wait(PATIENCE)
    assert {str(path.parent) for path in copies(home)} == {other.copy}
    with scratch_folder():
        assert copies(home) == set()


def test_vectors_of_a_task_that_is_called_like_a_copy_stay(home):
    store = home / "database-of-things--wordllama"
    store.mkdir(parents=True)
    (store / "large").write_bytes(b"x")
    with scratch_folder():
        pass
    assert copies(home) == {store / "large"}


def test_a_cache_that_cannot_be_written_is_one_line(home):
    home.parent.mkdir()
    home.write_text("a file")
    with pytest.raises(OffsphereError, match="cannot"), scratch_folder():
        pass
