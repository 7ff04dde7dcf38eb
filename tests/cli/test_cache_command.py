"""``offsphere cache``: it says what is there, and removes what one says and nothing else."""

from __future__ import annotations

import json
import os

import pytest

from offsphere.base.cached_folders import in_use
from offsphere.base.errors import ParameterError
from offsphere.data.store_writer import locked
from tests.cli.running import printed, run_here


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OFFSPHERE_CACHE_SIZE", raising=False)
    return tmp_path / "home" / "offsphere"


@pytest.fixture
def audited(home, generated, tmp_path):
    """After an audit, and with vectors that were embedded without saying where to."""
    run_here("audit", generated, "--out", tmp_path / "audit.html")
    store = home / "task--model" / "documents"
    store.mkdir(parents=True)
    (store / "vectors.npy").write_bytes(b"v" * 5_000)
    os.utime(store / "vectors.npy")
    return store


def info():
    return json.loads(printed("cache", "info", "--json"))


def files_below(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_an_empty_cache_is_shown_and_emptied(home):
    assert info()["audits"]["count"] == 0
    assert "audits: removed 0 (0 bytes)" in printed("cache", "clear")
    assert not home.exists()


def test_info_counts_the_bytes_that_are_on_disk(audited, home):
    told = info()
    assert told["folder"] == str(home)
    assert told["audits"]["count"] == 1
    assert told["audits"]["bytes"] == files_below(home / "audits") > 0
    assert told["audits"]["most_bytes"] == 2 * 10**9
    assert told["audits"]["of_other_versions"] == 0
    assert told["vectors"] == {"bytes": 5_000, "stores": [{"name": "task--model", "bytes": 5_000, "days_unused": 0}]}
    text = printed("cache", "info")
    assert "of at most 2.0 GB" in text
    assert "task--model  5.0 kB, used today" in text


def test_clear_leaves_the_vectors(audited, home):
    assert "audits: removed 1" in printed("cache", "clear")
    assert list((home / "audits").iterdir()) == []
    assert (audited / "vectors.npy").is_file()


def test_states_of_runs_that_have_not_ended_are_shown_and_cleared(home):
    assert "states  " not in printed("cache", "info")
    (home / "states" / "question").mkdir(parents=True)
    (home / "states" / "question" / "fit.safetensors").write_bytes(b"x" * 3_000)
    assert info()["states"] == {"count": 1, "bytes": 3_000}
    assert info()["vectors"]["stores"] == []
    assert "states   1 (3.0 kB), of runs over shards that have not ended" in printed("cache", "info")
    assert "states: removed 1 (3.0 kB)" in printed("cache", "clear")
    assert info()["states"]["count"] == 0


def test_vectors_are_removed_only_when_somebody_says_yes(audited, home):
    with pytest.raises(ParameterError, match=r"which must be made again\? Nobody is there to ask: say --yes"):
        run_here("cache", "clear", "--vectors")
    assert info()["audits"]["count"] == 1
    assert "vectors: removed 1 (5.0 kB)" in printed("cache", "clear", "--vectors", "--yes")
    assert not (home / "task--model").exists()


def test_what_was_paid_for_or_downloaded_is_no_vectors(audited, home):
    for name in ("answers", "served", "data"):
        (home / name).mkdir()
        (home / name / "file").write_bytes(b"x" * 100)
    assert [store["name"] for store in info()["vectors"]["stores"]] == ["task--model"]
    assert "vectors: removed 1 (5.0 kB)" in printed("cache", "clear", "--vectors", "--yes")
    assert all((home / name / "file").is_file() for name in ("answers", "served", "data"))


def test_what_is_in_use_is_kept_and_told(audited, home):
    (question,) = (home / "audits").iterdir()
    with in_use(question), locked(audited):
        text = printed("cache", "clear", "--vectors", "--yes")
    assert "audits: kept 1, in use" in text
    assert "vectors: kept 1, in use" in text
    assert question.is_dir()
    assert (audited / "vectors.npy").is_file()
