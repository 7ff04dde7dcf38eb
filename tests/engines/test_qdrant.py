"""Local Qdrant collections: half of one is never taken for the whole, and what lies in one runs nothing."""

from __future__ import annotations

import pickle
import sqlite3

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.exchange import export_store, import_vectors
from tests.engines.conftest import IDS, ROWS, store_of

qdrant = pytest.importorskip("qdrant_client")
models = qdrant.models
pytestmark = pytest.mark.filterwarnings("ignore")  # of the package


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "q"


def client_of(folder, config=None, name="c"):
    client = qdrant.QdrantClient(path=str(folder))
    client.create_collection(name, vectors_config=config or models.VectorParams(size=2, distance=models.Distance.DOT))
    return client


def killed_export(monkeypatch, store, folder, moment):
    """Export until Qdrant is asked for something."""

    class Killed(BaseException):
        pass

    def kill(*_, **__):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(qdrant.QdrantClient, moment, kill)
        with pytest.raises(Killed):
            export_store(store, f"qdrant:{folder}:things")


@pytest.mark.parametrize("moment", ["create_collection", "upsert"])
def test_half_a_collection_is_refused_by_an_import_and_replaced_by_an_export(
    tmp_path, store, folder, monkeypatch, moment
):
    killed_export(monkeypatch, store, folder, moment)
    with pytest.raises(DataError, match=r"is unfinished: what wrote it was killed|has no collection 'things'"):
        import_vectors(f"qdrant:{folder}:things", tmp_path / "again")
    other = store_of(tmp_path / "other", ROWS[:7, :3])  # of another dimension
    export_store(other, f"qdrant:{folder}:things")
    assert (np.asarray(import_vectors(f"qdrant:{folder}:things", tmp_path / "again").vectors) == ROWS[:7, :3]).all()
    with pytest.raises(DataError, match="has a collection 'things' already: choose another name"):
        export_store(store, f"qdrant:{folder}:things")


def test_a_fragment_harms_no_other_collection(tmp_path, store, folder, monkeypatch):
    export_store(store, f"qdrant:{folder}:first")
    killed_export(monkeypatch, store, folder, "upsert")
    assert import_vectors(f"qdrant:{folder}:first", tmp_path / "again").ids == IDS
    export_store(store, f"qdrant:{folder}:things")
    client = qdrant.QdrantClient(path=str(folder))
    assert {row.name for row in client.get_collections().collections} == {"first", "things"}
    assert client.count("things").count == len(ROWS)
    client.close()


def test_points_are_read_as_the_client_gives_them(tmp_path, folder):
    client = client_of(folder)
    client.upsert("c", [models.PointStruct(id=number, vector=[number, 0.1]) for number in (12, 3, 700)])
    client.upsert("c", models.Batch(ids=["a3a5d4e8-1111-4111-8111-111111111111", 5], vectors=[[1, 2], [3, 4]]))
    client.upsert("c", [models.PointStruct(id=3, vector=[9, 9])])  # once more
    client.delete("c", [12])
    points = client.scroll("c", limit=100, with_vectors=True)[0]
    client.close()
    store = import_vectors(f"qdrant:{folder}:c", tmp_path / "again")
    assert store.ids == [str(point.id) for point in points]
    assert (np.asarray(store.vectors) == np.array([point.vector for point in points], np.float32)).all()


class Evil:
    """Runs something when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("door", ["import", "export"])
def test_nothing_in_a_collection_runs(tmp_path, store, folder, door):
    client = client_of(folder)
    client.upsert("c", [models.PointStruct(id=1, vector=[3.0, 4.0])])
    client.close()
    content = pickle.dumps(Evil(tmp_path / "ran"))
    with sqlite3.connect(folder / "collection" / "c" / "storage.sqlite") as connection:
        connection.execute("UPDATE points SET point = ?", (content,))
    connection.close()
    doors = {
        "import": lambda: import_vectors(f"qdrant:{folder}:c", tmp_path / "again"),
        "export": lambda: export_store(store, f"qdrant:{folder}:things"),
    }
    with pytest.raises(DataError, match=r"names .*io\.open, which is no point: nothing else is unpickled"):
        doors[door]()
    assert not (tmp_path / "ran").exists()
    pickle.loads(content).close()
    assert (tmp_path / "ran").exists()  # the pickle does what the test believes


@pytest.mark.parametrize("name", ["a/b", "..", "a?b", "a*", "x\0y"])
def test_a_name_that_no_collection_has_is_one_line(tmp_path, store, folder, name):
    with pytest.raises(DataError, match="cannot name a Qdrant collection"):
        export_store(store, f"qdrant:{folder}:{name}")
    assert not folder.exists()


def test_a_name_that_is_too_long_is_one_line(store, folder):
    with pytest.raises(OffsphereError, match=r"File name too long|at most 255"):
        export_store(store, f"qdrant:{folder}:{'x' * 300}")


def test_paths_that_are_no_database_are_one_line(tmp_path, store, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="file is a file, not the folder of a Qdrant database"):
        import_vectors(f"qdrant:{tmp_path}/file:c", tmp_path / "again")
    with pytest.raises(OffsphereError, match=r"cannot write to .*file"):
        export_store(store, f"qdrant:{tmp_path}/file:c")
    with pytest.raises(DataError, match="does not exist: give the folder of a Qdrant database"):
        import_vectors(f"qdrant:{folder}:c", tmp_path / "again")
    assert not folder.exists()
    folder.mkdir()
    with pytest.raises(DataError, match="has no collection 'c': it has none"):
        import_vectors(f"qdrant:{folder}:c", tmp_path / "again")
    (folder / "meta.json").write_text('{"collections": [')
    for work in (
        lambda: import_vectors(f"qdrant:{folder}:c", tmp_path / "again"),
        lambda: export_store(store, f"qdrant:{folder}:c"),
    ):
        with pytest.raises(DataError, match=r"meta.json: not JSON"):
            work()


def test_a_database_that_another_client_uses_is_one_line(tmp_path, store, folder):
    client = client_of(folder)
    client.upsert("c", [models.PointStruct(id=1, vector=[3.0, 4.0])])
    with pytest.raises(OffsphereError, match=r"another process is writing to|another process uses"):
        export_store(store, f"qdrant:{folder}:things")
    with pytest.raises(OffsphereError, match="another process is writing to"):
        import_vectors(f"qdrant:{folder}:c", tmp_path / "again")
    client.close()
    assert import_vectors(f"qdrant:{folder}:c", tmp_path / "again").ids == ["1"]


DOT = models.Distance.DOT
OTHERS = {
    "named": ({"text": models.VectorParams(size=2, distance=DOT)}, r"has named vectors \(text\)"),
    "several": ({name: models.VectorParams(size=2, distance=DOT) for name in "ab"}, r"has named vectors \(a, b\)"),
    "multivector": (
        models.VectorParams(
            size=2,
            distance=DOT,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
        ),
        "has several vectors a point",
    ),
    "empty": (models.VectorParams(size=2, distance=DOT), "has no points"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_collection_that_cannot_be_imported_says_why(tmp_path, folder, name):
    config, words = OTHERS[name]
    client_of(folder, config).close()
    with pytest.raises(DataError, match=words):
        import_vectors(f"qdrant:{folder}:c", tmp_path / "again")


@pytest.mark.parametrize(
    ("payloads", "words"),
    [
        ([{"id": "a"}, {}], "has no 'id' in its payload, and others have"),
        ([{"id": "a"}, {"id": "a"}], "the id 'a' stands there 2 times"),
        ([{"id": True}, {"id": "a"}], "is True: ids are texts or whole numbers"),
        ([{"id": ["a"]}, {"id": "a"}], r"is \['a'\]: ids are texts"),
    ],
)
def test_payloads_that_do_not_name_the_points_are_refused(tmp_path, folder, payloads, words):
    client = client_of(folder)
    points = [models.PointStruct(id=n, vector=[n + 1.0, 1.0], payload=payload) for n, payload in enumerate(payloads)]
    client.upsert("c", points)
    client.close()
    with pytest.raises(DataError, match=words):
        import_vectors(f"qdrant:{folder}:c", tmp_path / "again")


def test_points_without_payload_have_the_ids_of_points(tmp_path, folder):
    client = client_of(folder)
    client.upsert("c", [models.PointStruct(id=7, vector=[1.0, 1.0], payload={"title": "no id"})])
    client.close()
    assert import_vectors(f"qdrant:{folder}:c", tmp_path / "again").ids == ["7"]
