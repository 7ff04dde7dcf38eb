from __future__ import annotations

import json

import numpy as np
import pytest

from offsphere.base.errors import DataError
from offsphere.data import PairTask, RankingTask, load_task


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


def test_four_columns_are_read_too(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0 0 d1 1", "q2 0 d3 1"], header=""))
    assert len(task.query_ids) == 2


def test_queries_with_nothing_to_find_are_left_out_and_counted(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0\td1\t1", "q1\td1\t0"]))
    assert list(task.query_ids) == ["q0"]
    assert task.left_out == 1
    with pytest.raises(DataError, match="no query has a relevant document"):
        load_task(write_beir(tmp_path, ["q1\td1\t0"]))


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
    with pytest.raises(DataError, match=r"corpus\.jsonl:2: not a JSON object"):
        load_task(folder)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "text": ["a", "list"]}')
    with pytest.raises(DataError, match=r"corpus\.jsonl:1: a text is of type list"):
        load_task(folder)
    (folder / "corpus.jsonl").write_text("\n")
    with pytest.raises(DataError, match="the corpus is empty"):
        load_task(folder)


SGML = """<top>
<num> Number: 301
<title> International Organized
 Crime

<desc> Description:
Identify organizations.
</top>

<top>
<num> Number: 302
<title> Poliomyelitis
</top>
"""


@pytest.mark.parametrize("topics", [SGML, "301\tInternational Organized Crime\n302\tPoliomyelitis\n"])
def test_trec_files(tmp_path, topics):
    (tmp_path / "topics.txt").write_text(topics)
    (tmp_path / "qrels.txt").write_text("301 0 FT-1 1\n301 0 FT-2 0\n302 0 FT-2 2\n")
    with pytest.raises(DataError, match="lists no documents"):
        load_task(tmp_path)
    (tmp_path / "documents.ids").write_text("FT-1\nFT-2\n")
    task = load_task(tmp_path)
    assert list(task.query_ids) == ["301", "302"]
    assert list(task.query_texts) == ["International Organized Crime", "Poliomyelitis"]
    assert task.document_texts is None
    (tmp_path / "collection.tsv").write_text("FT-1\tone text\nFT-2\tanother\n")
    assert list(load_task(tmp_path).document_texts) == ["one text", "another"]


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


def test_judgments_alone_take_their_ids_from_the_vectors(tmp_path):
    (tmp_path / "qrels.tsv").write_text("a\tx\t1\nb\ty\t1\n")
    with pytest.raises(DataError, match="nothing names the documents"):
        load_task(tmp_path)
    np.savez(tmp_path / "documents.npz", vectors=np.ones((3, 2), np.float32), ids=np.array(["x", "y", "z"]))
    task = load_task(tmp_path)
    assert list(task.document_ids) == ["x", "y", "z"]
    assert list(task.query_ids) == ["a", "b"]


def test_a_folder_of_something_else_is_refused_with_what_is_read(tmp_path):
    with pytest.raises(DataError, match="none of the layouts offsphere reads: a BEIR folder"):
        load_task(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        load_task(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "queries", "documents", "relevant"),
    [("scifact", 300, 5183, 339), ("cranfield", 225, 1400, 1612), ("cisi", 76, 1460, 3114), ("xquad", 1190, 240, 1190)],
)
def test_the_real_sets_have_their_published_counts(real_data, name, queries, documents, relevant):
    task = load_task(real_data / name)
    assert len(task.document_ids) == documents
    assert len(task.query_ids) + task.left_out == queries
    assert task.judgments.relevant.sum() == relevant


def test_stsb_has_its_published_counts(real_data):
    assert len(load_task(real_data / "stsb").gold) == 1379
    assert len(load_task(real_data / "stsb", "dev").gold) == 1500
    assert len(load_task(real_data / "stsb" / "train.tsv").gold) == 5749


def test_a_mistyped_grade_on_the_first_line_is_no_header(tmp_path):
    with pytest.raises(DataError, match=r"test\.tsv:1: grade 'O' is not a number"):
        load_task(write_beir(tmp_path, ["q0\td0\tO", "q2\td3\t1"], header=""))


def test_queries_that_lose_all_judgments_are_counted(tmp_path):
    task = load_task(write_beir(tmp_path, ["q0\td1\t1", "q1\td9\t1"]), ignore_missing=True)
    assert (list(task.query_ids), task.left_out, task.ignored) == (["q0"], 1, 1)


def test_topics_of_the_split_are_read(tmp_path):
    (tmp_path / "topics.dev.tsv").write_text("q1\tfor dev\n")
    (tmp_path / "topics.test.tsv").write_text("q3\tfor test\n")
    (tmp_path / "qrels.dev.tsv").write_text("q1\t0\td1\t1\n")
    (tmp_path / "qrels.test.tsv").write_text("q3\t0\td1\t1\n")
    (tmp_path / "documents.ids").write_text("d1\n")
    assert list(load_task(tmp_path, "test").query_texts) == ["for test"]
    assert list(load_task(tmp_path, "dev").query_texts) == ["for dev"]


def test_a_file_has_no_splits(tmp_path):
    (tmp_path / "qrels.tsv").write_text("q0\td0\t1\n")
    with pytest.raises(DataError, match="is one file and has no split 'dev'"):
        load_task(tmp_path / "qrels.tsv", "dev")


def test_names_and_folders_that_are_no_files_are_one_line(tmp_path):
    with pytest.raises(DataError, match="is no name of a file"):
        load_task("x" * 300)
    folder = write_beir(tmp_path)
    (folder / "queries.jsonl").unlink()
    (folder / "topics").write_text("q0\ttext\n")
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.tsv").mkdir()
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        load_task(folder)


def test_judgments_with_a_header_are_no_text_pairs(tmp_path):
    (tmp_path / "documents.ids").write_text("a\nb\nc\n")
    (tmp_path / "qrels.tsv").write_text("query\tdocument\tgrade\nq1\ta\t1\nq1\tb\t0\n")
    for place in (tmp_path, tmp_path / "qrels.tsv"):
        task = load_task(place)
        assert list(task.document_ids) == ["a", "b", "c"]
        assert task.judgments.grades.tolist() == [1, 0]


def test_text_pairs_are_a_ranking(tmp_path):
    """The same text is the same query or document; negatives are judged; columns have several names."""
    rows = [
        '{"query": "q1", "answer": "a", "negative": "b"}',
        '{"query": "q1", "answer": "c", "negatives": ["a", "d"]}',
        '{"query": "q2", "answer": "a"}',
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(rows))
    task = load_task(tmp_path, "train")
    assert task.query_texts == ["q1", "q2"]
    assert task.document_texts == ["a", "b", "c", "d"]
    found = {
        (task.query_texts[q], task.document_texts[d]): grade
        for q, d, grade in zip(task.judgments.queries, task.judgments.documents, task.judgments.grades, strict=True)
    }
    assert found == {("q1", "a"): 1, ("q1", "b"): 0, ("q1", "c"): 1, ("q1", "d"): 0, ("q2", "a"): 1}
