"""Work over shards reads what it needs, once: packed parts are unpacked group by group, stores compared row by row."""

from __future__ import annotations

import json
from collections import Counter
from zlib import crc32

import numpy as np
import pyarrow.parquet as pq
import pytest

import offsphere as osp
from offsphere import CompareOptions, LocalRunner, compare, compare_shards, measure_shards
from offsphere.base.errors import DataError
from offsphere.data.vector_files import read_vectors, take_rows
from offsphere.encode.embedding import embed
from offsphere.encode.function import FunctionEncoder
from tests.runners.corpora import GROUP, SCORERS, Backwards, write_corpus

OPTIONS = CompareOptions(scorers=list(SCORERS))
DOCUMENTS, PARTS = 9_000, 4


@pytest.fixture
def source(tmp_path):
    return write_corpus(tmp_path / "data", DOCUMENTS, parts=PARTS, kind="parquet")


@pytest.fixture
def unpacked(monkeypatch):
    """How many rows of vectors are unpacked of each group of each file."""
    seen = Counter()
    opened = pq.ParquetFile

    class Watched(opened):
        def __init__(self, path, **how):
            super().__init__(path, **how)
            self.name = str(path)

        def iter_batches(self, batch_size, row_groups=None, columns=None, **how):
            for batch in super().iter_batches(batch_size, row_groups=row_groups, columns=columns, **how):
                if columns == ["embedding"] and row_groups is not None:
                    seen[self.name, *row_groups] += len(batch)
                yield batch

    monkeypatch.setattr(pq, "ParquetFile", Watched)
    return seen


class OnePass(LocalRunner):
    """A runner that notes what was unpacked in each pass."""

    def __init__(self, seen):
        object.__setattr__(self, "seen", seen)
        object.__setattr__(self, "passes", [])

    def run(self, job, pieces):
        self.seen.clear()
        yield from super().run(job, pieces)
        self.passes.append(Counter(self.seen))


def test_every_group_of_packed_parts_is_unpacked_once_a_pass(source, unpacked):
    groups = {}
    for path in (source.vectors / "documents").glob("*.parquet"):
        file = pq.read_metadata(path)
        groups |= {(str(path), number): file.row_group(number).num_rows for number in range(file.num_row_groups)}
    assert len(groups) > 3 * PARTS
    runner = OnePass(unpacked)
    table = compare_shards(source, OPTIONS, shards=5, runner=runner)
    assert [dict(seen) for seen in runner.passes] == [groups, groups]
    runner = OnePass(unpacked)
    measure_shards(source.vectors / "documents", shards=2, runner=runner)
    assert [dict(seen) for seen in runner.passes] == [groups]
    assert table.to_json() == compare(*source.load(), list(SCORERS)).to_json()


def test_a_shard_unpacks_the_groups_of_its_own_rows_alone(source, unpacked):
    file = read_vectors(source.vectors / "documents", lazy=True)
    unpacked.clear()
    rows = take_rows(file, range(3_000, 3_100))
    part = -(-DOCUMENTS // PARTS)
    ((name, group), count) = dict(unpacked).popitem()
    assert (len(unpacked), group, count) == (1, (3_000 - part) // GROUP, GROUP)
    assert name.endswith("00002-of-00004.parquet")
    assert np.array_equal(rows, np.asarray(read_vectors(source.vectors / "documents").vectors)[3_000:3_100])


@pytest.mark.parametrize("kind", ["npy", "safetensors", "parquet"])
def test_parts_of_every_kind_are_measured_and_compared_alike(tmp_path, kind):
    plain = write_corpus(tmp_path / "plain")
    parts = write_corpus(tmp_path / kind, parts=3, kind=kind)
    wanted = compare(*plain.load(), list(SCORERS)).to_json()
    told = compare_shards(parts, OPTIONS, shards=3, runner=Backwards()).to_json()
    for values in (wanted, told):
        values["task"].pop("name", None)
    assert told == wanted


def test_parts_in_another_order_than_the_tasks_are_read_as_one_run_reads_them(tmp_path):
    source = write_corpus(tmp_path / "data", parts=3, kind="parquet")
    folder = tmp_path / "data" / "documents"
    first, last = (folder / f"0000{number}-of-00003.parquet" for number in (1, 3))
    last.rename(folder / "kept")
    first.rename(last)
    (folder / "kept").rename(first)
    listed = [f'{{"_id": "d{row}", "text": "x"}}' for row in range(9_000)]
    (tmp_path / "task" / "qrels").mkdir(parents=True)
    (tmp_path / "task" / "corpus.jsonl").write_text("\n".join(listed))
    (tmp_path / "task" / "queries.jsonl").write_text("\n".join(f'{{"_id": "q{q}", "text": "x"}}' for q in range(20)))
    (tmp_path / "task" / "qrels" / "test.tsv").write_text((tmp_path / "data" / "qrels.tsv").read_text())
    turned = osp.EmbeddedSource(str(tmp_path / "task"), vectors=source.vectors)
    wanted = compare(*turned.load(), list(SCORERS)).to_json()
    assert compare_shards(turned, OPTIONS, shards=3).to_json() == wanted


@pytest.fixture
def stored(tmp_path):
    """A store of more rows than a shard has, and its task."""
    encoder = FunctionEncoder(
        lambda texts: [[crc32(text.encode()) % 97 + 1.0, len(text), crc32(text.encode()) % 7] for text in texts],
        "numbers",
    )
    names = [f"d{row}" for row in range(3_000)]
    judged = {f"q{query}": {f"d{query}": 1} for query in range(9)}
    task = osp.RankingTask.from_judgments(judged, names)
    (tmp_path / "task" / "qrels").mkdir(parents=True)
    write = {"corpus": [(name, name[1:]) for name in names], "queries": [(name, name[1:]) for name in judged]}
    for file, items in write.items():
        lines = [json.dumps({"_id": name, "text": text}) for name, text in items]
        (tmp_path / "task" / f"{file}.jsonl").write_text("\n".join(lines))
    lines = [f"{query}\t0\t{name}\t1" for query, found in judged.items() for name in found]
    (tmp_path / "task" / "qrels" / "test.tsv").write_text("\n".join(lines))
    task = osp.load_task(tmp_path / "task")
    embed(task, encoder, tmp_path / "vectors")
    return osp.EmbeddedSource(str(tmp_path / "task"), vectors=tmp_path / "vectors")


def test_shards_of_one_store_are_compared_with_the_digests_of_their_rows(stored, tmp_path):
    wanted = compare(*stored.load(), list(SCORERS)).to_json()
    assert compare_shards(stored, OPTIONS, shards=3).to_json() == wanted
    assert measure_shards(tmp_path / "vectors" / "documents", shards=2)
    path = tmp_path / "vectors" / "documents" / "vectors.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    for work in (lambda: compare_shards(stored, OPTIONS, shards=3), lambda: measure_shards(path.parent, shards=2)):
        with pytest.raises(DataError, match=r"is damaged: the vector of 'd2999' \(row 2999\) is not the one"):
            work()
