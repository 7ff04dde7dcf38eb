"""Asking a reader: many at a time, again where it is busy, and never with the key in the cache."""

from __future__ import annotations

import sys
import threading
from importlib import invalidate_caches

import pytest

from offsphere.answering.asking import ask_all
from offsphere.answering.reader import FunctionReader, load_reader
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


def test_a_function_that_was_changed_is_asked_again_and_an_unchanged_one_is_not(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def told_by(body):
        (tmp_path / "replies.py").write_text(f"def reply(prompt):\n    return {body}\n")
        sys.modules.pop("replies", None)
        invalidate_caches()
        answers = ask_all(load_reader("callable:replies:reply"), ["where?", "who?"])
        return dict(answers.told), answers.plan.answered

    upper = {"where?": "WHERE?", "who?": "WHO?"}
    assert told_by("prompt.upper()") == (upper, 0)
    assert told_by("prompt.upper()") == (upper, 2)
    assert told_by("prompt + ' I do not know'") == ({name: f"{name} I do not know" for name in upper}, 0)
    assert told_by("prompt.upper()") == (upper, 2)  # the first body's answers are still its own


def test_a_function_that_nobody_can_know_again_is_always_asked():
    lock = threading.Lock()

    def reply(prompt):
        with lock:
            return prompt.upper()

    for _ in range(2):
        assert ask_all(FunctionReader(reply, "reply"), ["where?"]).plan.answered == 0
