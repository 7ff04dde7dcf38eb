from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from offsphere import load_task
from offsphere.base.errors import DataError

DOCUMENTS = [{"_id": f"d{row}", "title": f"title {row}", "text": f"text of {row}"} for row in range(12)]


def write_part(path, rows):
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(lines))
    elif path.suffix == ".zst":
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(lines)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_bytes(lines)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td11\t1\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "which?"}\n')
    return tmp_path


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_parts_are_read_as_the_one_file_they_were_cut_from(folder, ending):
    for number, start in enumerate(range(0, 12, 4), 9):
        write_part(folder / f"corpus-{number}.{ending}", DOCUMENTS[start : start + 4])
    parts = load_task(folder)
    write_part(folder / "corpus.jsonl", DOCUMENTS)
    whole = load_task(folder)
    assert parts.document_ids == whole.document_ids == [f"d{row}" for row in range(12)]
    assert parts.document_texts == whole.document_texts
    assert parts.digest() == whole.digest()


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst", "parquet"])
def test_one_packed_file_is_a_corpus_too(folder, ending):
    write_part(folder / f"corpus.{ending}", DOCUMENTS)
    assert load_task(folder).document_texts[3] == "title 3 text of 3"


def test_a_corpus_of_parts_alone_asks_with_its_titles(tmp_path):
    long = ["words", "enough", "to", "be", "asked", "for", "by", "a", "title", "that", "is", "long", "enough"]
    rows = [
        {"_id": f"d{row}", "title": f"this is title {row}", "text": " ".join(word * (row + 1) for word in long)}
        for row in range(8)
    ]
    write_part(tmp_path / "corpus-1-of-2.jsonl.gz", rows[:4])
    write_part(tmp_path / "corpus-2-of-2.parquet", rows[4:])
    assert load_task(tmp_path).units == 8


def test_what_is_wrong_is_told_with_its_part_and_line(folder):
    write_part(folder / "corpus-1-of-3.jsonl.gz", DOCUMENTS[:4])
    write_part(folder / "corpus-3-of-3.jsonl.gz", DOCUMENTS[8:])
    with pytest.raises(DataError, match=r"lacks corpus-2-of-3\.jsonl\.gz"):
        load_task(folder)
    write_part(folder / "corpus-2-of-3.jsonl.gz", [DOCUMENTS[4], {"_id": "d5"}])
    with pytest.raises(DataError, match=r"corpus-2-of-3\.jsonl\.gz:2: there is neither a text nor a title"):
        load_task(folder)
    write_part(folder / "corpus-2-of-3.jsonl.gz", DOCUMENTS[3:8])
    with pytest.raises(DataError, match="document id 'd3' stands there 2 times"):
        load_task(folder)
    (folder / "corpus-2-of-3.jsonl.gz").unlink()
    write_part(folder / "corpus-2-of-3.parquet", [*DOCUMENTS[4:7], {"title": "no id"}])
    with pytest.raises(DataError, match=r"corpus-2-of-3\.parquet, row 3: there is no _id"):
        load_task(folder)


@pytest.mark.parametrize("ending", ["jsonl.gz", "jsonl.zst"])
def test_a_packed_file_that_is_cut_off_or_none_is_one_line(folder, ending):
    path = folder / f"corpus.{ending}"
    write_part(path, [row | {"text": row["text"] * 999} for row in DOCUMENTS])
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"no packed file at all", content[:1] + b"\0" + content[2:]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=rf"corpus\.{ending} is truncated or not a text file"):
            load_task(folder)
