"""Tables for others: what is written is what others read."""

from __future__ import annotations

import csv
import io

import pytest

from offsphere.base.written_tables import csv_of, latex_of, pandas_of

ROWS = [{"name": 'a "b", c', "value": 0.1}, {"name": "line\nbreak", "other": None, "value": 1 / 3}, {"name": "=1+1"}]


def test_csv_comes_back_as_it_was():
    read = list(csv.DictReader(io.StringIO(csv_of(ROWS), newline="")))
    assert [row["name"] for row in read] == [row["name"] for row in ROWS]
    assert float(read[1]["value"]) == 1 / 3  # to the last digit
    assert read[0]["other"] == read[2]["value"] == ""


def test_columns_of_pandas_are_in_the_order_of_their_first_appearance():
    table = pandas_of(ROWS)
    assert list(table.columns) == ["name", "value", "other"]
    assert table["value"].isna().tolist() == [False, False, True]
    assert pandas_of([]).empty


@pytest.mark.parametrize("sign", [*"&%$#_{}~^", "\\"])
def test_no_sign_of_a_name_means_anything_to_latex(sign):
    line = latex_of([{"x": f"a{sign}b"}]).splitlines()[4]
    assert line in (
        rf"a\{sign}b \\",
        r"a\textbackslash{}b \\",
        r"a\textasciitilde{}b \\",
        r"a\textasciicircum{}b \\",
    )


def test_numbers_stand_to_the_right_and_texts_to_the_left():
    assert latex_of(ROWS, ["name", "value"]).startswith(r"\begin{tabular}{lr}")
