from __future__ import annotations

import pytest

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.scoring.stored.stored_form import StoredForm, check_width, parse_stored


def names(text):
    return [form.name for form in parse_stored(text)]


def test_forms_are_named_as_they_are_typed():
    assert names("float16,bfloat16,int8") == ["float16", "bfloat16", "int8"]
    assert names(["dim=64+int8", "binary+rerank=8, Binary + Float_Query"]) == [
        "dim=64+int8",
        "binary+rerank=8",
        "binary+float-query",
    ]


def test_binary_stands_for_its_three_ways_and_a_cut_for_both_of_its():
    assert names("binary") == ["binary+hamming", "binary+float-query", "binary+rerank=4"]
    assert names("dim=64") == ["dim=64", "dim=64+sliced"]
    assert names("dim=64+int8") == ["dim=64+int8"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("int9", "int8"), ("fp16", "float16"), ("halfvec", "float16"), ("sq8", "int8"), ("ubinary", "binary")],
)
def test_an_unknown_form_says_what_was_probably_meant(typed, meant):
    with pytest.raises(UnknownNameError, match=f"unknown stored form '{typed}': did you mean {meant}"):
        parse_stored(typed)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("dim=0", "dim is a whole number from 1 on"),
        ("dim=-4", "dim is a whole number from 1 on"),
        ("dim=1e3", "dim is a whole number from 1 on"),
        ("dim=99999999999", "dim is a whole number from 1 on"),
        ("binary+rerank=0", "rerank is a whole number from 1 on to 1,000"),
        ("int8,int8", "int8 stands there twice"),
        ("int8+int8", "has two codes"),
        ("dim=4+dim=8", "has dim twice"),
        ("dim=64,dim=64+sliced", r"dim=64\+sliced stands there twice: in 'dim=64' and 'dim=64\+sliced'"),
        ("binary,binary+hamming", r"binary\+hamming stands there twice"),
        ("sliced+int8", "sliced needs a width"),
        ("int8+hamming", "ways to search binary"),
        ("binary+hamming+float-query", "exclude each other"),
        ("rerank", "say what finds"),
        (" , ", "no stored form is named"),
    ],
)
def test_what_means_nothing_is_refused_in_one_line(typed, message):
    with pytest.raises(ParameterError, match=message) as raised:
        parse_stored(typed)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("width", [64, 63])
def test_a_cut_must_cut(width):
    with pytest.raises(ParameterError, match=f"dim=64: the vectors have {width} dimensions"):
        check_width(parse_stored("dim=64"), width)
    check_width(parse_stored("dim=64,int8"), 65)


def test_bytes_are_those_of_the_numbers_that_are_kept():
    sizes = {code: StoredForm(code).stored_bytes(100) for code in ("float32", "float16", "bfloat16", "int8", "binary")}
    assert sizes == {"float32": 400, "float16": 200, "bfloat16": 200, "int8": 100, "binary": 13}
