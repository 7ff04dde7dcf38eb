"""Numpy's .npz archives: what numpy reads is read to the last bit; bombs, lies and damage are one line each."""

from __future__ import annotations

import io
import pickle
import struct
import tracemalloc
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading import npz_files
from offsphere.base.reading.npz_files import npz_names, read_npz
from offsphere.data.vector_files import read_vectors

ROWS = np.random.default_rng(0).standard_normal((30, 8)).astype(np.float32)
MEBIBYTE = 1 << 20


def archive_of(path, members, packing=zipfile.ZIP_DEFLATED):
    """An archive of any bytes, with the checksums that they have."""
    with zipfile.ZipFile(path, "w", packing) as archive:
        for name, content in members.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of two members of one name
                archive.writestr(name, content)
    return path


def member(array=ROWS, shape=None):
    """The bytes of an array, whose header may claim another shape."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    content = buffer.getvalue()
    if shape is None:
        return content
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes()


@pytest.fixture
def traced():
    """No test may take memory for what an archive claims."""
    tracemalloc.start()
    yield
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 16 * MEBIBYTE


SHAPES = [f"({2**40}, 8)", f"({2**62}, 4)", f"({2**63},)", "(30, -8)", "(-30, -8)", "(31, 8)", "(29, 8)", "(30.5, 8)"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shape_that_the_bytes_do_not_have_is_refused_by_its_header(tmp_path, traced, shape):
    path = archive_of(tmp_path / "v.npz", {"vectors.npy": member(shape=shape)})
    with pytest.raises(DataError, match=r"v\.npz.*(claims|truncated)") as caught:
        read_vectors(path)
    assert "\n" not in str(caught.value)


def claiming(path, size):
    """An archive whose two directories say that its member has so many bytes, whatever it has."""
    archive_of(path, {"vectors.npy": member()})
    content = bytearray(path.read_bytes())
    central = content.index(b"PK\x01\x02")
    struct.pack_into("<I", content, 22, size)  # beside the bytes
    struct.pack_into("<I", content, central + 24, size)  # in the list at the end
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("size", [(1 << 32) - 2, 3 << 30, 100 * MEBIBYTE, 70 * MEBIBYTE])
def test_a_member_that_claims_more_than_numbers_can_be_packed_into_is_refused(tmp_path, traced, size):
    path = claiming(tmp_path / "v.npz", size)
    with pytest.raises(DataError, match=rf"unpacks to {size:,} bytes from [0-9,]+: no data is packed so tightly"):
        read_npz(path)


@pytest.mark.parametrize("size", [0, 1, 127, 900, 1_100, 1 << 20, 60 * MEBIBYTE])
def test_a_member_that_claims_another_size_is_refused(tmp_path, traced, size):
    with pytest.raises(DataError, match=r"v\.npz"):
        read_npz(claiming(tmp_path / "v.npz", size))


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path):
    np.savez_compressed(tmp_path / "v.npz", vectors=np.zeros((1 << 20, 20), np.float32))
    assert (tmp_path / "v.npz").stat().st_size < MEBIBYTE
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"vectors\.npy unpacks to 83,886,208 bytes from .*: no data is packed so"):
            read_vectors(tmp_path / "v.npz")
        assert tracemalloc.get_traced_memory()[1] < 8 * MEBIBYTE
    finally:
        tracemalloc.stop()


def test_what_is_small_may_be_packed_as_tightly_as_it_likes(tmp_path):
    np.savez_compressed(tmp_path / "v.npz", vectors=np.zeros((1 << 19, 20), np.float32))
    assert read_vectors(tmp_path / "v.npz").vectors.shape == (1 << 19, 20)


def test_many_members_count_together_against_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(npz_files, "physical_memory", lambda: 5_000)
    np.savez(tmp_path / "v.npz", **{f"part{number}": ROWS for number in range(5)})
    with pytest.raises(DataError, match=r"v\.npz unpacks to 5,440 bytes, more than this machine has"):
        read_npz(tmp_path / "v.npz")
    assert np.array_equal(read_npz(tmp_path / "v.npz", ["part3"])["part3"], ROWS)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_flipped_bit_is_an_error_or_changes_nothing(tmp_path, save):
    save(tmp_path / "v.npz", vectors=ROWS[:3], ids=np.array(["a", "b", "c"]))
    expected = {name: array.tobytes() for name, array in read_npz(tmp_path / "v.npz").items()}
    content = (tmp_path / "v.npz").read_bytes()
    for position in range(len(content)):
        changed = content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :]
        (tmp_path / "v.npz").write_bytes(changed)
        with suppress(DataError):
            read = read_npz(tmp_path / "v.npz")
            assert {name: array.tobytes() for name, array in read.items()} == expected, position


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7])
def test_numbers_whose_packing_is_broken_are_one_line(tmp_path, share):
    path = archive_of(tmp_path / "v.npz", {"vectors.npy": member()})
    content = bytearray(path.read_bytes())
    start = 30 + len("vectors.npy")  # of the packed bytes
    at = start + int(share * (content.index(b"PK\x01\x02") - start))
    content[at : at + 12] = b"\xff" * 12
    path.write_bytes(content)
    with pytest.raises(Exception):  # noqa: B017, PT011  # zlib, the checksum or the header: numpy does not read it either
        np.load(path)["vectors"]
    with pytest.raises(DataError, match=r"v\.npz is truncated or not a \.npz archive|v\.npz, member vectors\.npy"):
        read_npz(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"a letter", pickle.dumps([1, 2]), b"\x93NUMPY", member()[:100], member(np.array([None]).astype(str))[:-1]],
    ids=["nothing", "a letter", "a pickle", "a beginning", "half a header", "one byte less"],
)
def test_a_member_that_is_no_array_is_one_line_and_the_others_are_read(tmp_path, content):
    path = archive_of(tmp_path / "v.npz", {"vectors.npy": member(), "notes.txt": content})
    with pytest.raises(DataError, match=r"v\.npz") as caught:
        read_npz(path)
    assert "\n" not in str(caught.value)
    assert np.array_equal(read_npz(path, ["vectors"])["vectors"], ROWS)


def test_objects_are_never_unpickled(tmp_path):
    np.savez(tmp_path / "v.npz", vectors=np.array([[{}]], dtype=object))
    with pytest.raises(DataError, match=r"member vectors\.npy holds object: .* nothing is unpickled"):
        read_npz(tmp_path / "v.npz")


def test_two_members_of_one_name_are_refused(tmp_path):
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for array in (ROWS, ROWS + 1):
            archive.writestr("vectors.npy", member(array))
    with pytest.raises(DataError, match="holds two arrays of one name"):
        read_npz(path)


def test_what_is_encrypted_is_told(tmp_path):
    path = archive_of(tmp_path / "v.npz", {"vectors.npy": member()})
    content = bytearray(path.read_bytes())
    for offset in (6, content.index(b"PK\x01\x02") + 8):
        content[offset] |= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"v\.npz.*encrypted"):
        read_npz(path)


@pytest.mark.parametrize("before", [b"x", b"#!/bin/sh\n", b"PK\x01\x02" + bytes(100)])
def test_an_archive_behind_other_bytes_is_none(tmp_path, before):
    path = archive_of(tmp_path / "v.npz", {"vectors.npy": member()})
    path.write_bytes(before + path.read_bytes())
    with pytest.raises(DataError, match=r"does not begin as one"):
        read_npz(path)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_what_numpy_saves_is_read_as_numpy_reads_it(tmp_path, save):
    arrays = {
        "vectors": ROWS,
        "f": np.asfortranarray(ROWS),
        "ids": np.array(["é", "b"]),
        "n": np.array(7),
        "o": ROWS[:0],
    }
    save(tmp_path / "v.npz", **arrays)
    assert npz_names(tmp_path / "v.npz") == list(arrays)
    with np.load(tmp_path / "v.npz") as archive:
        for name, array in read_npz(tmp_path / "v.npz").items():
            assert (array.dtype, array.shape) == (archive[name].dtype, archive[name].shape)
            assert np.array_equal(array, archive[name])
