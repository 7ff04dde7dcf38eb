"""Tasks that are made on this machine: docstrings, documents alone, splits."""

from __future__ import annotations

import json

import numpy as np
import pytest

from offsphere.base.errors import DataError, ParameterError
from offsphere.data import RankingTask, load_task
from offsphere.data.formats.docstrings import read_package, split_of, write_docstrings
from offsphere.data.near_duplicates import first_of_each
from tests.processes import run_command


def test_docstrings_of_this_machine_are_a_task_with_two_splits(tmp_path):
    counts = write_docstrings(tmp_path / "one", ["stdlib"])
    assert counts["train"] > counts["test"] > 100
    train, test = load_task(tmp_path / "one", "train"), load_task(tmp_path / "one")
    modules = [{name.partition(":")[0] for name in task.query_ids} for task in (train, test)]
    assert not modules[0] & modules[1]
    assert "each summary line of a docstring" in test.made
    place = list(test.document_ids).index(test.query_ids[0])
    assert test.query_texts[0] not in test.document_texts[place]
    assert len(set(test.query_texts)) == len(test.query_texts)


def test_the_same_packages_give_the_same_files(tmp_path):
    for name in ("one", "two"):
        write_docstrings(tmp_path / name, ["json", "email"])
    for file in ("corpus.jsonl", "queries.jsonl", "qrels/train.tsv", "qrels/test.tsv", "made.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_docstring_is_cut_into_summary_and_rest():
    found = {item.id: item for item in read_package("json")}
    dumps = found["json.__init__:dumps"]
    assert dumps.query == json.dumps.__doc__.strip().splitlines()[0]
    assert dumps.text.startswith("def dumps(obj, ")
    assert dumps.query not in dumps.text


def test_a_modules_split_does_not_depend_on_the_others():
    assert {split_of(f"module{n}") for n in range(50)} == {"train", "test"}


def test_an_unknown_package_is_named(tmp_path):
    with pytest.raises(DataError, match="there is no installed package 'no_such_thing'"):
        write_docstrings(tmp_path, ["no_such_thing"])


LONG = "It says many things that nobody needs to know at all about this."


def write_corpus(folder, rows):
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return folder


def test_documents_alone_are_asked_for_by_their_titles(tmp_path):
    rows = [
        {"_id": str(n), "title": f"The title number {n}", "text": f"Document {n * 7919}. {LONG} {n}"} for n in range(5)
    ]
    task = load_task(write_corpus(tmp_path / "c", rows))
    assert list(task.query_texts) == [f"The title number {n}" for n in range(5)]
    assert task.document_texts[0] == rows[0]["text"]
    assert task.made == "each title asks for its own text"


def test_documents_without_titles_are_asked_for_by_their_first_sentences(tmp_path):
    words = ["alpha beta gamma", "one two three four", "red green blue", "up down left right"]
    rows = [{"_id": str(n), "text": f"This is about {word}. {word} {LONG}"} for n, word in enumerate(words)]
    task = load_task(write_corpus(tmp_path / "c", rows))
    assert task.query_texts[0] == "This is about alpha beta gamma."
    assert task.document_texts[0] == f"alpha beta gamma {LONG}"
    assert "first sentence" in task.made


def test_titles_that_many_documents_share_do_not_ask(tmp_path):
    words = [" ".join(np.random.default_rng(n).choice([f"w{i}" for i in range(900)], 30)) for n in range(12)]
    rows = [
        {"_id": str(n), "title": f"One title of {n // 6}", "text": f"Here is {words[n][:20]}. {words[n]}"}
        for n in range(12)
    ]
    assert "first sentence" in load_task(write_corpus(tmp_path / "c", rows)).made


def test_near_duplicates_are_found_and_others_are_not():
    rng = np.random.default_rng(0)
    vocabulary = [f"word{n}" for n in range(2000)]
    texts = [" ".join(rng.choice(vocabulary, 80)) for _ in range(60)]
    nearly = [text.replace(text.split()[40], "changed", 1) for text in texts[:20]]
    assert first_of_each([*texts, *nearly, *texts[5:9]]) == list(range(60))


def test_every_output_says_that_judgments_are_made(tmp_path):
    words = [" ".join(np.random.default_rng(n).choice([f"w{i}" for i in range(500)], 20)) for n in range(30)]
    rows = [{"_id": str(n), "title": f"About {words[n][:30]} it", "text": words[n]} for n in range(30)]
    folder = write_corpus(tmp_path / "c", rows)
    np.save(tmp_path / "c" / "queries.npy", np.random.default_rng(0).random((30, 4), dtype=np.float32))
    np.save(tmp_path / "c" / "documents.npy", np.random.default_rng(1).random((30, 4), dtype=np.float32))
    for arguments in (["compare", folder], ["compare", folder, "--json"], ["data", "info", folder]):
        result = run_command(*arguments)
        assert "each title asks for its own text" in " ".join(result.stdout.split()), result.stderr


def linked_task():
    judged = {f"q{n}": {f"d{n // 3}": 1, f"d{100 + n}": 1} for n in range(90)}
    return RankingTask.from_judgments(judged, [f"d{n}" for n in range(200)])


@pytest.mark.parametrize("by_document", [False, True])
def test_splits_part_the_queries(by_document):
    task = linked_task()
    parts = task.parts(seed=3, by_document=by_document)
    names = [set(part.query_ids) for part in parts.values()]
    assert set().union(*names) == set(task.query_ids)
    assert sum(map(len, names)) == 90
    assert [len(part) for part in names] == [63, 9, 18]
    assert [part.query_ids for part in task.parts(seed=3, by_document=by_document).values()] == [
        part.query_ids for part in parts.values()
    ]
    relevant = [set(part.judgments.documents.tolist()) for part in parts.values()]
    leaks = any(one & other for place, one in enumerate(relevant) for other in relevant[:place])
    assert leaks == (not by_document)


def test_impossible_splits_are_refused():
    with pytest.raises(ParameterError, match="each must be above zero"):
        linked_task().parts({"train": 1.0, "test": 0.0})
    one = RankingTask.from_judgments({"a": {"d": 1}, "b": {"d": 1}}, ["d"])
    with pytest.raises(ParameterError, match="hang together by relevant documents"):
        one.parts({"train": 1, "test": 1}, by_document=True)


def test_info_of_a_real_set(real_data):
    found = json.loads(run_command("data", "info", real_data / "cisi", "--json").stdout)
    assert (found["queries"], found["documents"]) == (76, 1460)
    assert found["query_words_mean"] > 20
