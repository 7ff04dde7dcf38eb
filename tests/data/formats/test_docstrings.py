"""A task from the docstrings of this machine."""

from __future__ import annotations

import json

import pytest

from offsphere.base.errors import DataError
from offsphere.data import load_task
from offsphere.data.formats.docstrings import read_package, split_of, write_docstrings


def test_docstrings_of_this_machine_are_a_task_with_two_splits(tmp_path):
    counts = write_docstrings(tmp_path / "one", ["stdlib"])
    assert counts["train"] > counts["test"] > 100
    train, test = load_task(tmp_path / "one", "train"), load_task(tmp_path / "one")
    modules = [{name.partition(":")[0] for name in task.query_ids} for task in (train, test)]
    assert not modules[0] & modules[1]
    assert "each summary line of a docstring" in test.made
    row = list(test.document_ids).index(test.query_ids[0])
    assert test.query_texts[0] not in test.document_texts[row]
    assert len(set(test.query_texts)) == len(test.query_texts)


def test_the_same_packages_give_the_same_files(tmp_path):
    for name in ("one", "two"):
        write_docstrings(tmp_path / name, ["json", "email"])
    for file in ("corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "qrels/test.tsv", "made.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_docstring_is_cut_into_summary_and_rest():
    items = {item.id: item for item in read_package("json")}
    dumps = items["json.__init__:dumps"]
    assert dumps.query == json.dumps.__doc__.strip().splitlines()[0]
    assert dumps.text.startswith("def dumps(obj, ")
    assert dumps.query not in dumps.text


def test_a_modules_split_does_not_depend_on_the_others():
    assert {split_of(f"module{n}") for n in range(50)} == {"train", "test"}


def test_an_unknown_package_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no installed package 'no_such_thing'"):
        write_docstrings(tmp_path, ["no_such_thing"])
