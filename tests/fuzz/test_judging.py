"""The judge of damaged files is judged: what is right, what is refused, and what is neither."""

from __future__ import annotations

from collections import Counter
from math import isclose

import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import reading
from tests.fuzz.judging import judge, told
from tests.fuzz.subject import Subject, equal_in_every_bit


def judged(read, expected="right", reference=None, *, anything=False, same=equal_in_every_bit, folder=None):
    return judge(Subject(lambda _: None, read, reference, anything, same), folder, expected)


def raising(error):
    def read(folder):
        raise error

    return read


def test_what_is_right_or_refused_is_so(tmp_path):
    assert judged(lambda _: "right") == "right"
    assert judged(raising(DataError("v.npy is damaged"))) == "refused"
    assert judged(lambda _: "other", reference=lambda _: "other") == "right"
    assert judged(lambda _: "whatever", anything=True) == "taken"
    assert judged(lambda _: 1.0, reference=lambda _: 1.0 + 1e-12, same=isclose) == "right"


@pytest.mark.parametrize("options", [{}, {"reference": lambda _: "right"}, {"same": lambda value, right: False}])
def test_a_wrong_answer_is_neither(options):
    with pytest.raises(AssertionError, match="a wrong answer"):
        judged(lambda _: "wrong", **options)


@pytest.mark.parametrize("error", [ValueError("x"), KeyError("x"), MemoryError(), RecursionError()])
def test_another_error_is_neither(error):
    with pytest.raises(type(error)):
        judged(raising(error), anything=True)


def test_a_refusal_because_memory_ran_out_is_neither(tmp_path):
    def read(folder):
        with reading(folder / "v.npy", "a .npy file"):
            raise MemoryError

    with pytest.raises(AssertionError, match="it took memory for what a file claims"):
        judged(read, anything=True, folder=tmp_path)


def test_what_nobody_judged_is_not_counted_as_right():
    assert told(Counter(taken=2, refused=1)) == "0 read right, 2 read and judged by nobody, 1 refused"
