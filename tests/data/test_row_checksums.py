"""Checksums of rows: the CRC that other programs compute, and no flip or move that it misses."""

from __future__ import annotations

import binascii

import numpy as np
import pytest

from offsphere.data.row_checksums import BLOCK, first_damaged, row_checksums


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_checksum_is_the_crc_of_the_row_begun_with_its_number(dtype):
    vectors = np.random.default_rng(0).standard_normal((5, 3)).astype(dtype)
    rows = np.array([7, 0, 3, 2**31 + 1, 4])
    expected = [binascii.crc32(vector.tobytes(), int(row)) for row, vector in zip(rows, vectors, strict=True)]
    assert row_checksums(rows, vectors).tolist() == expected
    assert row_checksums(rows, np.asfortranarray(vectors)).tolist() == expected


def test_every_flipped_bit_is_found_in_its_row():
    vectors = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
    kept = row_checksums(np.arange(4), vectors)
    assert first_damaged(vectors, kept) is None
    content = vectors.view(np.uint8)
    for row in range(4):
        for byte in range(12):
            for bit in range(8):
                content[row, byte] ^= 1 << bit
                assert first_damaged(vectors, kept) == row
                content[row, byte] ^= 1 << bit


def test_rows_that_changed_places_are_found_beyond_the_first_block_too():
    vectors = np.random.default_rng(2).standard_normal((BLOCK + 10, 2)).astype(np.float32)
    kept = row_checksums(np.arange(len(vectors)), vectors)
    vectors[[BLOCK + 3, BLOCK + 5]] = vectors[[BLOCK + 5, BLOCK + 3]]
    assert first_damaged(vectors, kept) == BLOCK + 3
    assert first_damaged(vectors[5:], kept[5:], 5) == BLOCK + 3
    assert first_damaged(vectors[:BLOCK], kept[:BLOCK]) is first_damaged(vectors[5:9], kept[5:9], 5) is None
    assert first_damaged(np.zeros((3, 2), np.float32), np.zeros(3, np.uint32)) == 0  # rows that nobody wrote
