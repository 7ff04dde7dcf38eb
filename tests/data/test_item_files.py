"""Queries written out: somebody embeds them elsewhere, and comes back with vectors that are known by their ids."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError
from offsphere.data.item_files import write_items
from tests.processes import run_command

WORDS = [f"word{n}" for n in range(60)]


def write_corpus(folder, documents=80, seed=0):
    """Documents alone: a title of three words, and a text that has them among others."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number in range(documents):
        title = rng.choice(WORDS, 3, replace=False)
        text = " ".join(rng.permutation([*title, *title, *rng.choice(WORDS, 12)]))
        lines.append(json.dumps({"_id": f"d{number}", "title": " ".join(title), "text": text}) + "\n")
    (folder / "corpus.jsonl").write_text("".join(lines))
    return folder


def lines_of(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def closed_service(texts):
    """A model that nobody but its owner has: a random vector a word, added up."""
    rows = []
    for text in texts:
        words = [np.random.default_rng(zlib.crc32(word.encode())).standard_normal(24) for word in text.split()]
        rows.append(np.sum(words, axis=0))
    return np.array(rows, np.float32)


def test_made_queries_are_those_of_the_task_with_their_judgments_beside(tmp_path):
    task = osp.load_task(write_corpus(tmp_path / "corpus"))
    files = write_items(task, tmp_path / "out" / "queries.jsonl", tmp_path / "out" / "documents.jsonl")
    assert [(file.what, file.rows) for file in files] == [
        ("queries", task.units), ("documents", len(task.document_ids)), ("judgments", task.units)
    ]  # fmt: skip
    given = {entry["_id"]: entry for entry in lines_of(tmp_path / "corpus" / "corpus.jsonl")}
    written = lines_of(tmp_path / "out" / "queries.jsonl")
    assert [entry["_id"] for entry in written] == list(task.query_ids)
    assert all(entry["text"] == given[entry["_id"]]["title"] for entry in written)
    assert all(entry["text"] == given[entry["_id"]]["text"] for entry in lines_of(tmp_path / "out" / "documents.jsonl"))
    judged = (tmp_path / "out" / "qrels.tsv").read_text().splitlines()[1:]
    assert judged == [f"{name}\t{name}\t1" for name in task.query_ids]


def test_given_queries_are_written_without_judgments(tmp_path):
    task = osp.RankingTask.from_judgments({"q": {"d": 1}}, ["d", "e"])
    with pytest.raises(DataError, match="has no texts, only vectors or ids: there is nothing to write out"):
        write_items(task, tmp_path / "queries.jsonl")
    from offsphere.data.items import ItemList
    from offsphere.data.judgments import Judgment

    queries, documents = ItemList(["q"], ["what é\n?"]), ItemList(["d"], ["a text"])
    task = osp.RankingTask.build("small", queries, documents, [Judgment("q", "d", 1.0)])
    assert [file.what for file in write_items(task, tmp_path / "queries.jsonl")] == ["queries"]
    assert lines_of(tmp_path / "queries.jsonl") == [{"_id": "q", "text": "what é\n?"}]
    assert [path.name for path in tmp_path.iterdir()] == ["queries.jsonl"]


def test_pairs_write_the_left_side_and_the_right_by_number(tmp_path):
    (tmp_path / "pairs.csv").write_text("score,sentence1,sentence2\n5,a cat,a kitten\n2,a cat,a dog\n0,a cat,a tax\n")
    task = osp.load_task(tmp_path / "pairs.csv")
    files = write_items(task, tmp_path / "left.jsonl", tmp_path / "right.jsonl")
    assert [(file.what, file.rows) for file in files] == [("left", 3), ("right", 3)]
    assert lines_of(tmp_path / "right.jsonl")[1] == {"_id": "1", "text": "a dog"}


def test_nothing_is_overwritten_unless_it_is_said(tmp_path):
    task = osp.load_task(write_corpus(tmp_path / "corpus"))
    out = tmp_path / "out" / "queries.jsonl"
    write_items(task, out)
    before = out.stat().st_mtime_ns
    write_items(task, out)  # the same again is no work
    assert out.stat().st_mtime_ns == before
    (tmp_path / "out" / "qrels.tsv").write_text("mine")
    out.unlink()
    with pytest.raises(DataError, match=r"qrels\.tsv holds something else: .* or replace it with --replace"):
        write_items(task, out)
    assert not out.exists()  # refused before anything was written
    write_items(task, out, replace=True)
    assert (tmp_path / "out" / "qrels.tsv").read_text() != "mine"
    with pytest.raises(ParameterError, match="is to hold two things"):
        write_items(task, out, out)


def test_made_queries_do_not_turn_a_corpus_into_a_judged_task(tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    with pytest.raises(DataError, match=r"would lie beside corpus\.jsonl, and the folder be taken for one with judged"):
        write_items(osp.load_task(corpus), corpus / "queries.jsonl")
    assert [path.name for path in corpus.iterdir()] == ["corpus.jsonl"]


@pytest.mark.slow
def test_queries_written_embedded_elsewhere_and_imported_are_audited(tmp_path):
    write_corpus(tmp_path / "corpus")
    told = run_command(
        "data", "queries", "corpus", "--out", "out/queries.jsonl", "--documents", "out/documents.jsonl", cwd=tmp_path
    )
    assert told.returncode == 0, told.stderr
    for side in ("queries", "documents"):
        entries = lines_of(tmp_path / "out" / f"{side}.jsonl")[::-1]  # who embeds them elsewhere keeps no order
        vectors = closed_service([entry["text"] for entry in entries])
        rows = [
            f"{entry['_id']},{','.join(map(repr, row))}\n" for entry, row in zip(entries, vectors.tolist(), strict=True)
        ]
        header = ",".join(["id", *(f"x{n}" for n in range(vectors.shape[1]))])
        (tmp_path / f"{side}.csv").write_text(f"{header}\n{''.join(rows)}")
        told = run_command("data", "import", f"{side}.csv", f"vectors/{side}", "--model", "closed", cwd=tmp_path)
        assert told.returncode == 0, told.stderr
    audit = ("audit", "corpus", "--vectors", "vectors", "--format", "json", "--out", "audit.json")
    told = run_command(*audit, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    task = osp.load_task(tmp_path / "corpus")
    queries, documents = (closed_service(texts) for texts in (task.query_texts, task.document_texts))
    scores = queries @ (documents / np.linalg.norm(documents, axis=1, keepdims=True)).T
    own = [list(task.document_ids).index(name) for name in task.query_ids]
    ranks = 1 + (scores > scores[np.arange(len(own)), own][:, None]).sum(axis=1)
    ndcg = np.where(ranks <= 10, 1 / np.log2(ranks + 1), 0).mean()  # with one relevant document a query
    report = json.loads((tmp_path / "audit.json").read_text())
    (cosine,) = [row for row in report["comparison"]["scorers"] if row["name"] == "cosine"]
    assert cosine["value"] == pytest.approx(ndcg, abs=1e-6)
    assert "each title asks for its own text" in json.dumps(report)


def test_judgments_that_were_made_stay_known_as_made_without_the_corpus(tmp_path):
    task = osp.load_task(write_corpus(tmp_path / "corpus"))
    write_items(task, tmp_path / "out" / "queries.jsonl")
    np.savez(tmp_path / "out" / "documents.npz", vectors=np.eye(80, dtype=np.float32), ids=np.array(task.document_ids))
    again = osp.load_task(tmp_path / "out")
    assert again.made == task.made == "each title asks for its own text"
    assert list(again.query_ids) == list(task.query_ids)
