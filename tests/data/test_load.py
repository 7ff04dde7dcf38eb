"""The door to all formats: what is refused, and the real sets."""

from __future__ import annotations

import json

import pytest

from offsphere.base.errors import DataError, NoSuchSplitError
from offsphere.data import RankingTask, load, load_task
from offsphere.data.formats.format import Format
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment
from tests.data.formats.test_beir import write_beir
from tests.processes import run_command


def test_a_folder_of_something_else_is_refused_with_what_is_read(tmp_path):
    with pytest.raises(DataError, match="none of the layouts offsphere reads: a BEIR folder"):
        load_task(tmp_path)
    with pytest.raises(DataError, match="does not exist"):
        load_task(tmp_path / "nowhere")


def test_a_file_has_no_splits(tmp_path):
    (tmp_path / "qrels.tsv").write_text("q0\td0\t1\n")
    with pytest.raises(DataError, match="is one file and has no split 'dev'"):
        load_task(tmp_path / "qrels.tsv", "dev")


def test_names_and_folders_that_are_no_files_are_one_line(tmp_path):
    with pytest.raises(DataError, match="cannot be read: File name too long"):
        load_task("x" * 300)
    folder = write_beir(tmp_path)
    (folder / "queries.jsonl").unlink()
    (folder / "topics").write_text("q0\ttext\n")
    (folder / "qrels" / "test.tsv").unlink()
    (folder / "qrels" / "test.tsv").mkdir()
    with pytest.raises(DataError, match="is a folder, not a file"):
        load_task(folder)


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


def test_info_of_a_real_set(real_data):
    info = json.loads(run_command("data", "info", real_data / "cisi", "--json").stdout)
    assert (info["queries"], info["documents"]) == (76, 1460)
    assert info["query_words_mean"] > 20


def test_a_format_is_its_own_file_and_a_line_in_the_list(tmp_path, monkeypatch):
    """A file of lines, each of which is asked for by its first word."""

    def load_lines(source):
        lines = source.path.read_text().splitlines()
        documents = ItemList([f"line {row}" for row in range(len(lines))], lines)
        queries = ItemList(documents.ids, [line.split()[0] for line in lines])
        return RankingTask.build("lines", queries, documents, [Judgment(name, name, 1.0) for name in documents.ids])

    lines = Format("lines of text (.lines)", lambda path: path.suffix == ".lines", load_lines)
    monkeypatch.setattr(load, "FORMATS", (lines, *load.FORMATS))
    (tmp_path / "poem.lines").write_text("roses are red\nviolets are blue\n")
    assert list(load_task(tmp_path / "poem.lines").query_texts) == ["roses", "violets"]
    with pytest.raises(
        DataError, match=r"none of the layouts offsphere reads: lines of text \(\.lines\), a BEIR folder"
    ):
        load_task(tmp_path)


@pytest.mark.parametrize(
    ("names", "content"),
    [
        (("one.tsv", "two.tsv"), "score\tsentence1\tsentence2\n1\ta\tb\n2\tc\td\n3\te\tf\n"),
        (("one.jsonl", "two.jsonl"), '{"anchor": "a", "positive": "b"}\n'),
        (("qrels.one.tsv", "qrels.two.tsv"), "q\td\t1\n"),
    ],
)
def test_every_format_chooses_its_split_in_the_same_way(tmp_path, names, content):
    (tmp_path / "documents.ids").write_text("d\n")
    for name in names:
        (tmp_path / name).write_text(content)
    with pytest.raises(NoSuchSplitError, match="has no split 'three': there are one, two"):
        load_task(tmp_path, "three")
    with pytest.raises(DataError, match="has the splits one, two: choose one with --split"):
        load_task(tmp_path)
    assert load_task(tmp_path, "two").split == "two"
    (tmp_path / names[0].replace("one", "dev")).write_text(content)
    assert load_task(tmp_path).split == "dev"
    (tmp_path / names[0].replace("one", "test")).write_text(content)
    assert load_task(tmp_path).split == "test"
