"""Digests: the same as those that stand in manifests and names of caches, and unambiguous."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.digests import digest_of, digest_of_files, digest_of_ids, digest_of_named_files, digest_of_texts
from offsphere.base.errors import OffsphereError

NAMES = st.lists(st.text(st.sampled_from("ab\0"), max_size=3))


def by_hand(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).hexdigest()


def test_digests_are_sha256_of_pieces_with_their_lengths():
    assert digest_of([b"ab", b"c"]) == by_hand(b"ab", b"c")[:24]
    assert digest_of_texts(["ab", "ü"]) == by_hand(b"ab", "ü".encode())
    assert digest_of([]) == hashlib.sha256().hexdigest()[:24]


@pytest.mark.parametrize(("count", "size"), [(9_000, 7), (5, 300_000), (4_097, 400)])
def test_many_texts_and_long_ones_are_hashed_alike(count, size):
    texts = [f"{number}é" * (size // (1 + number % 3)) for number in range(count)]
    assert digest_of_texts(iter(texts)) == by_hand(*(text.encode() for text in texts))


def test_where_a_piece_ends_matters():
    assert digest_of([b"ab", b"c"]) != digest_of([b"a", b"bc"])
    assert digest_of_texts(["ab", ""]) != digest_of_texts(["ab"])


def test_texts_that_are_no_unicode_have_digests_too():
    assert digest_of_texts(["\ud800"]) != digest_of_texts(["\ud801"])


def test_files_are_known_by_their_contents(tmp_path):
    for name, content in (("one", b"x" * 100), ("two", b"y"), ("same", b"x" * 100)):
        (tmp_path / name).write_bytes(content)
    one, two, same = (tmp_path / name for name in ("one", "two", "same"))
    wanted = hashlib.sha256(hashlib.sha256(b"x" * 100).digest() + hashlib.sha256(b"y").digest()).hexdigest()[:16]
    assert digest_of_files([one, two]) == digest_of_files([same, two]) == wanted
    assert digest_of_files([two, one]) != wanted
    with pytest.raises(OffsphereError, match=r"cannot read .*nowhere: No such file"):
        digest_of_files([tmp_path / "nowhere"])


def test_files_of_a_folder_are_known_by_contents_and_names(tmp_path):
    (tmp_path / "inner").mkdir()
    one, two = tmp_path / "inner" / "one", tmp_path / "two"
    one.write_bytes(b"x")
    two.write_bytes(b"y")
    contents = [hashlib.sha256(content).digest() for content in (b"x", b"y")]
    wanted = by_hand(b"inner/one", contents[0], b"two", contents[1])[:16]
    assert digest_of_named_files(tmp_path, [one, two]) == digest_of_named_files(tmp_path, [two, one]) == wanted
    moved = two.rename(tmp_path / "three")
    assert digest_of_named_files(tmp_path, [one, moved]) != wanted


@given(
    first=st.lists(st.text(st.sampled_from("ab\0"), max_size=3)),
    second=st.lists(st.text(st.sampled_from("ab\0"), max_size=3)),
)
def test_the_digest_of_ids_tells_lists_apart_wherever_one_id_ends(first, second):
    assert (digest_of_ids(first) == digest_of_ids(second)) == (first == second)
