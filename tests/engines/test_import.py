"""An import is known by its content: it goes on with the same, is refused over another, and checks every row."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.data.store import open_store
from offsphere.data.store_writer import StoreWriter
from offsphere.engines.engine import BATCH
from offsphere.engines.files.exchange import import_vectors
from tests.engines.conftest import ROWS
from tests.processes import run_command

MANY = np.arange(4 * BATCH * 2, dtype=np.float32).reshape(-1, 2)  # four blocks


class Killed(BaseException):
    """Stands for a kill: nobody catches it."""


def killed_import(monkeypatch, source, folder, blocks, **options):
    """Import until so many blocks are safe."""
    write = StoreWriter.write

    def write_some(self, rows, vectors):
        if self.done == blocks:
            raise Killed
        write(self, rows, vectors)

    with monkeypatch.context() as patch:
        patch.setattr(StoreWriter, "write", write_some)
        with pytest.raises(Killed):
            import_vectors(str(source), folder, **options)


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "v.npy", MANY)
    return tmp_path / "v.npy"


def test_an_import_goes_on_with_what_it_began_with(tmp_path, source, monkeypatch):
    killed_import(monkeypatch, source, tmp_path / "store", 2)
    written = []
    write = StoreWriter.write
    monkeypatch.setattr(
        StoreWriter, "write", lambda self, rows, some: (written.append(rows[0]), write(self, rows, some))
    )
    store = import_vectors(str(source), tmp_path / "store")
    assert written == [2 * BATCH, 3 * BATCH]
    assert (np.asarray(store.vectors) == MANY).all()


def test_old_and_new_rows_are_never_mixed(tmp_path, source, monkeypatch):
    killed_import(monkeypatch, source, tmp_path / "store", 2)
    np.save(source, -MANY)  # the same name, the same shape
    with pytest.raises(DataError, match=r"is being filled with vectors of imported .* or import with --replace"):
        import_vectors(str(source), tmp_path / "store")
    store = import_vectors(str(source), tmp_path / "store", replace=True)
    assert (np.asarray(store.vectors) == -MANY).all()


def test_other_ids_for_the_same_vectors_are_another_content(tmp_path, source, monkeypatch):
    killed_import(monkeypatch, source, tmp_path / "store", 2)
    (tmp_path / "v.ids").write_text("".join(f"n{n}\n" for n in range(len(MANY))))
    store = import_vectors(str(source), tmp_path / "store", replace=True)
    assert store.ids[-1] == f"n{len(MANY) - 1}"
    (tmp_path / "v.ids").write_text("".join(f"m{n}\n" for n in range(len(MANY))))
    with pytest.raises(DataError, match="or replace it with --replace"):
        import_vectors(str(source), tmp_path / "store")


def test_the_same_content_again_is_no_work_and_from_another_file_neither(tmp_path, source):
    import_vectors(str(source), tmp_path / "store")
    before = (tmp_path / "store" / "vectors.npy").stat()
    np.savez(tmp_path / "copy.npz", vectors=MANY.astype(np.float64))
    for path in (source, tmp_path / "copy.npz"):
        import_vectors(str(path), tmp_path / "store")
    after = (tmp_path / "store" / "vectors.npy").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("other", ["content", "model", "shape"])
def test_a_store_of_something_else_is_replaced_only_when_told(tmp_path, other):
    np.save(tmp_path / "a.npy", ROWS)
    np.save(tmp_path / "b.npy", {"content": -ROWS, "model": ROWS, "shape": ROWS[:, :3]}[other])
    model = "another" if other == "model" else "one"
    import_vectors(str(tmp_path / "a.npy"), tmp_path / "store", model="one")
    result = run_command("data", "import", tmp_path / "b.npy", tmp_path / "store", "--model", model)
    assert result.returncode == 2
    assert result.stderr == (
        f"offsphere: {tmp_path / 'store'} holds 300 x 6 of one: choose another folder, or replace it with --replace\n"
    )
    assert (np.asarray(open_store(tmp_path / "store").vectors) == ROWS).all()
    result = run_command("data", "import", tmp_path / "b.npy", tmp_path / "store", "--model", model, "--replace")
    assert result.returncode == 0, result.stderr
    store = open_store(tmp_path / "store")
    assert (np.asarray(store.vectors) == np.load(tmp_path / "b.npy")).all()
    assert store.manifest.model == model


def test_a_replacement_that_was_killed_goes_on(tmp_path, source, monkeypatch):
    np.save(tmp_path / "old.npy", ROWS)
    import_vectors(str(tmp_path / "old.npy"), tmp_path / "store")
    killed_import(monkeypatch, source, tmp_path / "store", 3, replace=True)
    assert (np.asarray(import_vectors(str(source), tmp_path / "store").vectors) == MANY).all()


def spoiled(row, value, dtype):
    rows = ROWS.astype(dtype)
    rows[row, 1] = value
    return rows


WRONG = {
    "nan": (spoiled(3, np.nan, np.float32), VectorError, r"the vector of '3' \(row 3\) is not finite"),
    "inf in float16": (spoiled(4, np.inf, np.float16), VectorError, r"\(row 4\) is not finite as float16"),
    "too large for float32": (spoiled(5, 1e300, np.float64), VectorError, r"\(row 5\) is not finite as float32"),
    "integers": (np.ones((3, 2), np.int64), VectorError, "holds int64 of shape"),
    "complex": (np.ones((3, 2), np.complex64), VectorError, "holds complex64"),
    "no dimensions": (np.ones((3, 0), np.float32), VectorError, "holds no vectors: it has 3 rows of 0 dimensions"),
    "no rows": (np.ones((0, 3), np.float32), VectorError, "holds no vectors: it has 0 rows of 3 dimensions"),
    "one axis": (np.ones(3, np.float32), VectorError, r"of shape \(3,\)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_vectors_that_cannot_be_stored_are_refused_before_anything_is_written(tmp_path, name):
    rows, kind, words = WRONG[name]
    np.save(tmp_path / "v.npy", rows)
    with pytest.raises(kind, match=words):
        import_vectors(str(tmp_path / "v.npy"), tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (["a", "b", "a"], "the id 'a' stands there 2 times: ids must not repeat"),
        (["a", "b"], "has 3 vectors but there are 2 ids"),
        (["a", "b", "\ud800"], "the id in row 2 has a lone surrogate"),
    ],
)
def test_ids_that_are_none_are_refused(tmp_path, ids, words):
    np.save(tmp_path / "v.npy", ROWS[:3])
    with pytest.raises(DataError, match=words):
        import_vectors(str(tmp_path / "v.npy"), tmp_path / "store", ids=ids)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ([True, False], "the id in row 0 is True: ids are texts or whole numbers"),
        ([["a"], ["b"]], r"the id in row 0 is \['a'\]: ids are texts"),
        ([1.5, 2.5], "the id in row 0 is 1.5: ids are texts"),
        (["a", None], "the id in row 1 is None: ids are texts"),
    ],
)
def test_ids_of_a_wrong_type_are_refused(tmp_path, ids, words):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ids, "vectors": ROWS[:2].tolist()}), tmp_path / "v.parquet")
    with pytest.raises(OffsphereError, match=words):
        import_vectors(str(tmp_path / "v.parquet"), tmp_path / "store")


def test_lists_of_no_numbers_are_refused(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    for lists, words in ([[[], []], "has no dimensions"], [[None, [1.0]], "row 0 has no vector"]):
        pq.write_table(pa.table({"vectors": pa.array(lists, pa.list_(pa.float32()))}), tmp_path / "v.parquet")
        with pytest.raises(VectorError, match=words):
            import_vectors(str(tmp_path / "v.parquet"), tmp_path / "store")


def test_sources_and_stores_of_the_wrong_kind_are_one_line(tmp_path):
    np.save(tmp_path / "v.npy", ROWS)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(DataError, match=r"folder.npy is a folder, not a file"):
        import_vectors(str(tmp_path / "folder.npy"), tmp_path / "store")
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match=r"cannot write to .*file"):
        import_vectors(str(tmp_path / "v.npy"), tmp_path / "file")
