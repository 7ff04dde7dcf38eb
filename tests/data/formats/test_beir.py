"""BEIR folders: texts, judgments, splits, and what is wrong with them."""

from __future__ import annotations

import json

import pytest

from offsphere.base.errors import DataError
from offsphere.data import RankingTask, load_task


def write_beir(folder, qrels=None, header="query-id\tcorpus-id\tscore\n"):
    folder.mkdir(parents=True, exist_ok=True)
    corpus = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"text {n}"} for n in range(4)]
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in corpus))
    queries = [{"_id": f"q{n}", "text": f"query {n}"} for n in range(3)]
    (folder / "queries.jsonl").write_text("\n".join(json.dumps(row) for row in queries))
    (folder / "qrels").mkdir(exist_ok=True)
    rows = qrels or ["q0\td1\t2", "q0\td2\t0", "q2\td3\t1"]
    (folder / "qrels" / "test.tsv").write_text(header + "\n".join(rows) + "\n")
    return folder


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\tscore\n", ""])
def test_beir_with_and_without_a_header(tmp_path, header):
    task = load_task(write_beir(tmp_path / "set", header=header))
    assert isinstance(task, RankingTask)
    assert list(task.query_ids) == ["q0", "q2"]
    assert list(task.listed_query_ids) == ["q0", "q1", "q2"]
    assert list(task.document_ids) == ["d0", "d1", "d2", "d3"]
    assert task.document_texts[1] == "Title 1 text 1"
    assert (task.name, task.split) == ("set", "test")
    assert task.judgments.ideal().tolist() == [[2.0], [1.0]]


def test_splits(tmp_path):
    folder = write_beir(tmp_path)
    (folder / "qrels" / "train.tsv").write_text("q1\td0\t1\n")
    assert list(load_task(folder, "train").query_ids) == ["q1"]
    assert load_task(folder).split == "test"
    with pytest.raises(DataError, match="no split 'dev': there are test, train"):
        load_task(folder, "dev")


def test_queries_with_nothing_to_find_are_left_out_and_counted(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0\td1\t1", "q1\td1\t0"]))
    assert list(task.query_ids) == ["q0"]
    assert task.left_out == 1
    with pytest.raises(DataError, match="no query has a relevant document"):
        load_task(write_beir(tmp_path, ["q1\td1\t0"]))


def test_missing_ones_are_ignored_on_request(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0\td1\t1", "q0\td9\t1"]), ignore_missing=True)
    assert (len(task.query_ids), task.ignored) == (1, 1)


def test_ids_must_not_repeat(tmp_path):
    folder = write_beir(tmp_path)
    with (folder / "corpus.jsonl").open("a") as stream:
        stream.write('\n{"_id": "d1", "text": "again"}')
    with pytest.raises(DataError, match=r"corpus\.jsonl: document id 'd1' stands there 2 times"):
        load_task(folder)


def test_a_broken_json_line_is_named(tmp_path):
    folder = write_beir(tmp_path)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": "fine"}\n{"_id": "d2", ')
    with pytest.raises(DataError, match=r"corpus\.jsonl:2: not JSON"):
        load_task(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": ["a", "list"]}')
    with pytest.raises(DataError, match=r"corpus\.jsonl:1: a text is of type list"):
        load_task(folder)
    (folder / "corpus.jsonl").write_text("\n")
    with pytest.raises(DataError, match="the corpus is empty"):
        load_task(folder)


def test_queries_that_lose_all_judgments_are_counted(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0\td1\t1", "q1\td9\t1"]), ignore_missing=True)
    assert (list(task.query_ids), task.left_out, task.ignored) == (["q0"], 1, 1)
