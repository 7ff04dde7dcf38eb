"""Judgment files, beside texts and alone."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.data import load_task
from tests.data.formats.test_beir import write_beir


def test_four_columns_are_read_too(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0 0 d1 1", "q2 0 d3 1"], header=""))
    assert len(task.query_ids) == 2


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["q0\td1"], r"test\.tsv:2: 2 fields, expected 3"),
        (["q0\td1\tmuch"], r"test\.tsv:2: grade 'much' is not a number"),
        (["q0\td1\t1", "q0\td9\t1", "q8\td1\t1"], r"test\.tsv:3: judgment for unknown document 'd9' \(2 such in all\)"),
        (["q8\td1\t1"], "unknown query 'q8'"),
        (["q0\td1\t1", "q0\td1\t2"], "judged 1 and 2: keep one"),
    ],
)
def test_a_bad_judgment_is_named_with_file_and_line(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        load_task(write_beir(tmp_path, rows))


def test_a_mistyped_grade_on_the_first_line_is_no_header(tmp_path):
    with pytest.raises(DataError, match=r"test\.tsv:1: grade 'O' is not a number"):
        load_task(write_beir(tmp_path, ["q0\td0\tO", "q2\td3\t1"], header=""))


def test_judgments_alone_take_their_ids_from_the_vectors(tmp_path):
    (tmp_path / "qrels.tsv").write_text("a\tx\t1\nb\ty\t1\n")
    with pytest.raises(DataError, match="nothing names the documents"):
        load_task(tmp_path)
    np.savez(tmp_path / "documents.npz", vectors=np.ones((3, 2), np.float32), ids=np.array(["x", "y", "z"]))
    task = load_task(tmp_path)
    assert list(task.document_ids) == ["x", "y", "z"]
    assert list(task.query_ids) == ["a", "b"]


def test_judgments_with_a_header_are_no_text_pairs(tmp_path):
    (tmp_path / "documents.ids").write_text("a\nb\nc\n")
    (tmp_path / "qrels.tsv").write_text("query\tdocument\tgrade\nq1\ta\t1\nq1\tb\t0\n")
    for path in (tmp_path, tmp_path / "qrels.tsv"):
        task = load_task(path)
        assert list(task.document_ids) == ["a", "b", "c"]
        assert task.judgments.grades.tolist() == [1, 0]
