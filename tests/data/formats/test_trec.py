"""TREC files: topics, qrels, and whatever names the documents."""

from __future__ import annotations

import pytest

from offsphere.base.errors import DataError
from offsphere.data import load_task

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


def test_topics_of_the_split_are_read(tmp_path):
    (tmp_path / "topics.dev.tsv").write_text("q1\tfor dev\n")
    (tmp_path / "topics.test.tsv").write_text("q3\tfor test\n")
    (tmp_path / "qrels.dev.tsv").write_text("q1\t0\td1\t1\n")
    (tmp_path / "qrels.test.tsv").write_text("q3\t0\td1\t1\n")
    (tmp_path / "documents.ids").write_text("d1\n")
    assert list(load_task(tmp_path, "test").query_texts) == ["for test"]
    assert list(load_task(tmp_path, "dev").query_texts) == ["for dev"]
