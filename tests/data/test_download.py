"""Data sets by name: fetched only when asked for, of the package that is meant, and whole or not there."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from hashlib import sha256

import pytest

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.data import download as downloading
from offsphere.data import named_sets
from offsphere.data.download import download
from offsphere.data.named_sets import SETS


def test_a_data_set_is_fetched_only_when_asked_for_and_says_its_terms(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(DataError, match=r"is not on this machine. Its terms: GroupLens.* data download movie"):
        osp.load_task("movielens-100k")
    other = tmp_path / "other.whl"
    other.write_bytes(b"PK")
    with pytest.raises(DataError, match=r"other.whl is not recbole 1.2.1: its SHA-256 digest is"):
        download("movielens-100k", other)
    assert not (tmp_path / "offsphere" / "data").exists()


@pytest.fixture
def small_set(tmp_path, monkeypatch):
    """A data set in a package of its own, in place of one of ours; the package and where the set will be."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    package = tmp_path / "small-1.whl"
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr(
            "small/seen.txt", "".join(f"u{user}\ti{item}\n" for user in range(9) for item in range(user + 1))
        )

    def convert(members):
        rows = members["seen.txt"].decode()
        titles = "".join(f"i{item}\tthing {item}\n" for item in range(9))
        return {"interactions.tsv": f"user\titem\n{rows}".encode(), "items.tsv": f"item\ttitle\n{titles}".encode()}

    digest = sha256(package.read_bytes()).hexdigest()
    small = replace(SETS["movielens-100k"], sha256=digest, members=("seen.txt",), convert=convert)
    known = {**SETS, "movielens-100k": small}
    monkeypatch.setattr(named_sets, "SETS", known)
    monkeypatch.setattr(downloading, "SETS", known)
    return package, tmp_path / "cache" / "offsphere" / "data" / "movielens-100k"


@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_data_set_of_which_only_some_files_were_written_is_not_there(small_set, written, monkeypatch):
    """Its terms are written last: without them no file is read, and fetched again it is whole."""
    package, folder = small_set
    whole, left = downloading.write_whole, [written]

    def killed(path, content):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        whole(path, content)

    monkeypatch.setattr(downloading, "write_whole", killed)
    with pytest.raises(KeyboardInterrupt):
        download("movielens-100k", package)
    assert len(list(folder.glob("*"))) == written
    with pytest.raises(DataError, match="is not on this machine"):
        osp.load_task("movielens-100k")
    monkeypatch.setattr(downloading, "write_whole", whole)
    assert download("movielens-100k", package) == folder
    assert sorted(path.name for path in folder.iterdir()) == ["LICENCE.txt", "interactions.tsv", "items.tsv"]
    assert osp.load_task("movielens-100k").units
