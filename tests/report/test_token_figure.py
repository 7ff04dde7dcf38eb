"""An audit by its command, with rows over tokens, BM25 and a threshold: what it prints, and what the page draws."""

from __future__ import annotations

import json

import pytest

import offsphere as osp
from tests.cli.running import run
from tests.comparison.test_listing import textual
from tests.report.test_page import MARKS, browser, opened  # noqa: F401  # a fixture

TOKENS = ["--tokens", "wrd(length),wrd(uniform),maxsim(both)", "--token-top", "20"]
OPTIONS = ["--model", "wordllama", *TOKENS, "--bm25", "--recall", "0.7"]


def write_words(folder):
    """A BEIR folder of texts of drawn words."""
    task, _ = textual(24, 60)
    (folder / "qrels").mkdir(parents=True)
    for name, ids, texts in (
        ("queries", task.query_ids, task.query_texts),
        ("corpus", task.document_ids, task.document_texts),
    ):
        lines = [json.dumps({"_id": one, "text": text}) for one, text in zip(ids, texts, strict=True)]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    pairs = zip(task.judgments.queries.tolist(), task.judgments.documents.tolist(), strict=True)
    judged = [f"{task.query_ids[q]}\t{task.document_ids[d]}\t1" for q, d in pairs]
    (folder / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *judged]) + "\n")
    return folder


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """The folder in which the command ran, and how it ended."""
    folder = tmp_path_factory.mktemp("tokens")
    write_words(folder / "words")
    return folder, run("audit", "words", *OPTIONS, "--out", "page.html", cwd=folder)


@pytest.mark.slow
def test_the_command_tells_how_the_best_other_system_stands_to_the_choice(audited):
    _, done = audited
    assert done.returncode == 0, done.stderr
    printed = " ".join(done.stdout.split())
    assert "Beside other systems: - The best of 6 rows that no vector index serves" in printed
    assert "Show what" in printed


def test_the_page_has_a_row_each_and_draws_what_token_lengths_are_worth(audited, browser):  # noqa: F811
    folder, _ = audited
    page, messages = opened(browser, folder / "page.html")
    marks = dict(page.evaluate(MARKS))
    assert marks["token-length"] == 1 + 2  # one point and its line, and the line at zero
    assert marks["cut"] > 0
    assert messages == []
    rows = page.evaluate("[...document.querySelectorAll('#forest tbody tr')].map(row => row.cells[0].textContent)")
    assert {"wrd †", "wrd(uniform) †", "maxsim †", "bm25 †", "bm25 + cosine (ranks) †"} <= set(rows)
    worth = page.evaluate("[...document.querySelectorAll('#token-length td')].map(cell => cell.textContent)")
    assert worth[:2] == ["wrd", "wrd(uniform)"]
    heads = page.evaluate("[...document.querySelectorAll('main h2')].map(head => head.textContent)")
    named = page.evaluate("[...document.querySelectorAll('nav a')].map(link => link.textContent)")
    assert named == [head for head in heads if head in named]  # the contents are in the order of the page
    page.close()


def test_what_the_page_says_is_the_difference_of_the_two_rows(audited):
    folder, _ = audited
    task, vectors = osp.load_embedded(folder / "words", model="wordllama", vectors=folder / "vectors")
    table = osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows("wrd(length), wrd(uniform)", "wordllama", top=20)])
    rows = {row.name: row for row in table.lists}
    contrast = rows["wrd"].contrast
    assert rows["wrd(uniform)"].contrast is None
    assert contrast.gain == pytest.approx(rows["wrd"].value - rows["wrd(uniform)"].value)
    assert contrast.low <= contrast.gain <= contrast.high
    assert f"{contrast.gain:+.4f} [" in (folder / "page.html").read_text()
    assert rows["wrd"].to_json()["without_length"]["without"] == "wrd(uniform)"
