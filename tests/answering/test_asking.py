"""Asking a reader: many at a time, again where it is busy, and never with the key in the cache."""

from __future__ import annotations

import threading

import pytest

from offsphere.answering.asking import ask_all
from offsphere.answering.reader import FunctionReader
from tests.answering.test_read_answers import completion, endpoint
from tests.processes import PATIENCE


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_busy_endpoint_is_asked_again_and_the_key_comes_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("OFFSPHERE_READER_KEY", "secret-key")
    keys = []

    def respond(number, asked):
        keys.append(asked["key"])
        return (429, b"slow down") if number < 2 else completion("Oslo\nand more")

    with endpoint(respond) as (reader, count):
        told = ask_all(reader, ["where?"], pause=0.001)
    assert (dict(told.told), count[0]) == ({"where?": "Oslo"}, 3)
    assert set(keys) == {"Bearer secret-key"}
    kept = [path.read_text() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept
    assert not any("secret-key" in text for text in kept)


def test_many_are_asked_at_a_time():
    together = threading.Barrier(4, timeout=PATIENCE)

    def wait(prompt):
        together.wait()
        return prompt

    told = ask_all(FunctionReader(wait, "wait"), [str(number) for number in range(8)], workers=4, cache=False)
    assert len(told.told) == 8
