"""Small files that claim, or unpack to, far more than they are: refused before memory or disk is taken for it."""

from __future__ import annotations

import gzip
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.base.reading import parquet_files
from offsphere.base.reading.file_access import SMALL, TIGHTEST, open_unpacked
from offsphere.base.reading.idx_files import read_idx
from offsphere.base.reading.parquet_files import read_arrays, read_columns, read_rows
from offsphere.base.reading.tables import json_lines
from offsphere.base.spilled import gather_rows
from offsphere.data.list_columns import LARGEST_BLOCK, WIDEST, gather_lists
from offsphere.data.vector_files import read_vectors

MEBIBYTE = 1 << 20


def packed(path, content):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    else:
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(content)
    return path


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_packed_text_that_unpacks_to_more_than_texts_do_is_refused(tmp_path, ending):
    bomb = packed(tmp_path / f"corpus.jsonl.{ending}", (b" " * MEBIBYTE + b"\n") * 65)
    assert bomb.stat().st_size * TIGHTEST < SMALL
    with pytest.raises(DataError, match=rf"corpus\.jsonl\.{ending} unpacks to .* bytes from .*: no data is packed so"):
        list(json_lines(bomb))


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_packed_text_is_read_whole_where_it_is_small_or_no_bomb(tmp_path, ending):
    tight = (b" " * MEBIBYTE + b"\n") * 60
    loose = np.random.default_rng(0).integers(0, 256, MEBIBYTE // 2, np.uint8).tobytes() + b" " * 70 * MEBIBYTE
    for content in (tight, loose):
        with open_unpacked(packed(tmp_path / f"text.{ending}", content)) as stream:
            assert stream.read() == content


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_an_idx_file_that_claims_gigabytes_takes_no_memory(tmp_path, suffix):
    content = b"\0\0\x08\x01" + (3 << 30).to_bytes(4, "big") + b"\1" * 100
    path = tmp_path / f"numbers{suffix}"
    path.write_bytes(gzip.compress(content) if suffix else content)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"does not have the|no data is packed so tightly"):
            read_idx(path)
        assert tracemalloc.get_traced_memory()[1] < 10 * MEBIBYTE
    finally:
        tracemalloc.stop()


@pytest.fixture
def small_machine(monkeypatch):
    monkeypatch.setattr(parquet_files, "physical_memory", lambda: 1 << 24)


def test_a_value_that_stands_a_million_times_in_a_small_file_counts_a_million_times(tmp_path, small_machine):
    path = tmp_path / "ids.parquet"
    pq.write_table(pa.table({"id": ["d"] * MEBIBYTE, "empty": [False] * MEBIBYTE}), path)
    assert path.stat().st_size < 100_000
    for read in (lambda: read_columns(path, ["id"]), lambda: read_rows(path)):
        with pytest.raises(DataError, match=r"ids\.parquet unpacks to .* bytes or more, and this machine has 16,777,2"):
            read()
    assert len(read_arrays(path, ["empty"])["empty"]) == MEBIBYTE  # which becomes no objects of Python


def test_texts_that_claim_more_than_the_machine_has_are_refused(tmp_path, small_machine):
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"text": ["x" * MEBIBYTE] * 20}), path, use_dictionary=False)
    with pytest.raises(DataError, match=r"texts\.parquet unpacks to .* bytes or more"):
        read_columns(path, ["text"])


def test_texts_that_are_packed_more_tightly_than_texts_can_be_are_refused(tmp_path):
    path = tmp_path / "texts.parquet"
    pq.write_table(pa.table({"text": ["x" * MEBIBYTE] * 70}), path, use_dictionary=False, compression="zstd")
    with pytest.raises(DataError, match=r"texts\.parquet unpacks to .*: no data is packed so tightly"):
        read_columns(path, ["text"])


def test_vectors_wider_than_any_are_refused_before_they_are_read(tmp_path):
    path = tmp_path / "v.parquet"
    wide = pa.ListArray.from_arrays([0, WIDEST + 1], pa.array(np.zeros(WIDEST + 1, np.float32)))
    pq.write_table(pa.table({"vectors": wide}), path)
    with pytest.raises(OffsphereError, match=r"v\.parquet claims vectors of more than 16,777,216 dimensions"):
        read_vectors(path)


def test_a_block_of_wide_vectors_has_few_rows():
    asked = []
    row = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(MEBIBYTE, np.float32)), MEBIBYTE)
    with pytest.raises(DataError, match="has 1 rows, it says 1,000"):
        gather_lists(row.type, 1000, lambda rows: asked.append(rows) or [row], "v.parquet")
    assert asked[1] * MEBIBYTE * 4 <= LARGEST_BLOCK


def test_rows_that_no_disk_has_room_for_are_refused_before_the_first_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def blocks():
        yield pytest.fail("it was read")

    with pytest.raises(OffsphereError, match=r"unpacks to 36,028,797,018,963,968 bytes, and .* has room for"):
        gather_rows(blocks(), (1 << 50, 8), np.float32, "v.parquet")
