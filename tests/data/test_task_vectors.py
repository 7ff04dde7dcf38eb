from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import save_file

from offsphere.base.errors import DataError, VectorError
from offsphere.data import PairTask, RankingTask, load_vectors

DOCUMENTS = np.arange(12, dtype=np.float32).reshape(4, 3) + 1
IDS = ["d0", "d1", "d2", "d3"]


@pytest.fixture
def task():
    return RankingTask.from_judgments({"q0": {"d1": 1}, "q1": {"d2": 1}}, IDS)


def write(folder, kind, side, vectors, ids=None):
    folder.mkdir(exist_ok=True)
    path = folder / f"{side}.{kind.split('-')[0]}"
    if kind == "npy":
        np.save(path, vectors)
    elif kind == "npz":
        np.savez(path, vectors=vectors, **({} if ids is None else {"ids": np.array(ids)}))
    elif kind == "safetensors":
        save_file({"vectors": vectors}, path)
    else:
        values = pa.array(vectors.tolist(), pa.list_(pa.float32(), -1 if kind == "parquet-list" else vectors.shape[1]))
        columns = {"vectors": values} | ({} if ids is None else {"id": pa.array(ids)})
        pq.write_table(pa.table(columns), path)
    if ids is not None and kind in ("npy", "safetensors"):
        (folder / f"{side}.ids").write_text("\n".join(ids) + "\n")


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "parquet", "parquet-list"])
def test_every_format_with_ids_in_another_order(tmp_path, task, kind):
    write(tmp_path, kind, "queries", DOCUMENTS[:2], ["q1", "q0"])
    write(tmp_path, kind, "documents", DOCUMENTS, IDS[::-1])
    vectors = load_vectors(tmp_path, task)
    assert (vectors.documents == DOCUMENTS[::-1]).all()
    assert (vectors.queries == DOCUMENTS[1::-1]).all()


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "parquet"])
def test_without_ids_the_task_gives_the_order(tmp_path, task, kind):
    write(tmp_path, kind, "queries", DOCUMENTS[:2])
    write(tmp_path, kind, "documents", DOCUMENTS)
    assert (load_vectors(tmp_path, task).documents == DOCUMENTS).all()


def test_npy_stays_on_disk(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    write(tmp_path, "npy", "documents", DOCUMENTS.astype(np.float16))
    vectors = load_vectors(tmp_path, task)
    assert isinstance(vectors.documents, np.memmap)
    assert vectors.documents.dtype == np.float16


def test_more_vectors_than_the_task_needs_are_fine(tmp_path, task):
    write(tmp_path, "npz", "queries", DOCUMENTS, ["q3", "q1", "q2", "q0"])
    write(tmp_path, "npy", "documents", DOCUMENTS)
    assert (load_vectors(tmp_path, task).queries == DOCUMENTS[[3, 1]]).all()


def bad(vectors, row, value):
    spoiled = vectors.copy()
    spoiled[row, 1] = value
    return spoiled


@pytest.mark.parametrize(
    ("queries", "documents", "ids", "message"),
    [
        (DOCUMENTS[:2], bad(DOCUMENTS, 2, np.nan), None, r"document vector of 'd2' \(row 2\) is not finite"),
        (bad(DOCUMENTS[:2], 1, np.inf), DOCUMENTS, None, r"query vector of 'q1' \(row 1\) is not finite"),
        (DOCUMENTS[:2], DOCUMENTS, ["d0", "d1", "d1", "d2"], "document id 'd1' stands there 2 times"),
        (DOCUMENTS[:2], DOCUMENTS, [*IDS, "d4"], r"has 4 vectors but there are 5 ids"),
        (DOCUMENTS[:2], DOCUMENTS, ["d0", "d1", "d2", "x"], "has no vector for document 'd3' \\(1 are missing\\)"),
        (
            DOCUMENTS[:2],
            DOCUMENTS[:3],
            None,
            r"has 3 vectors and no ids, the task has 4 document ids: add documents\.ids",
        ),
        (DOCUMENTS[:2], DOCUMENTS[0], None, "expected floats of shape"),
        (DOCUMENTS[:2], DOCUMENTS.astype(int), None, "holds int64 of shape"),
    ],
)
def test_bad_vectors_are_named(tmp_path, task, queries, documents, ids, message):
    write(tmp_path, "npy", "queries", queries)
    write(tmp_path, "npy", "documents", documents, ids)
    with pytest.raises(VectorError, match=message):
        load_vectors(tmp_path, task)


@pytest.mark.parametrize("kind", ["npy", "npz", "safetensors", "parquet"])
def test_a_truncated_file_is_named(tmp_path, task, kind):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    write(tmp_path, kind, "documents", DOCUMENTS)
    path = tmp_path / f"documents.{kind}"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=rf"documents\.{kind} is truncated or "):
        load_vectors(tmp_path, task)


def test_pickled_arrays_are_not_loaded(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    np.save(tmp_path / "documents.npy", np.array([{"a": 1}] * 4, dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="holds object: expected plain numbers"):
        load_vectors(tmp_path, task)


def test_rows_of_different_size_are_named(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    rows = pa.array([[1.0, 2.0, 3.0], [1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]], pa.list_(pa.float32()))
    pq.write_table(pa.table({"vectors": rows}), tmp_path / "documents.parquet")
    with pytest.raises(VectorError, match="the vector in row 1 has 2 dimensions, the first has 3"):
        load_vectors(tmp_path, task)


def test_empty_vectors_are_counted_and_named(tmp_path, task):
    spoiled = DOCUMENTS.copy()
    spoiled[[1, 3]] = 0
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    write(tmp_path, "npy", "documents", spoiled)
    assert list(load_vectors(tmp_path, task).empty) == ["document 'd1'", "document 'd3'"]


def test_two_files_of_a_side_are_refused(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    write(tmp_path, "npz", "queries", DOCUMENTS[:2])
    with pytest.raises(DataError, match=r"has queries\.npy and queries\.npz: keep the one to use"):
        load_vectors(tmp_path, task)


def test_pairs(tmp_path):
    pairs = PairTask("p", np.arange(4.0))
    write(tmp_path, "npy", "left", DOCUMENTS)
    with pytest.raises(DataError, match="has no right vectors"):
        load_vectors(tmp_path, pairs)
    write(tmp_path, "npy", "right", DOCUMENTS[:3])
    with pytest.raises(VectorError, match="there are 3 right vectors for 4 pairs"):
        load_vectors(tmp_path, pairs)
    write(tmp_path, "npy", "right", DOCUMENTS)
    assert load_vectors(tmp_path, pairs).left.shape == (4, 3)


def test_bfloat16_is_read(tmp_path, task):
    import json

    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    halves = (DOCUMENTS.view(np.uint32) >> 16).astype("<u2")  # these whole numbers are exact in bfloat16
    entry = {"vectors": {"dtype": "BF16", "shape": [4, 3], "data_offsets": [0, halves.nbytes]}}
    header = json.dumps(entry).encode()
    (tmp_path / "documents.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + halves.tobytes())
    assert (load_vectors(tmp_path, task).documents == DOCUMENTS).all()


@pytest.mark.parametrize(("real", "named"), [("npz", "npy"), ("npy", "npz")])
def test_a_file_with_the_wrong_ending_is_named(tmp_path, task, real, named):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    write(tmp_path, real, "documents", DOCUMENTS)
    (tmp_path / f"documents.{real}").rename(tmp_path / f"documents.{named}")
    with pytest.raises(DataError, match=rf"documents\.{named} is truncated or not a \.{named} "):
        load_vectors(tmp_path, task)


def test_ids_given_as_bytes_are_names(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    np.savez(tmp_path / "documents.npz", vectors=DOCUMENTS, ids=np.array(IDS[::-1], "S2"))
    assert (load_vectors(tmp_path, task).documents == DOCUMENTS[::-1]).all()


def test_a_table_without_rows_says_so(tmp_path, task):
    write(tmp_path, "npy", "queries", DOCUMENTS[:2])
    pq.write_table(pa.table({"vectors": pa.array([], pa.list_(pa.float32()))}), tmp_path / "documents.parquet")
    with pytest.raises(VectorError, match="holds no vectors: it has no rows"):
        load_vectors(tmp_path, task)
