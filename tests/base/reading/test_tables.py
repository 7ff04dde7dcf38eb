"""Readers of text files: lines with their numbers, and errors that name them."""

from __future__ import annotations

import pytest

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import json_lines, number, table_rows, text_lines


def test_lines_have_their_numbers_and_blank_ones_count(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\n  \n{"b": 2}')
    assert list(text_lines(path)) == [(1, '{"a": 1}'), (4, '{"b": 2}')]
    assert list(json_lines(path)) == [(1, {"a": 1}), (4, {"b": 2})]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", r"file:1: expected a JSON object, found list"),
        (b'{"a": 1}\n{', r"file:2: not JSON"),
        (b"\xff\xfe", r"file is not UTF-8 text \(invalid start byte at byte 0\)"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(json_lines(tmp_path / "file"))


def test_only_csv_knows_quotes(tmp_path):
    for suffix, content in ((".csv", 'a, b\n"x, ""y""",1\n\n"two\nlines",2\n'), (".tsv", 'a\tb\n"x\t1\n')):
        (tmp_path / f"table{suffix}").write_text(content)
    header, rows = table_rows(tmp_path / "table.csv")
    assert header == ["a", "b"]
    assert list(rows) == [(2, ['x, "y"', "1"]), (5, ["two\nlines", "2"])]  # a row is where it ends
    assert list(table_rows(tmp_path / "table.tsv")[1]) == [(2, ['"x', "1"])]
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(DataError, match=r"empty\.csv is empty"):
        table_rows(tmp_path / "empty.csv")
    with pytest.raises(DataError, match=r"none\.csv does not exist"):
        table_rows(tmp_path / "none.csv")


def test_numbers_are_finite():
    assert number(" 2.5 ", "here", "grade") == 2.5
    for text, problem in (("high", "is not a number"), ("nan", "is not finite"), (None, "is not a number")):
        with pytest.raises(DataError, match=f"here: grade {text!r} {problem}"):
            number(text, "here", "grade")


def test_a_row_has_as_many_fields_as_the_header(tmp_path):
    (tmp_path / "table.tsv").write_text("A\t B \n1\t2\n\n3\n")
    header, rows = table_rows(tmp_path / "table.tsv")
    assert header == ["a", "b"]
    assert next(rows) == (2, ["1", "2"])
    with pytest.raises(DataError, match=r"table\.tsv:4: 1 fields, the header has 2"):
        next(rows)
