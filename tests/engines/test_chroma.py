"""Chroma in a folder and as a server: a graph that finds what the scorer ranks first, and files that reading leaves."""

from __future__ import annotations

import gc
import hashlib
import os
import socket
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.processes import PATIENCE

chroma = pytest.importorskip("chromadb")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the package
QUIET = chroma.Settings(anonymized_telemetry=False)


@pytest.fixture
def target(tmp_path):
    return f"chroma:{tmp_path}/db:things"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_scorers_are_served_by_the_graph(target, name):
    laws.check_served(target, name)


@pytest.mark.slow
def test_more_effort_finds_more(target):
    rows = np.random.default_rng(3)
    documents = (rows.normal(size=(6000, 32)) * rows.lognormal(0, 1, (6000, 1))).astype(np.float32)
    queries = rows.normal(size=(50, 32)).astype(np.float32)
    little, much = (
        export("euclidean", documents, target, queries=queries, effort=effort, replace=True).verification.recall
        for effort in (10, 1000)
    )
    assert little + 0.1 < much


def test_real_vectors_are_served_by_a_graph(target, embedded):
    laws.check_real(embedded, target)


def test_what_was_stored_comes_back(target):
    laws.check_reads_back(target)


def test_lengths_survive_under_cosine(target):
    export("cosine", laws.DOCUMENTS, target)
    rows, facts = laws.read_back(target)
    assert not facts.normalized
    assert all(np.allclose(rows[str(row)], vector, rtol=1e-6) for row, vector in enumerate(laws.DOCUMENTS))


@pytest.mark.parametrize("name", ["dot", "standardize + polar(1, 0.5)"])
def test_the_snippet_runs_as_it_is_printed(tmp_path, target, name):
    many = len(laws.DOCUMENTS)  # candidates: what is not on disk yet gets another random graph whenever Chroma loads it
    laws.check_snippet(laws.check_served(target, name, out=tmp_path / "out", effort=many), target)


@pytest.mark.parametrize("noted", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["noted", "unnoted"])
def test_a_kill_in_the_middle_loses_nothing(tmp_path, target, noted):
    laws.check_killed(target, tmp_path / "killed", moment="within", noted=noted)


def test_a_finished_export_is_left_alone(tmp_path, target):
    laws.check_idempotent(target, tmp_path / "out")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_reading_changes_no_byte(tmp_path, target):
    export("dot", laws.DOCUMENTS, target)

    def digests():
        files = [path for path in (tmp_path / "db").rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    laws.read_back(target)
    assert digests() == before
    client = chroma.PersistentClient(str(tmp_path / "db"), settings=QUIET)
    client.close()
    assert digests() != before  # what a client of Chroma does, and why there is a copy


def test_collections_that_others_made_are_read(tmp_path, target):
    client = chroma.PersistentClient(str(tmp_path / "db"), settings=QUIET)
    collection = client.create_collection("things", embedding_function=None)  # without any setting
    embeddings = [[3.0, 4.0], [0.5, 1.0]]
    collection.add(ids=["a", "b"], embeddings=embeddings, metadatas=[{"code": 7}, {"code": "x"}])
    client.close()
    rows, facts = laws.read_back(target)
    assert {name: row.tolist() for name, row in rows.items()} == {"a": [3, 4], "b": [0.5, 1]}
    assert (facts.dimension, str(facts.metric), facts.unfinished) == (2, "euclidean", False)
    assert set(laws.read_back(target, id_field="code")[0]) == {"7", "x"}
    with pytest.raises(DataError, match="'a' has no 'title' in its metadata"):
        laws.read_back(target, id_field="title")
    with pytest.raises(DataError, match="has one vector a document, without a name"):
        laws.read_back(target, vector_name="text")


def test_the_command_imports_a_collection(tmp_path, target):
    client = chroma.PersistentClient(str(tmp_path / "db"), settings=QUIET)
    collection = client.create_collection("things", embedding_function=None)
    collection.add(
        ids=[f"i{row}" for row in range(len(laws.DOCUMENTS))],
        embeddings=laws.DOCUMENTS,
        metadatas=[{"code": f"c{row}"} for row in range(len(laws.DOCUMENTS))],
    )
    client.close()
    for letter, options in (("i", ()), ("c", ("--id-field", "code"))):
        vectors = {f"{letter}{row}": vector for row, vector in enumerate(laws.DOCUMENTS)}
        laws.check_imported(target, tmp_path / letter, vectors, *options)


def test_what_cannot_be_opened_is_one_line_and_makes_nothing(tmp_path):
    with pytest.raises(OffsphereError, match=r"Chroma does not answer at chroma:http://127\.0\.0\.1:9:things"):
        export("dot", laws.DOCUMENTS, "chroma:http://127.0.0.1:9:things")
    with pytest.raises(DataError, match=r"cannot read the address of chroma:http://me:\*\*\*@127"):
        export("dot", laws.DOCUMENTS, "chroma:http://me:secret@127.0.0.1:9:things")
    with pytest.raises(DataError, match="write http://localhost:8000"):
        export("dot", laws.DOCUMENTS, "chroma:localhost:8000:things")
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="is a file, not the folder of a Chroma database"):
        export("dot", laws.DOCUMENTS, f"chroma:{tmp_path}/file:things")
    with pytest.raises(OffsphereError, match="Expected a name containing 3-512 characters"):
        export("dot", laws.DOCUMENTS, f"chroma:{tmp_path}/db:a b")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "chroma.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(OffsphereError, match=r"chroma\.sqlite3"):
        laws.read_back(f"chroma:{tmp_path}/bad:things")
    for _ in range(2):
        engine, where = engine_of(f"chroma:{tmp_path}/none:things")
        with engine.open(where) as collection:
            assert collection.facts() is None
            collection.remove()
    assert not (tmp_path / "none").exists()


class Server:
    """A real server on the loopback address, which can be killed and started again where it was."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        program = Path(sys.executable).with_name("chroma")
        self.command = [program, "run", "--path", folder, "--host", "127.0.0.1", "--port", str(self.port)]
        self.address = f"chroma:http://127.0.0.1:{self.port}"
        self.start()

    def start(self):
        quiet = {**os.environ, "ANONYMIZED_TELEMETRY": "False"}
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=quiet)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)


@pytest.fixture
def running(tmp_path):
    server = Server(tmp_path / "served")
    yield server
    server.stop()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()  # the client of the snippet leaves its connection open


@pytest.mark.slow
def test_a_server_that_dies_in_the_middle_is_one_line_and_the_same_command_goes_on(tmp_path, running, monkeypatch):
    from offsphere.engines.chroma import ChromaCollection
    from offsphere.engines.shipping import serving

    monkeypatch.setattr(serving.stored_blocks, "__defaults__", (0, 64))
    calls, add = [], ChromaCollection.add

    def counted(collection, ids, rows):
        calls.append(len(ids))
        if len(calls) == 4:
            running.kill()
        add(collection, ids, rows)

    monkeypatch.setattr(ChromaCollection, "add", counted)
    target = f"{running.address}:things"
    ids = [f"document {row}" for row in range(len(laws.DOCUMENTS) - len(laws.ODD_IDS))] + laws.ODD_IDS
    with pytest.raises(OffsphereError, match=r"Chroma does not answer at chroma:http://127\.0\.0\.1") as caught:
        export("dot", laws.DOCUMENTS, target, ids=ids, out=tmp_path / "out")
    assert "\n" not in str(caught.value)
    running.start()
    done = export("dot", laws.DOCUMENTS, target, ids=ids, queries=laws.QUERIES, out=tmp_path / "out")
    assert (done.rows, done.passed) == (len(laws.DOCUMENTS), True)
    laws.check_holds(target, ids)  # each of them once
    assert sum(calls[4:]) < len(laws.DOCUMENTS)  # it did not begin anew


@pytest.mark.slow
def test_a_server_holds_what_a_folder_holds(tmp_path, running):
    server = running.address
    laws.check_served(f"{server}:first", "polar(1, 0.5)")
    laws.check_reads_back(f"{server}:second")
    laws.check_snippet(laws.check_served(f"{server}:third", "dot", out=tmp_path / "out"), f"{server}:third")
    laws.check_idempotent(f"{server}:fourth", tmp_path / "again")
    laws.check_killed(f"{server}:fifth", tmp_path / "killed", moment="within")
    assert export("dot", laws.DOCUMENTS, f"{server}:third", queries=laws.QUERIES, replace=True).passed
