"""Damage to a file, as hypothesis draws it: flipped bits, other bytes, cuts, repetitions, numbers of another size."""

from __future__ import annotations

import re

from hypothesis import strategies as st

SIGNS = [b"\x00", b"\xff", b"\x80", b"\n", b'"', b"\\", b",", b"[" * 2_000, b"{", b"-", b"1e999", b"9" * 40, b"NaN"]
SIGNS += [b"\xed\xa0\x80", b"\\ud800", b"null", b"true", b"\xf0\x9f\x92\xa9", b"\xef\xbb\xbf"]
NUMBERS = [b"-1", b"0", b"1", b"255", b"2147483648", b"9223372036854775808", b"1e400", b"0.5", b"true"]
_NUMBER = re.compile(rb"\d+")

places = st.floats(0, 1, exclude_max=True)
edits = st.one_of(
    st.tuples(st.just("flip"), places, st.integers(0, 7)),
    st.tuples(st.just("set"), places, st.integers(0, 255)),
    st.tuples(st.just("cut"), places, st.integers(0, 64)),
    st.tuples(st.just("truncate"), places, st.just(0)),
    st.tuples(st.just("insert"), places, st.sampled_from(SIGNS)),
    st.tuples(st.just("repeat"), places, st.integers(1, 64)),
    st.tuples(st.just("number"), places, st.sampled_from(NUMBERS)),
    st.tuples(st.just("empty"), st.just(0.0), st.just(0)),
)
damages = st.lists(edits, min_size=1, max_size=4)


def damaged(content: bytes, damage) -> bytes:
    """The content after all edits, one after the other."""
    for kind, place, what in damage:
        content = _edited(content, kind, int(place * len(content)), what)
    return content


def _edited(content, kind, at, what):  # noqa: PLR0911  # a line a kind
    if kind == "empty" or not content:
        return b""
    if kind == "flip":
        return content[:at] + bytes([content[at] ^ 1 << what]) + content[at + 1 :]
    if kind == "set":
        return content[:at] + bytes([what]) + content[at + 1 :]
    if kind == "cut":
        return content[:at] + content[at + what :]
    if kind == "truncate":
        return content[:at]
    if kind == "insert":
        return content[:at] + what + content[at:]
    if kind == "repeat":
        return content[: at + what] + content[at:]
    match = _NUMBER.search(content, at)  # "number"
    return content if match is None else content[: match.start()] + what + content[match.end() :]
