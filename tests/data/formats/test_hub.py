"""The hub's layouts, read by the real ``datasets`` from local folders of the same shape."""

from __future__ import annotations

import json

import pytest

from offsphere.base.errors import DataError
from offsphere.data import load_task
from offsphere.data.formats.format import Source
from offsphere.data.formats.hub import load_hub

datasets = pytest.importorskip("datasets")

CONFIGS = """---
configs:
- config_name: corpus
  data_files: corpus.jsonl
- config_name: queries
  data_files: queries.jsonl
- config_name: {judged}
  data_files:
  - split: test
    path: qrels/test.jsonl
  - split: train
    path: qrels/train.jsonl
---
"""


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(row) for row in rows))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


@pytest.mark.parametrize("judged", ["default", "qrels"])
def test_configurations_of_one_repository(tmp_path, judged):
    folder = tmp_path / "set"
    write_rows(folder / "corpus.jsonl", [{"_id": f"d{n}", "title": "T", "text": f"text {n}"} for n in range(3)])
    write_rows(folder / "queries.jsonl", [{"_id": f"q{n}", "text": f"query {n}"} for n in range(2)])
    write_rows(folder / "qrels/test.jsonl", [{"query-id": "q0", "corpus-id": "d1", "score": 1}])
    write_rows(folder / "qrels/train.jsonl", [{"query-id": "q1", "corpus-id": "d2", "score": 2}])
    (folder / "README.md").write_text(CONFIGS.format(judged=judged))
    task = load_hub(str(folder), Source(folder))
    assert list(task.query_ids) == ["q0"]
    assert task.document_texts[1] == "T text 1"
    assert list(load_hub(str(folder), Source(folder, "train")).query_ids) == ["q1"]
    with pytest.raises(DataError, match="no split 'dev': there are test, train"):
        load_hub(str(folder), Source(folder, "dev"))


def test_a_table_of_pairs(tmp_path):
    rows = [{"sentence1": "a", "sentence2": f"b{n}", "score": n / 3} for n in range(4)]
    write_rows(tmp_path / "pairs" / "test.jsonl", rows)
    task = load_hub(str(tmp_path / "pairs"), Source(tmp_path / "pairs"))
    assert task.gold.tolist() == [0, 1 / 3, 2 / 3, 1]
    assert list(task.right_texts) == ["b0", "b1", "b2", "b3"]


def test_other_columns_are_refused(tmp_path):
    write_rows(tmp_path / "other" / "test.jsonl", [{"text": "a"}])
    with pytest.raises(DataError, match="neither the configurations corpus and queries"):
        load_hub(str(tmp_path / "other"), Source(tmp_path / "other"))


def test_a_name_that_cannot_be_reached_says_so():
    with pytest.raises(DataError, match="neither a folder here nor a data set that can be reached"):
        load_task("nobody/nothing-of-the-kind")


@pytest.mark.parametrize(
    ("judged", "document", "match"),
    [
        ({"query-id": "q0", "document": "d1", "score": 1}, {"_id": "d1", "text": "x"}, "'corpus-id' is missing"),
        ({"query-id": "q0", "corpus-id": "d1", "score": "much"}, {"_id": "d1", "text": "x"}, "'much' is not a number"),
        ({"query-id": "q0", "corpus-id": "d1", "score": None}, {"_id": "d1", "text": "x"}, "'score' is missing"),
        ({"query-id": "q0", "corpus-id": "d1", "score": 1}, {"name": "d1", "text": "x"}, "there is no _id"),
        ({"query-id": "q0", "corpus-id": "d1", "score": 1}, {"_id": 1.5, "text": "x"}, "ids are texts or whole"),
        ({"query-id": "q0", "corpus-id": "d1", "score": 1}, {"_id": "d1", "text": 5}, "a text is of type int"),
    ],
)
def test_columns_that_are_missing_or_of_another_kind_are_told(tmp_path, judged, document, match):
    folder = tmp_path / "set"
    write_rows(folder / "corpus.jsonl", [document])
    write_rows(folder / "queries.jsonl", [{"_id": "q0", "text": "query"}])
    write_rows(folder / "qrels/test.jsonl", [judged])
    write_rows(folder / "qrels/train.jsonl", [judged])
    (folder / "README.md").write_text(CONFIGS.format(judged="qrels"))
    with pytest.raises(DataError, match=match) as caught:
        load_hub(str(folder), Source(folder))
    assert "\n" not in str(caught.value)
