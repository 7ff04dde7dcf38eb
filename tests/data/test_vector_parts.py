from __future__ import annotations

import json

import numpy as np
import pytest

from offsphere import compare, embed, load_task, load_vectors, measure
from offsphere.base.errors import DataError, VectorError
from offsphere.data import RankingTask
from offsphere.data.vector_files import is_vectors, read_vectors
from offsphere.data.vector_parts import is_parts, manifest_of
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.encode.function import FunctionEncoder
from offsphere.geometry import SECTIONS
from offsphere.vectors.parted_rows import PartedRows
from tests.data.test_task_vectors import write

COUNT = 3_000
KINDS = ["npy", "npz", "safetensors", "parquet"]


@pytest.fixture(scope="module")
def whole():
    rng = np.random.default_rng(0)
    return rng.normal(size=(COUNT, 6)).astype(np.float32) * rng.lognormal(0, 0.5, (COUNT, 1)).astype(np.float32)


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(1)
    judged = {f"q{query}": {f"d{document}": 1} for query, document in enumerate(rng.permutation(COUNT)[:40])}
    return RankingTask.from_judgments(judged, [f"d{row}" for row in range(COUNT)])


def write_parts(folder, whole, kinds, *, ids=True):
    """Parts of all kinds, in an order that only numbers tell."""
    cuts = np.linspace(0, len(whole), len(kinds) + 1).astype(int)
    for number, kind in enumerate(kinds):
        rows = slice(cuts[number], cuts[number + 1])
        names = [f"d{row}" for row in range(cuts[number], cuts[number + 1])] if ids else None
        write(folder, kind, f"part-{number + 8}", whole[rows], names)


@pytest.mark.parametrize("ids", [True, False])
def test_parts_of_every_kind_are_one_corpus_in_the_order_of_their_numbers(tmp_path, whole, task, ids):
    write_parts(tmp_path / "documents", whole, KINDS, ids=ids)
    write(tmp_path, "npy", "queries", whole[:40])
    vectors = load_vectors(tmp_path, task)
    assert isinstance(vectors.documents, PartedRows)
    assert np.array_equal(np.asarray(vectors.documents), whole)
    assert isinstance(vectors.documents.parts[0], np.memmap)


def test_parts_in_another_order_than_the_tasks_come_in_the_tasks(tmp_path, whole, task):
    write(tmp_path, "npy", "queries", whole[:40])
    write(tmp_path / "documents", "npy", "a", whole[2_000:], [f"d{row}" for row in range(2_000, COUNT)])
    write(tmp_path / "documents", "npz", "b", whole[:2_000], [f"d{row}" for row in range(2_000)])
    assert np.array_equal(load_vectors(tmp_path, task).documents, whole)


def test_compare_and_measure_print_the_same_of_parts_and_never_join_them(tmp_path, whole, task, monkeypatch):
    write(tmp_path, "npy", "queries", whole[:40] + np.float32(0.1))
    write_parts(tmp_path / "documents", whole, KINDS)
    parts = load_vectors(tmp_path, task)
    joined = task.vectors(parts.queries, whole)
    assert measure(task, parts).to_json() == measure(task, joined).to_json()
    # what length is worth at most is learned on a copy of the documents, and only where they are few
    sections = [name for name in SECTIONS if name not in ("ceiling", "modalities", "frequency")]
    wanted = [compare(task, joined).to_json(), measure(task, joined, sections).to_json()]
    alone = measure(whole).to_json()

    def refuse(*_, **__):
        raise AssertionError("somebody joins the parts")

    monkeypatch.setattr(PartedRows, "__array__", refuse)
    monkeypatch.setattr(PartedRows, "astype", refuse)
    assert [compare(task, parts).to_json(), measure(task, parts, sections).to_json()] == wanted
    assert measure(read_vectors(tmp_path / "documents")).to_json()["lengths"] == alone["lengths"]
    assert is_vectors(tmp_path / "documents")
    assert not is_vectors(tmp_path)  # whose files are sides of a task


def test_stores_are_parts_and_say_which_model_made_them(tmp_path):
    encoder = FunctionEncoder(lambda texts: [[len(text), 1.0] for text in texts], "letters")
    texts = ["a", "bb", "ccc", "dddd"]
    (tmp_path / "data" / "qrels").mkdir(parents=True)
    lines = "".join(json.dumps({"_id": f"d{row}", "text": text}) + "\n" for row, text in enumerate(texts))
    (tmp_path / "data" / "corpus.jsonl").write_text(lines)
    (tmp_path / "data" / "queries.jsonl").write_text('{"_id": "q", "text": "eeeee"}\n')
    (tmp_path / "data" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td1\t1\n")
    task = load_task(tmp_path / "data")
    for number, rows in enumerate(([0, 1], [2, 3]), 1):
        embed(task.among_documents(np.array(rows)), encoder, tmp_path / f"made{number}")
        (tmp_path / "vectors" / "documents").mkdir(parents=True, exist_ok=True)
        made = tmp_path / f"made{number}" / "documents"
        made.rename(tmp_path / "vectors" / "documents" / f"{number:05}-of-00002")
    (tmp_path / "made1" / "queries").rename(tmp_path / "vectors" / "queries")
    vectors = load_vectors(tmp_path / "vectors", task)
    assert np.asarray(vectors.documents)[:, 0].tolist() == [1, 2, 3, 4]
    assert manifest_of(tmp_path / "vectors" / "documents").model == "letters"
    source = EmbeddedSource(str(tmp_path / "data"), vectors=tmp_path / "vectors")
    assert source.made_by(task)["model"] == "letters"
    other = FunctionEncoder(lambda texts: [[len(text), 2.0] for text in texts], "numbers")
    embed(task, other, tmp_path / "other")
    (tmp_path / "other" / "documents").rename(tmp_path / "vectors" / "documents" / "other")
    with pytest.raises(DataError, match=r"other is by numbers .*00001-of-00002 by letters .*by one model"):
        load_vectors(tmp_path / "vectors", task)


def test_a_part_that_is_missing_unfinished_or_of_another_width_is_named(tmp_path, whole, task):
    write(tmp_path, "npy", "queries", whole[:40])
    write(tmp_path / "documents", "npy", "part-1-of-3", whole[:1_000])
    write(tmp_path / "documents", "npy", "part-3-of-3", whole[2_000:])
    with pytest.raises(DataError, match=r"documents lacks the part part-2-of-3\.npy"):
        load_vectors(tmp_path, task)
    write(tmp_path / "documents", "npy", "part-2-of-3", whole[1_000:2_000, :5])
    with pytest.raises(VectorError, match=r"part-2-of-3\.npy has vectors of shape \(1000, 5\), .*1-of-3\.npy has 6"):
        load_vectors(tmp_path, task)
    write(tmp_path / "documents", "npy", "part-2-of-3", whole[1_000:2_000], [f"d{row}" for row in range(1_000, 2_000)])
    with pytest.raises(DataError, match=r"part-1-of-3\.npy has no ids, other parts of .* have"):
        load_vectors(tmp_path, task)
    (tmp_path / "documents" / "part-2-of-3.ids").unlink()
    (tmp_path / "documents" / "half").mkdir()
    with pytest.raises(DataError, match="half is no finished store"):
        load_vectors(tmp_path, task)
    (tmp_path / "documents" / "half").rmdir()
    assert len(load_vectors(tmp_path, task).documents) == COUNT
    content = (tmp_path / "documents" / "part-3-of-3.npy").read_bytes()
    (tmp_path / "documents" / "part-3-of-3.npy").write_bytes(content[:-9])
    with pytest.raises(DataError, match=r"part-3-of-3\.npy"):
        load_vectors(tmp_path, task)


@pytest.mark.parametrize("other", ["corpus.jsonl", "config.json", "scorer.json", "qrels.tsv"])
def test_a_folder_with_something_else_in_it_is_no_vectors_alone(tmp_path, whole, other):
    write(tmp_path, "safetensors", "scorer", whole[:3], ["a", "b", "c"])
    assert is_vectors(tmp_path)
    (tmp_path / other).write_text("")
    assert not is_vectors(tmp_path)


@pytest.mark.parametrize("name", ["vectors.npy", "checksums.npy", "ids.parquet"])
def test_a_store_that_is_not_finished_is_no_folder_of_parts(tmp_path, whole, name):
    np.save(tmp_path / "rows.npy", whole)
    (tmp_path / "rows.npy").rename(tmp_path / name)
    assert not is_parts(tmp_path)


def test_a_file_beside_the_folder_of_parts_is_one_too_many(tmp_path, whole, task):
    write(tmp_path, "npy", "queries", whole[:40])
    write(tmp_path, "npy", "documents", whole)
    write_parts(tmp_path / "documents", whole, KINDS)
    with pytest.raises(DataError, match=r"has documents\.npy and documents: keep the one to use"):
        load_vectors(tmp_path, task)
