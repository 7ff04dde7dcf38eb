"""What workers get does not grow with the documents: they read rows by number, and neither ids nor texts of others."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere import CompareOptions, EmbeddedSource, LocalRunner, compare, compare_shards, embed_shards, measure_shards
from offsphere.base.errors import DataError, VectorError
from offsphere.encode.embedding import embed
from offsphere.encode.function import FunctionEncoder
from offsphere.runners.shared_source import shared_source
from offsphere.shards.shard_vectors import LocatedTask
from tests.runners.corpora import SCORERS, Sending, write_corpus, write_texts
from tests.runners.test_embed_shards import contents

OPTIONS = CompareOptions(scorers=list(SCORERS))


@pytest.mark.parametrize("kind", ["npy", "parquet", "safetensors"])
def test_workers_read_no_ids_and_their_jobs_do_not_grow(tmp_path, monkeypatch, kind):
    sizes = []
    for documents in (3_000, 12_000):
        source = write_corpus(tmp_path / str(documents), documents, parts=3, kind=kind)
        runner = Sending(monkeypatch)
        table = compare_shards(source, OPTIONS, shards=4, runner=runner)
        assert table.to_json() == compare(*source.load(), list(SCORERS)).to_json()
        path = source.vectors / "documents"
        assert measure_shards(path, shards=3, runner=runner).to_json() == measure_shards(path, shards=3).to_json()
        sizes.append(runner.sizes)
    assert len(sizes[0]) == 3
    for small, large in zip(*sizes, strict=True):
        assert large < small + 200  # numbers with more digits


def test_of_a_store_workers_read_no_ids_either(tmp_path, monkeypatch):
    task = osp.load_task(write_texts(tmp_path / "task", 3_000))
    encoder = FunctionEncoder(lambda texts: [[len(text), text.count("c") + 1.0, 1.0] for text in texts], "letters")
    embed(task, encoder, tmp_path / "vectors")
    source = EmbeddedSource(str(tmp_path / "task"), vectors=tmp_path / "vectors")
    runner = Sending(monkeypatch)
    asked = CompareOptions(scorers=["dot"])
    assert (
        compare_shards(source, asked, shards=2, runner=runner).to_json() == compare(*source.load(), ["dot"]).to_json()
    )
    path = tmp_path / "vectors" / "documents"
    assert measure_shards(path, shards=2, runner=runner).to_json() == measure_shards(path, shards=2).to_json()


def test_a_shard_is_embedded_from_its_own_texts(tmp_path, monkeypatch):
    source = EmbeddedSource(str(write_texts(tmp_path / "data")), "wordllama")
    runner = Sending(monkeypatch)
    embed_shards(source, tmp_path / "sent", shards=3, runner=runner)
    assert runner.sizes[0] < 5_000  # no text of 300 is in the job
    embed_shards(source, tmp_path / "here", shards=3)
    assert contents(tmp_path / "sent") == contents(tmp_path / "here")


def test_rows_in_another_order_are_sent_by_number(tmp_path, monkeypatch):
    source = write_corpus(tmp_path / "data", 5_000)
    order = np.random.default_rng(3).permutation(5_000)
    listed = "\n".join(json.dumps({"_id": f"d{row}", "text": "x"}) for row in order)
    task = tmp_path / "task"
    (task / "qrels").mkdir(parents=True)
    (task / "corpus.jsonl").write_text(listed)
    (task / "queries.jsonl").write_text("\n".join(json.dumps({"_id": f"q{row}", "text": "x"}) for row in range(20)))
    (task / "qrels" / "test.tsv").write_text((tmp_path / "data" / "qrels.tsv").read_text())
    turned = EmbeddedSource(str(task), vectors=source.vectors)
    wanted = compare(*turned.load(), list(SCORERS)).to_json()
    assert compare_shards(turned, OPTIONS, shards=3, runner=Sending(monkeypatch)).to_json() == wanted


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_a_worker_with_other_files_under_the_same_path_is_refused(tmp_path, kind):
    source = write_corpus(tmp_path / "data", 3_000, parts=3, kind=kind)

    class Elsewhere:
        def run(self, job, pieces):
            first, last = (source.vectors / "documents" / f"0000{n}-of-00003" for n in (1, 3))
            for ending in ("ids", kind) if kind == "npy" else (kind,):
                one, other, kept = (path.with_suffix(f".{ending}") for path in (first, last, first.with_name("kept")))
                one.rename(kept)
                other.rename(one)
                kept.rename(other)
            yield from LocalRunner().run(job, pieces)

    for work in (
        lambda: compare_shards(source, OPTIONS, shards=2, runner=Elsewhere()),
        lambda: measure_shards(source.vectors / "documents", shards=2, runner=Elsewhere()),
    ):
        with pytest.raises(DataError, match="every worker must read the same files there"):
            work()


@pytest.mark.parametrize("named", [True, False])
def test_a_vector_that_is_not_finite_is_named_by_its_id_and_its_row_among_all(tmp_path, named):
    source = write_corpus(tmp_path / "data", 3_000, parts=3)
    path = source.vectors / "documents" / "00003-of-00003.npy"
    rows = np.load(path)
    rows[500, 2] = np.nan
    np.save(path, rows)
    if named:
        with pytest.raises(VectorError, match=r"document vector of 'd2500' \(row 2500\) is not finite"):
            compare_shards(source, OPTIONS, shards=2)
        return
    whole = source.task()
    for ids in (source.vectors / "documents").glob("*.ids"):
        ids.unlink()
    opened = LocatedTask.find(shared_source(source), whole).documents.opened()
    with pytest.raises(VectorError, match=r"document vector of row 2500 is not finite"):
        opened.rows(range(2_048, 3_000))


def test_the_judgments_of_a_run_of_documents_are_those_that_are_picked_one_by_one():
    rng = np.random.default_rng(0)
    judged = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) + 1 for d in rng.integers(0, 90, 7)} for q in range(12)}
    judgments = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(90)]).judgments
    for rows in (range(90), range(10, 41), range(89, 90), range(5, 5)):
        one, other = judgments.between(rows), judgments.only_documents(np.arange(rows.start, rows.stop))
        for name in ("queries", "documents", "grades"):
            assert np.array_equal(getattr(one, name), getattr(other, name))
        assert (one.query_count, one.document_count) == (other.query_count, other.document_count)
