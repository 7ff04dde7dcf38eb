"""Local LanceDB tables: half of one is never taken for the whole, and what is no table of vectors is one line."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.exchange import export_store, import_vectors
from tests.engines.conftest import IDS, ROWS, store_of

lancedb = pytest.importorskip("lancedb")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the package


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "l"


def table_of(folder, **columns):
    lancedb.connect(str(folder)).create_table("t", pa.table(columns), on_bad_vectors="null")


def test_half_a_table_is_refused_by_an_import_and_replaced_by_an_export(tmp_path, store, folder, monkeypatch):
    class Killed(BaseException):
        pass

    def half(database, name, batches, **options):
        (folder / f"{name}.lance" / "data").mkdir()
        (folder / f"{name}.lance" / "data" / "part.lance").write_bytes(next(iter(batches)).serialize())
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(type(lancedb.connect(str(folder))), "create_table", half)
        with pytest.raises(Killed):
            export_store(store, f"lancedb:{folder}:things")
    with pytest.raises(DataError, match="is unfinished: what wrote it was killed"):
        import_vectors(f"lancedb:{folder}:things", tmp_path / "again")
    export_store(store_of(tmp_path / "other", ROWS[:7, :3]), f"lancedb:{folder}:things")
    assert (np.asarray(import_vectors(f"lancedb:{folder}:things", tmp_path / "again").vectors) == ROWS[:7, :3]).all()
    assert not list(folder.rglob("part.lance"))
    with pytest.raises(DataError, match="has a table 'things' already: choose another name"):
        export_store(store, f"lancedb:{folder}:things")


def test_one_table_of_many_is_seen(tmp_path, store, folder):
    """LanceDB lists its tables a page at a time."""
    for number in range(15):
        lancedb.connect(str(folder)).create_table(f"a{number}", pa.table({"x": [1]}))
    export_store(store, f"lancedb:{folder}:things")
    assert import_vectors(f"lancedb:{folder}:things", tmp_path / "again").ids == IDS
    with pytest.raises(DataError, match="already"):
        export_store(store, f"lancedb:{folder}:things")


@pytest.mark.parametrize("name", ["a/b", "..", "a b", "é", "x\0y"])
def test_a_name_that_no_table_has_is_one_line(tmp_path, store, folder, name):
    for work in (
        lambda: export_store(store, f"lancedb:{folder}:{name}"),
        lambda: import_vectors(f"lancedb:{folder}:{name}", tmp_path / "again"),
    ):
        with pytest.raises(DataError, match=r"cannot name a LanceDB table|does not exist"):
            work()
    assert not folder.exists()


def test_a_name_that_is_too_long_is_one_line(store, folder):
    with pytest.raises(OffsphereError, match="File name too long"):
        export_store(store, f"lancedb:{folder}:{'x' * 300}")


def test_paths_that_are_no_database_are_one_line(tmp_path, store, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="file is a file, not the folder of a LanceDB database"):
        import_vectors(f"lancedb:{tmp_path}/file:t", tmp_path / "again")
    with pytest.raises(OffsphereError, match=r"cannot write to .*file"):
        export_store(store, f"lancedb:{tmp_path}/file:t")
    with pytest.raises(DataError, match="does not exist"):
        import_vectors(f"lancedb:{folder}:t", tmp_path / "again")
    assert not folder.exists()
    (folder / "t.lance").mkdir(parents=True)
    with pytest.raises(OffsphereError, match="LanceDB cannot use"):
        import_vectors(f"lancedb:{folder}:t", tmp_path / "again")


VECTORS = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))
OTHERS = {
    "no column": ({"other": VECTORS}, "has no column 'vector', only other"),
    "texts": ({"vector": ["a", "b"]}, "the column 'vector' is of type string: expected lists of floats"),
    "numbers": ({"vector": [1.0, 2.0]}, "is of type double: expected lists"),
    "lists of texts": ({"vector": [["a"], ["b"]]}, "is of type list.*: expected lists of floats"),
    "integers": (
        {"vector": pa.array([[1, 2]], pa.list_(pa.int32(), 2))},
        "is of type fixed.*: expected lists of floats",
    ),
    "null vector": ({"vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2))}, "row 1 has no vector"),
    "first null": ({"vector": pa.array([None, [1.0, 2.0]], pa.list_(pa.float32(), 2))}, "row 0 has no vector"),
    "no rows": ({"vector": pa.array([], pa.list_(pa.float32(), 2))}, "it has no rows"),
    "boolean ids": ({"vector": VECTORS, "id": [True, False]}, "is True: ids are texts"),
    "null id": ({"vector": VECTORS, "id": ["a", None]}, "the id in row 1 is None"),
    "the same id": ({"vector": VECTORS, "id": ["a", "a"]}, "stands there 2 times"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_table_that_cannot_be_imported_says_why(tmp_path, folder, name):
    columns, words = OTHERS[name]
    table_of(folder, **columns)
    with pytest.raises(OffsphereError, match=words) as caught:
        import_vectors(f"lancedb:{folder}:t", tmp_path / "again")
    assert isinstance(caught.value, DataError | VectorError)


def test_a_table_of_users_is_read(tmp_path, folder):
    table_of(folder, vector=pa.array([[1.5, 2.0], [3.0, 4.0]]), id=[5, 6])
    store = import_vectors(f"lancedb:{folder}:t", tmp_path / "again")
    assert store.vectors.tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert store.ids == ["5", "6"]
