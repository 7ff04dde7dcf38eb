"""Tasks from documents alone."""

from __future__ import annotations

import json

import numpy as np

from offsphere.data import load_task
from tests.processes import run_command

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


def test_titles_of_a_word_or_two_such_as_names_of_files_do_not_ask(tmp_path):
    words = [" ".join(np.random.default_rng(n).choice([f"w{i}" for i in range(900)], 30)) for n in range(12)]
    rows = [{"_id": str(n), "title": f"{n}.txt", "text": f"Here is {words[n][:20]}. {words[n]}"} for n in range(12)]
    task = load_task(write_corpus(tmp_path / "c", rows))
    assert "first sentence" in task.made
    assert len(task.query_texts) == 12


def test_every_output_says_that_judgments_are_made(tmp_path):
    words = [" ".join(np.random.default_rng(n).choice([f"w{i}" for i in range(500)], 20)) for n in range(30)]
    rows = [{"_id": str(n), "title": f"About {words[n][:30]} it", "text": words[n]} for n in range(30)]
    folder = write_corpus(tmp_path / "c", rows)
    np.save(tmp_path / "c" / "queries.npy", np.random.default_rng(0).random((30, 4), dtype=np.float32))
    np.save(tmp_path / "c" / "documents.npy", np.random.default_rng(1).random((30, 4), dtype=np.float32))
    for arguments in (["compare", folder], ["compare", folder, "--json"], ["data", "info", folder]):
        result = run_command(*arguments)
        assert "each title asks for its own text" in " ".join(result.stdout.split()), result.stderr
