"""A folder of texts, as people have one: every file a document."""

from __future__ import annotations

import pytest

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.data.formats.known_items import MADE_FROM_SENTENCES

REST = "It goes on for more than ten words, so that there is something left to be found."


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_bytes(b"\xff no text")
    return tmp_path


def test_the_first_sentence_of_each_file_asks_for_the_rest(folder):
    (folder / "wings.txt").write_text(f"Wings flutter in the flow. {REST}")
    (folder / "deep" / "tax.txt").write_text(f"Taxes rose again in May! {REST} And once more, for taxes are many.")
    task = osp.load_task(folder)
    assert task.document_ids == ["deep/tax.txt", "wings.txt"]
    assert [query.partition(" ")[0] for query in task.query_texts] == ["Taxes", "Wings"]
    assert task.document_texts[1] == REST
    assert task.made == MADE_FROM_SENTENCES


def test_titles_ask_where_files_have_them(folder):
    (folder / "a.md").write_text(f"# How wings flutter\n\n{REST}")
    (folder / "b.md").write_bytes(f"Taxes of this May\r\n=====\r\n\r\nThey rose. {REST}".encode())
    task = osp.load_task(folder)
    assert list(task.query_texts) == ["How wings flutter", "Taxes of this May"]
    assert task.document_texts[1] == f"They rose. {REST}"


def test_a_folder_with_anything_else_is_not_taken_for_texts(folder):
    for name in ("a.txt", "b.txt", "program.bin"):
        (folder / name).write_text(f"Wings flutter in the flow. {REST}")
    with pytest.raises(DataError, match=r"a folder of texts \(\.txt, \.md or \.rst, and nothing else\)"):
        osp.load_task(folder)


def test_a_file_that_is_no_text_is_named(folder):
    (folder / "a.txt").write_text(f"Wings flutter in the flow. {REST}")
    (folder / "b.txt").write_bytes(b"caf\xe9")
    with pytest.raises(DataError, match=r"b\.txt is not UTF-8 text"):
        osp.load_task(folder)
