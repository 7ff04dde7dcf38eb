"""Data that is not what it should be, in every format: refused in one line, and never half understood."""

from __future__ import annotations

import json
import os
import sys

import pytest

from offsphere.base.errors import DataError
from offsphere.data import load_task
from offsphere.data.formats.docstrings import read_package

DEEP = b"[" * 100_000
LONE = b"\xed\xa0\x80"  # half a character, as UTF-8 must not write it


def write_beir(folder, corpus=None, qrels=b"q1\td1\t1\nq2\td2\t1\n"):
    documents = b"".join(b'{"_id": "d%d", "text": "text"}\n' % number for number in range(4))
    (folder / "corpus.jsonl").write_bytes(documents if corpus is None else corpus)
    (folder / "queries.jsonl").write_bytes(b'{"_id": "q1", "text": "a"}\n{"_id": "q2", "text": "b"}\n')
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_bytes(qrels)
    return folder


def refused(path, match, *rest):
    with pytest.raises(DataError, match=match) as caught:
        load_task(path, *rest)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2_500


@pytest.mark.parametrize(
    ("qrels", "match"),
    [
        (b"q1\td1\tnan\n", "grade 'nan' is not finite"),
        (b"q1\td1\tinf\n", "grade 'inf' is not finite"),
        (b"q1\td1\t1e400\n", "is not finite"),
        (b"q1\td1\t1e300\n", "is too large"),
        (b"q1\td1\t1_0\n", "is not a number"),
        ("q1\td1\t１\n".encode(), "is not a number"),
        (b"q1\td1\t0x1\n", "is not a number"),
        (b"q1\td1\t\n", "is not a number"),
        (b"\td1\t1\n", "unknown query ''"),
        (b"q1\t\t1\n", "unknown document ''"),
        (b"q1\td1\t1\nq1\td1\t2\n", "judged 1 and 2"),
        (b"q1\td1\n", "2 fields"),
        (b"q1\t0\td1\t1\tx\n", "5 fields"),
        (b"q1" + LONE + b"\td1\t1\n", "is not UTF-8 text"),
        (b"", "no query has a relevant document"),
    ],
)
def test_judgments(tmp_path, qrels, match):
    refused(write_beir(tmp_path, qrels=qrels), match)


@pytest.mark.parametrize(
    ("line", "match"),
    [
        (rb'{"_id": "d\t1", "text": "x"}', "holds a tab or a line end"),
        (rb'{"_id": "d\n1", "text": "x"}', "holds a tab or a line end"),
        (rb'{"_id": "d\u0000", "text": "x"}', "holds a tab or a line end"),
        (b'{"_id": "", "text": "x"}', "has an empty id"),
        (b'{"_id": "d1", "text": "x"}\n{"_id": "d1", "text": "y"}', "stands there 2 times"),
        (b'{"_id": 1, "text": "x"}\n{"_id": "1", "text": "y"}', "stands there 2 times"),
        (b'{"_id": 1.5, "text": "x"}', "ids are texts or whole numbers"),
        (b'{"_id": true, "text": "x"}', "ids are texts or whole numbers"),
        (b'{"_id": ' + b"9" * 5_000 + b', "text": "x"}', "not JSON"),
        (b'{"_id": "d1", "text": 5}', "a text is of type int"),
        (b'{"_id": "d1"}', "neither a text nor a title"),
        (b'{"_id": "d1", "text": "x", "text": "y"}', "1: an object has the name 'text' twice: keep one of them"),
        (b'{"_id": "d1", "text": "x", "more": [{"a": 1, "b": 2, "a": 1}]}', "has the name 'a' twice"),
        (b'{"_id": "d1", "' + b"x" * 9_999 + b'": 1, "' + b"x" * 9_999 + b'": 1}', "has the name 'xxx.*twice"),
        (rb'{"_id": "d\ud800", "text": "x"}', "lone surrogate"),
        (rb'{"_id": "d1", "text": "\udc00"}', "lone surrogate"),
        (DEEP, "nested too deep"),
        (b'{"a": ' * 100_000, "nested too deep"),
        (b"[1]", "expected a JSON object"),
        ('{"_id": "d1", "text": "x"}'.encode("utf-16"), "is not UTF-8 text"),
        (b"", "the corpus is empty"),
    ],
)
def test_documents(tmp_path, line, match):
    refused(write_beir(tmp_path, corpus=line + b"\n"), match)


def replaced_by_folder(path):
    path.unlink()
    path.mkdir()


def test_a_folder_where_a_file_should_be_and_the_reverse(tmp_path):
    folder = write_beir(tmp_path)
    (folder / "made.json").mkdir()
    refused(folder, "made.json is a folder, not a file")
    (folder / "made.json").rmdir()
    replaced_by_folder(folder / "qrels" / "test.tsv")
    refused(folder, "test.tsv is a folder, not a file")
    replaced_by_folder(folder / "corpus.jsonl")
    refused(folder, "folder")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    folder = write_beir(tmp_path)
    (folder / "qrels" / "test.tsv").unlink()
    os.mkfifo(folder / "qrels" / "test.tsv")
    refused(folder, "is not a regular file")
    refused("/dev/zero", "does not exist")


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("x" * 300, "File name too long"),
        ("é" * 200, "File name too long"),
        ("/".join(["x" * 200] * 30), "File name too long"),
        ("a\0b", "no name of a file|does not exist"),
        ("a\ud800b", "no name of a file|does not exist"),
    ],
)
def test_names_that_no_file_can_have(tmp_path, name, match):
    refused(f"{tmp_path}/{name}", match)


@pytest.mark.parametrize("split", ["x" * 300, "../../secret", "a\0b", ""])
def test_splits_that_are_not_there(tmp_path, split):
    refused(write_beir(tmp_path), "has no split", split)


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (b"nan\ta\tb\n", "score 'nan' is not finite"),
        (b"-inf\ta\tb\n", "is not finite"),
        (b"1e308\ta\tb\n-1e308\ta\tc\n1\ta\td\n", "is too large"),
        (b"1\ta\n", "2 fields, the header has 3"),
        (b"1\ta\tb\n", "too few"),
        (b"1\ta\tb\n1\ta\tc\n1\ta\td\n", "all gold scores are 1"),
        (b"1\t" + LONE + b"\tb\n", "is not UTF-8 text"),
    ],
)
def test_scored_pairs(tmp_path, rows, match):
    (tmp_path / "t.tsv").write_bytes(b"score\tsentence1\tsentence2\n" + rows)
    refused(tmp_path / "t.tsv", match)


def test_a_column_that_stands_there_twice(tmp_path):
    (tmp_path / "t.tsv").write_text("score\tscore\tsentence1\tsentence2\n1\t2\ta\tb\n2\t1\tc\td\n3\t0\te\tf\n")
    refused(tmp_path / "t.tsv", "2 columns are called 'score': keep one")
    (tmp_path / "p.csv").write_text("query,positive,positive\na,b,c\n")
    refused(tmp_path / "p.csv", "2 columns are called 'positive': keep one")


@pytest.mark.parametrize(
    ("line", "match"),
    [
        (b'{"anchor": null, "positive": "x"}', "a text is of type NoneType"),
        (b'{"anchor": 1, "positive": "x"}', "a text is of type int"),
        (b'{"anchor": "a", "positive": "x", "negative": {"a": 1}}', "a text is of type dict"),
        (b'{"anchor": "a", "positive": "x", "negatives": [["y"]]}', "a text is of type list"),
        (rb'{"anchor": "\ud800", "positive": "x"}', "lone surrogate"),
        (b'{"anchor": "a"}', "expected a query"),
        (DEEP, "nested too deep"),
        (b"", "is empty"),
    ],
)
def test_text_pairs(tmp_path, line, match):
    (tmp_path / "p.jsonl").write_bytes(line)
    refused(tmp_path / "p.jsonl", match)


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("topics.txt", b"<top><title> x</top>", "topic 1 has no <num>"),
        ("topics.txt", b"301\ta\n301\tb\n", "stands there 2 times"),
        ("collection.tsv", b"d1\n", "expected an id, a tab and a text"),
        ("collection.tsv", b"d1\ta\nd1\tb\n", "stands there 2 times"),
        ("collection.tsv", b"\ta\nd1\tx\nd2\ty\n", "has an empty id"),
        ("collection.tsv", b"d1\t" + LONE + b"\n", "is not UTF-8 text"),
        ("qrels.txt", b"301 0 d1 nan\n", "is not finite"),
        ("qrels.txt", b"301 d1\n", "2 fields"),
    ],
)
def test_trec_files(tmp_path, name, content, match):
    files = {"topics.txt": b"301\twhat\n302\twho\n", "collection.tsv": b"d1\ta\nd2\tb\n", "qrels.txt": b"301 0 d1 1\n"}
    for file, usual in {**files, name: content}.items():
        (tmp_path / file).write_bytes(usual if file != name else content)
    refused(tmp_path, match)


@pytest.mark.parametrize(
    ("ids", "match"), [(b"d1\nd1\n", "stands there 2 times"), (b"d1\n" + LONE, "is not UTF-8"), (b"", "d1|empty|no ")]
)
def test_ids_beside_judgments(tmp_path, ids, match):
    (tmp_path / "qrels.tsv").write_bytes(b"q1\td1\t1\n")
    (tmp_path / "documents.ids").write_bytes(ids)
    refused(tmp_path, match)


def test_sources_that_cannot_be_parsed_are_skipped(tmp_path, monkeypatch):
    package = tmp_path / "hostile_sources"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "deep.py").write_text("x = " + "(" * 5_000 + ")" * 5_000)
    (package / "nul.py").write_bytes(b"x = 1\x00")
    (package / "half.py").write_bytes(b"def f():\n    '''a\xed\xa0\x80'''\n")
    (package / "good.py").write_text('def wanted():\n    """What it does.\n\n    And how.\n    """\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert [item.id for item in read_package("hostile_sources")] == ["hostile_sources.good:wanted"]
    for name in ("no such", "..", "", "a\0b"):
        with pytest.raises(DataError, match="there is no installed package"):
            list(read_package(name))


def test_a_file_of_how_judgments_were_made_says_so_in_a_text(tmp_path):
    folder = write_beir(tmp_path)
    for content in ({"made": 5}, {}, []):
        (folder / "made.json").write_text(json.dumps(content))
        refused(folder, "expected a")
