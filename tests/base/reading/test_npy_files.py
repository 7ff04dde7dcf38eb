"""Numpy's .npy files: what numpy reads is read to the last bit, what claims to be something else is one line."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.npy_files import map_npy, read_npy
from offsphere.data.vector_files import read_vectors


def file_with(path, header, content=b"", version=(1, 0)):
    """A .npy file whose header says whatever one wants."""
    said = header.encode() if isinstance(header, str) else header
    size = len(said).to_bytes(2 if version == (1, 0) else 4, "little")
    path.write_bytes(b"\x93NUMPY" + bytes(version) + size + said + content)
    return path


def claiming(shape, dtype="<f4"):
    return f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}"


HEADERS = {
    "a bracket that is not closed": "{'descr': '<f4', 'fortran_order': False, 'shape': (30, 8",
    "no header": "",
    "no dictionary": "[1, 2]",
    "code": "__import__('os').getcwd()",
    "bytes that are no text": b"\xff\xfe{",
    "a text without end": "{'descr': '<f4', 'fortran_order': False, 'shape': (30, 8), 'x': '''",
    "nested without end": "(" * 5_000,
    "one key too few": "{'descr': '<f4', 'shape': (30, 8)}",
    "one key too many": "{'descr': '<f4', 'fortran_order': False, 'shape': (30, 8), 'more': 1}",
    "fewer rows than none": claiming("(30, -8)"),
    "fewer of both than none": claiming("(-30, -8)"),
    "2^63 rows": claiming(f"({2**63},)"),
    "2^63 numbers": claiming(f"({2**32}, {2**31})"),
    "a shape whose size overflows to what is there": claiming(f"({2**62}, 16)"),
    "more axes than arrays have": claiming(f"({'1, ' * 65})"),
    "half a row": claiming("(30.5, 8)"),
    "a flag for a row": claiming("(True, 240)"),
    "a text for a shape": claiming("'(30, 8)'"),
    "a type that there is not": claiming("(30, 8)", "<f3"),
    "objects": claiming("(30, 8)", "|O"),
    "fields": "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (240,), }",
    "numbers of no size": claiming("(30, 8)", "|V0"),
    "one row too many": claiming("(31, 8)"),
    "one row too few": claiming("(29, 8)"),
}
ROWS = np.arange(240, dtype=np.float32)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_that_is_none_is_one_line_and_takes_no_memory(tmp_path, name):
    path = file_with(tmp_path / "v.npy", HEADERS[name], ROWS.tobytes())
    tracemalloc.start()
    try:
        for read in (map_npy, read_npy, read_vectors):
            with pytest.raises(DataError, match=r"v\.npy") as caught:
                read(path)
            assert "\n" not in str(caught.value)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("shape", ["(30, 8)", "(240,)", "(2, 3, 5, 8)"])
def test_the_header_that_these_are_not_is_read_as_numpy_reads_it(tmp_path, version, shape):
    path = file_with(tmp_path / "v.npy", claiming(shape), ROWS.tobytes(), version)
    assert np.array_equal(map_npy(path), np.load(path))
    assert map_npy(path).shape == np.load(path).shape


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f2", "<f8", "|u1", "<i8", "|b1", "<U3", "|S4", "<c8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_what_numpy_saves_is_read_as_numpy_reads_it(tmp_path, dtype, order):
    array = np.asarray(np.arange(24).reshape(4, 6) % 7, np.dtype(dtype), order=order)
    np.save(tmp_path / "v.npy", array)
    read = map_npy(tmp_path / "v.npy")
    assert read.dtype == array.dtype
    assert read.flags.f_contiguous == np.load(tmp_path / "v.npy").flags.f_contiguous
    assert np.array_equal(read, array)
    with pytest.raises(ValueError, match="read-only"):
        read[0, 0] = read[1, 1]


@pytest.mark.parametrize("shape", [(0, 8), (3, 0), (0,)])
def test_an_array_of_nothing_is_read(tmp_path, shape):
    np.save(tmp_path / "v.npy", np.zeros(shape, np.float32))
    assert map_npy(tmp_path / "v.npy").shape == shape


@pytest.mark.parametrize("version", [(3, 0), (0, 9), (255, 255)])
def test_a_version_that_is_not_known_is_named(tmp_path, version):
    path = file_with(tmp_path / "v.npy", claiming("(30, 8)"), ROWS.tobytes(), version)
    with pytest.raises(DataError, match=rf"v\.npy is a \.npy file of version {version[0]}\.{version[1]}"):
        map_npy(path)


def test_every_beginning_of_a_file_is_one_line(tmp_path):
    np.save(tmp_path / "v.npy", ROWS.reshape(30, 8))
    content = (tmp_path / "v.npy").read_bytes()
    for length in [*range(140), len(content) - 1]:
        (tmp_path / "v.npy").write_bytes(content[:length])
        with pytest.raises(DataError, match=r"v\.npy"):
            map_npy(tmp_path / "v.npy")
