"""Qdrant: half a collection is never taken for the whole, what lies in one runs nothing, addresses make no folders.

A server needs a program that is not here: what it is asked is tried in the client's own local mode and, by the same
words, in Qdrant Edge; of the network only that nobody answers, and that a key is wanted.
"""

from __future__ import annotations

import pickle
import sqlite3
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.files.exchange import export_store, import_vectors
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
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

    class Killed(SystemExit):  # which no line is made of
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
    with pytest.raises(DataError, match=r"is unfinished: what wrote it was killed|does not exist"):
        import_vectors(f"qdrant:{folder}:things", tmp_path / "again")
    other = store_of(tmp_path / "other", ROWS[:7, :3])  # of another dimension
    export_store(other, f"qdrant:{folder}:things")
    assert (np.asarray(import_vectors(f"qdrant:{folder}:things", tmp_path / "again").vectors) == ROWS[:7, :3]).all()
    with pytest.raises(
        DataError, match="holds 7 vectors of 3 dimensions for inner product already: choose another name"
    ):
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
    with pytest.raises(OffsphereError, match=r"cannot name a Qdrant collection|cannot read the target"):
        export_store(store, f"qdrant:{folder}:{name}")
    assert not folder.exists()


def test_a_name_that_is_too_long_is_one_line(store, folder):
    with pytest.raises(OffsphereError, match=r"File name too long|at most 255"):
        export_store(store, f"qdrant:{folder}:{'x' * 300}")


def test_paths_that_are_no_database_are_one_line(tmp_path, store, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="file is a file, not the folder of a Qdrant database"):
        import_vectors(f"qdrant:{tmp_path}/file:c", tmp_path / "again")
    with pytest.raises(OffsphereError, match="file is a file, not the folder of a Qdrant database"):
        export_store(store, f"qdrant:{tmp_path}/file:c")
    for _ in range(2):
        with pytest.raises(
            DataError, match="does not exist: give a Qdrant collection as qdrant:FOLDER-OR-URL:COLLECTION"
        ):
            import_vectors(f"qdrant:{folder}:c", tmp_path / "again")
        assert not list(folder.glob("[!.]*"))
        folder.mkdir(exist_ok=True)
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
    "several": (
        {name: models.VectorParams(size=2, distance=DOT) for name in "ab"},
        r"has several vectors a point, or none \(a, b\): say which with --vector-column",
    ),
    "multivector": (
        models.VectorParams(
            size=2,
            distance=DOT,
            multivector_config=models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM),
        ),
        "has several vectors a point, to be compared at once",
    ),
    "empty": (models.VectorParams(size=2, distance=DOT), "has no vectors"),
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


@pytest.fixture
def target(folder):
    return f"qdrant:{folder}:things"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_scorers_are_served_exactly(target, name):
    laws.check_served(target, name)


def test_real_vectors_are_served(target, embedded):
    laws.check_real(embedded, target)


def test_what_was_stored_comes_back_in_its_order(tmp_path, target, store):
    laws.check_reads_back(target)
    export_store(store, f"{target}2")
    assert import_vectors(f"{target}2", tmp_path / "again").ids == IDS


@pytest.mark.parametrize("name", ["dot", "cosine", "standardize + polar(1, 0.5)"])
def test_the_snippet_runs_as_it_is_printed(tmp_path, target, name):
    laws.check_snippet(laws.check_served(target, name, out=tmp_path / "out"), target)


@pytest.mark.parametrize("noted", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["noted", "unnoted"])
def test_a_kill_in_the_middle_loses_nothing(tmp_path, target, noted):
    laws.check_killed(target, tmp_path / "killed", moment="within", noted=noted)
    assert not list(tmp_path.rglob("*.unfinished"))


def test_a_finished_export_is_left_alone(tmp_path, target):
    laws.check_idempotent(target, tmp_path / "out")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_a_folder_keeps_lengths_even_for_cosine(tmp_path, target):
    export("cosine", laws.DOCUMENTS, target)
    rows, facts = laws.read_back(target)
    assert (str(facts.metric), facts.normalized) == ("cosine", False)
    assert all((rows[str(row)] == vector).all() for row, vector in enumerate(laws.DOCUMENTS))


def test_named_vectors_and_ids_in_any_field_are_read(tmp_path, folder):
    config = {"text": models.VectorParams(size=2, distance=DOT), "image": models.VectorParams(size=3, distance=DOT)}
    client = client_of(folder, config)
    vectors = [{"text": [n, 1.0], "image": [0.0, n, 1.0]} for n in (1.0, 2.0)]
    client.upsert("c", [models.PointStruct(id=n, vector=v, payload={"code": f"c{n}"}) for n, v in enumerate(vectors)])
    client.close()
    rows, facts = laws.read_back(f"qdrant:{folder}:c", vector_name="image", id_field="code")
    assert {name: row.tolist() for name, row in rows.items()} == {"c0": [0, 1, 1], "c1": [0, 2, 1]}
    assert facts.dimension == 3
    assert set(laws.read_back(f"qdrant:{folder}:c", vector_name="text")[0]) == {"0", "1"}
    with pytest.raises(DataError, match="has no vectors called 'sound': it has text, image"):
        laws.read_back(f"qdrant:{folder}:c", vector_name="sound")
    with pytest.raises(DataError, match="has no 'title' in its payload, nor has any other"):
        laws.read_back(f"qdrant:{folder}:c", vector_name="text", id_field="title")


def test_one_named_vector_needs_no_name(tmp_path, folder):
    client = client_of(folder, {"text": models.VectorParams(size=2, distance=DOT)})
    client.upsert("c", [models.PointStruct(id=1, vector={"text": [3.0, 4.0]})])
    client.close()
    assert np.asarray(import_vectors(f"qdrant:{folder}:c", tmp_path / "again").vectors).tolist() == [[3, 4]]


class WantsKey(BaseHTTPRequestHandler):
    """Says what a Qdrant server says to whoever has no key."""

    def do_GET(self):
        self.server.keys.add(self.headers.get("api-key"))
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b"Must provide an API key or an Authorization bearer token")

    def log_message(self, *_):
        """Be quiet."""


def test_a_server_that_wants_a_key_is_one_line_without_the_key(monkeypatch):
    monkeypatch.setenv("QDRANT_API_KEY", "very-secret")
    server = HTTPServer(("127.0.0.1", 0), WantsKey)
    server.keys = set()
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(OffsphereError, match=r"wants another key: set QDRANT_API_KEY \(.*401") as caught:
            laws.read_back(f"qdrant:http://127.0.0.1:{server.server_port}:docs")
    finally:
        server.shutdown()
        server.server_close()
    assert server.keys == {"very-secret"}
    assert "very-secret" not in str(caught.value)


def test_an_address_makes_no_folder(tmp_path, store, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "made").mkdir(exist_ok=True)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OffsphereError, match=r"Qdrant does not answer at qdrant:http://127\.0\.0\.1:9:docs"):
        import_vectors("qdrant:http://127.0.0.1:9:docs", tmp_path / "again")
    with pytest.raises(OffsphereError, match="does not answer at"):
        export_store(store, "qdrant:http://me:secret@127.0.0.1:9:docs")
    with pytest.raises(DataError, match="neither a folder nor an address: write http://localhost:6333"):
        export_store(store, "qdrant:localhost:6333:docs")
    assert sorted(tmp_path.iterdir()) == before
