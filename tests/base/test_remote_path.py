"""Addresses as paths, over the file systems of fsspec that need no network."""

from __future__ import annotations

import pickle
from importlib.util import find_spec

import fsspec
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.local_paths import local_path
from offsphere.base.reading.file_access import open_file, read_bounded
from offsphere.base.reading.tables import text_lines
from offsphere.base.remote_path import RemotePath, given_path, is_remote


@pytest.fixture(params=["memory", "file"])
def folder(request, tmp_path):
    """A folder of two files and a folder, by its address."""
    inside = f"/{tmp_path.name}/data" if request.param == "memory" else f"{tmp_path}/data"
    system = fsspec.filesystem(request.param)
    system.makedirs(f"{inside}/qrels", exist_ok=True)
    system.pipe_file(f"{inside}/b.txt", b"first\nsecond\n")
    system.pipe_file(f"{inside}/a.npy", b"0123456789")
    system.pipe_file(f"{inside}/qrels/test.tsv", b"q\t0\td\t1\n")
    yield given_path(f"{request.param}://{inside}")
    system.rm(inside, recursive=True)


def test_an_address_is_asked_as_a_path_is(folder):
    assert [path.name for path in folder.iterdir()] == ["a.npy", "b.txt", "qrels"]
    assert [path.name for path in folder.glob("*.npy")] == ["a.npy"]
    assert [path.name for path in folder.rglob("*.tsv")] == ["test.tsv"]
    assert (folder / "a.npy").stat().st_size == 10
    assert (folder / "a.npy").is_file()
    assert (folder / "qrels").is_dir()
    assert not (folder / "c").exists()
    assert [*(folder / "c").glob("*")] == []
    assert (folder / "qrels" / "test.tsv").parent.parent == folder == folder.resolve() == folder.absolute()
    assert (folder / "a.npy").with_suffix(".ids").name == "a.ids"
    assert [line for _, line in text_lines(folder / "b.txt")] == ["first", "second"]
    assert read_bounded(folder / "a.npy") == b"0123456789"
    assert is_remote(folder)


def test_it_goes_to_workers_and_comes_back(folder):
    again = pickle.loads(pickle.dumps(folder / "a.npy"))
    assert (again, str(again), again.stat().st_size) == (folder / "a.npy", str(folder / "a.npy"), 10)


def test_ranges_are_read_and_nothing_else(folder):
    assert (folder / "a.npy").read_range(3, 6) == b"345"
    with pytest.raises(DataError, match=r"a\.npy is truncated: it has no bytes 8 to 12"):
        (folder / "a.npy").read_range(8, 12)


def test_nothing_is_written_elsewhere(folder):
    with pytest.raises(OSError, match="what lies elsewhere is read, not written"):
        (folder / "new").mkdir()
    with pytest.raises(OSError, match="what lies elsewhere is read, not written"):
        (folder / "new").open("wb")


def test_what_is_not_there_is_one_line(folder):
    with pytest.raises(DataError, match=r"://.*c\.npy does not exist"):
        open_file(folder / "c.npy")
    with pytest.raises(DataError, match="is a folder, not a file"):
        open_file(folder)


def test_only_addresses_that_fsspec_reads_are_paths():
    for typed in ("s3://bucket/vectors", "gs://bucket/x.npy", "hf://datasets/org/name"):
        assert str(given_path(typed)) == typed
        assert str(given_path(RemotePath(typed))) == typed
        with pytest.raises(DataError, match="is an address, no file or folder"):
            local_path(typed)  # where a file of this machine is meant
    for typed in ("https://host/x.npy", "postgresql://host/db"):
        with pytest.raises(DataError, match="is an address, no file or folder"):
            given_path(typed)
    assert not is_remote(given_path("vectors/documents.npy"))


def test_credentials_are_no_part_of_an_address_and_are_not_printed():
    with pytest.raises(DataError) as caught:
        given_path("s3://key:hush-hush@bucket/vectors")
    assert "s3://key:***@bucket/vectors' has a password in it" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_what_a_service_says_is_one_line_without_credentials(monkeypatch):
    class Service(fsspec.AbstractFileSystem):
        def info(self, path, **_):
            raise RuntimeError(f"403 at https://key:hush-hush@host/{path}?token=hush\nand more")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lambda url: (Service(), url))
    with pytest.raises(DataError) as caught:
        given_path("s3://bucket/x").stat()
    assert str(caught.value).startswith("s3://bucket/x cannot be read: 403 at https://key:***@host")
    assert "hush" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(bool(find_spec("s3fs")), reason="it is there")
def test_a_driver_that_is_not_there_is_told():
    with pytest.raises(OffsphereError, match=r"^s3://bucket/x is read with the package 's3fs': pip install s3fs$"):
        given_path("s3://bucket/x").exists()
