"""STS tables."""

from __future__ import annotations

import pytest

from offsphere.base.errors import DataError
from offsphere.data import PairTask, load_task


@pytest.mark.parametrize("comma", [False, True])
def test_sts_tables(tmp_path, comma):
    rows = [("2.5", 'a "quoted" man', "a, b"), ("0", "one", "two"), ("5", "x", "x")]
    if comma:
        text = "score,sentence1,sentence2\n" + "".join(
            ",".join('"' + field.replace('"', '""') + '"' for field in row) + "\n" for row in rows
        )
    else:
        text = "sentence1\tsentence2\tscore\n" + "".join(f"{one}\t{two}\t{score}\n" for score, one, two in rows)
    path = tmp_path / f"test.{'csv' if comma else 'tsv'}"
    path.write_text(text)
    for data in (path, tmp_path):
        task = load_task(data)
        assert isinstance(task, PairTask)
        assert task.gold.tolist() == [2.5, 0, 5]
        assert list(task.left_texts) == ['a "quoted" man', "one", "x"]
        assert task.right_texts[0] == "a, b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score\tsentence1\tsentence2\n1\tone\n", r"test\.tsv:2: 2 fields, the header has 3"),
        ("score\tsentence1\tsentence2\nhigh\tone\ttwo\n", r"test\.tsv:2: score 'high' is not a number"),
        ("score\tsentence1\tsentence2\n1\ta\tb\n", "1 pairs are too few"),
        ("score\tsentence1\tsentence2\n" + "1\ta\tb\n" * 4, "all gold scores are 1"),
    ],
)
def test_bad_tables_are_named(tmp_path, text, message):
    (tmp_path / "test.tsv").write_text(text)
    with pytest.raises(DataError, match=message):
        load_task(tmp_path)
