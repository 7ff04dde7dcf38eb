"""Checksums beside a file: what sha256sum writes we check, and what we write it checks."""

from __future__ import annotations

import hashlib
import io
import shutil
import subprocess

import pytest

from offsphere.base.checksums import HashedStream, checksum_lines, checksums_beside, refuse_other_bytes
from offsphere.base.errors import DataError

needs_sha256sum = pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum is the oracle")
NAMES = ["v.npy", "with blank.npy", "back\\slash.npy", "line\nend.npy", "é.npy"]


def sha256sum(*arguments, folder):
    return subprocess.run(["sha256sum", *arguments], cwd=folder, capture_output=True, check=False)


@needs_sha256sum
@pytest.mark.parametrize("name", NAMES)
def test_the_lines_are_those_of_sha256sum(tmp_path, name):
    (tmp_path / name).write_bytes(b"some bytes")
    lines = checksum_lines({name: hashlib.sha256(b"some bytes").hexdigest()})
    assert lines == sha256sum("--", name, folder=tmp_path).stdout
    checksums_beside(tmp_path / name).write_bytes(lines)
    refuse_other_bytes(tmp_path / name)
    (tmp_path / name).write_bytes(b"other bytes")
    assert sha256sum("-c", f"{name}.sha256", folder=tmp_path).returncode == 1 or "\n" in name
    with pytest.raises(DataError, match="is not the file of which"):
        refuse_other_bytes(tmp_path / name)


def test_a_companion_that_is_missing_or_changed_is_refused(tmp_path):
    vectors, ids = tmp_path / "v.npy", tmp_path / "v.ids"
    vectors.write_bytes(b"vectors")
    sums = {"v.npy": hashlib.sha256(b"vectors").hexdigest(), "v.ids": hashlib.sha256(b"a\nb\n").hexdigest()}
    checksums_beside(vectors).write_bytes(checksum_lines(sums))
    with pytest.raises(DataError, match=r"v.ids does not exist"):
        refuse_other_bytes(vectors, ids)
    ids.write_bytes(b"a\nc\n")
    with pytest.raises(DataError, match=r"v.ids is not the file of which v.npy.sha256 has the checksum: it is damaged"):
        refuse_other_bytes(vectors, ids)
    ids.write_bytes(b"a\nb\n")
    refuse_other_bytes(vectors, ids)


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"deadbeef  v.npy\n", b"SHA256 (v.npy) = 00\n"])
def test_a_list_of_another_form_says_nothing(tmp_path, content):
    (tmp_path / "v.npy").write_bytes(b"vectors")
    (tmp_path / "v.npy.sha256").write_bytes(content)
    refuse_other_bytes(tmp_path / "v.npy")


def test_a_stream_knows_the_checksum_of_what_went_through_it():
    buffer = io.BytesIO()
    stream = HashedStream(buffer)
    stream.write(b"one ")
    stream.write(memoryview(b"two"))
    assert stream.checksum == hashlib.sha256(buffer.getvalue()).hexdigest()
