"""Milvus, by Milvus Lite: exact, graphs and lists in a file, whatever the ids."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.processes import PATIENCE, ROOT, environment_with

pymilvus = pytest.importorskip("pymilvus")
lite = pytest.importorskip("milvus_lite.server_manager").server_manager_instance
pytestmark = pytest.mark.filterwarnings("ignore")  # of the package


@pytest.fixture
def target(tmp_path):
    yield f"milvus:{tmp_path}/m.db:things"
    lite.release_server(str(tmp_path / "m.db"))


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_scorers_are_served_exactly(target, name):
    laws.check_served(target, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.SCORERS)
def test_every_scorer_is_served_by_a_graph(target, name):
    laws.check_served(target, name, index="graph")


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "whiten(0.5) + norm-mix(0.9)"])
def test_scorers_are_served_by_a_graph(target, name):
    assert laws.check_served(target, name, index="graph").strategy.index == "graph"
    assert laws.read_back(target)[1].index == "HNSW"


def test_lists_and_fewer_bits(tmp_path, target):
    assert export("dot", laws.DOCUMENTS, target, queries=laws.QUERIES, index="lists").passed
    assert laws.read_back(target)[1].index == "IVF_FLAT"
    bits = f"milvus:{tmp_path}/m.db:bits"
    done = export("dot", laws.DOCUMENTS, bits, queries=laws.QUERIES, index="graph", stored="int8")
    assert done.verification.recall > 0.8
    assert laws.read_back(bits)[1].stored == "int8"
    with pytest.raises(OffsphereError, match="no exact index of int8"):
        export("dot", laws.DOCUMENTS, f"milvus:{tmp_path}/m.db:more", index="exact", stored="int8")


def test_real_vectors_are_served_by_a_graph(target, embedded):
    laws.check_real(embedded, target, "graph")


def test_what_was_stored_comes_back(target):
    laws.check_reads_back(target)


def test_the_command_imports_what_an_export_made(tmp_path, target):
    export("dot", laws.DOCUMENTS, target)
    laws.check_imported(target, tmp_path, {str(row): vector for row, vector in enumerate(laws.DOCUMENTS)})


def test_lengths_survive_under_cosine(target):
    export("cosine", laws.DOCUMENTS, target)
    rows, facts = laws.read_back(target)
    assert not facts.normalized
    assert all((rows[str(row)] == vector).all() for row, vector in enumerate(laws.DOCUMENTS))


@pytest.mark.parametrize(("name", "index"), [("dot", "exact"), ("standardize + polar(1, 0.5)", "graph")])
def test_the_snippet_runs_as_it_is_printed(tmp_path, target, name, index):
    laws.check_snippet(laws.check_served(target, name, index=index, out=tmp_path / "out"), target)


@pytest.mark.parametrize("noted", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["noted", "unnoted"])
def test_a_kill_in_the_middle_loses_nothing(tmp_path, target, noted):
    laws.check_killed(target, tmp_path / "killed", moment="within", noted=noted)


def test_a_finished_export_is_left_alone(tmp_path, target):
    laws.check_idempotent(target, tmp_path / "out")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_an_id_that_milvus_cannot_hold_is_one_line(target):
    with pytest.raises(DataError, match="holds ids of at most 65,535 bytes: shorten 'é"):
        export("dot", laws.DOCUMENTS[:2], target, ids=["a", "é" * 40_000])


def test_reading_changes_no_byte(tmp_path, target):
    export("dot", laws.DOCUMENTS, target, index="graph")

    def digests():
        files = [path for path in (tmp_path / "m.db").rglob("*") if path.is_file()]
        return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = digests()
    laws.read_back(target)
    assert digests() == before


def test_collections_that_others_made_are_read_by_the_names_they_chose(tmp_path, target):
    client = pymilvus.MilvusClient(str(tmp_path / "m.db"))
    schema = client.create_schema(auto_id=False)
    schema.add_field("number", pymilvus.DataType.INT64, is_primary=True)
    schema.add_field("code", pymilvus.DataType.VARCHAR, max_length=20)
    schema.add_field("text", pymilvus.DataType.FLOAT_VECTOR, dim=2)
    schema.add_field("image", pymilvus.DataType.FLOAT_VECTOR, dim=3)
    index = client.prepare_index_params()
    for field in ("text", "image"):
        index.add_index(field, index_type="FLAT", metric_type="L2")
    client.create_collection("things", schema=schema, index_params=index)
    rows = [{"number": n, "code": f"c{n}", "text": [n, 1.0], "image": [0.0, 1.0, n]} for n in (3, 12)]
    client.insert("things", rows)
    client.close()
    with pytest.raises(DataError, match=r"\(text, image\): say which with --vector-column"):
        laws.read_back(target)
    with pytest.raises(DataError, match="has no vectors called 'sound': it has text, image"):
        laws.read_back(target, vector_name="sound")
    with pytest.raises(DataError, match="has no field 'title': it has number, code, text, image"):
        laws.read_back(target, vector_name="text", id_field="title")
    found, facts = laws.read_back(target, vector_name="text", id_field="code")
    assert {name: row.tolist() for name, row in found.items()} == {"c3": [3, 1], "c12": [12, 1]}
    assert (facts.dimension, str(facts.metric), facts.unfinished) == (2, "euclidean", False)
    assert set(laws.read_back(target, vector_name="image")[0]) == {"3", "12"}
    for word, options in (("--vector-name", ()), ("--column", ("--id-field", "code"))):
        names = ("3", "12") if not options else ("c3", "c12")
        vectors = dict(zip(names, ([0, 1, 3], [0, 1, 12]), strict=True))
        vectors = {name: np.array(row, np.float32) for name, row in vectors.items()}
        laws.check_imported(target, tmp_path / word.strip("-"), vectors, word, "image", *options)


def test_what_cannot_be_opened_is_one_line_and_makes_nothing(tmp_path, capfd):
    with pytest.raises(DataError, match=r"must end in \.db"):
        export("dot", laws.DOCUMENTS, f"milvus:{tmp_path}/m:things")
    with pytest.raises(OffsphereError, match=r"Milvus does not answer at .*me:\*\*\*@127"):
        export("dot", laws.DOCUMENTS, "milvus:http://me:secret@127.0.0.1:9:things")
    with pytest.raises(DataError, match="write http://localhost:19530"):
        export("dot", laws.DOCUMENTS, "milvus:localhost:19530:things")
    with pytest.raises(ParameterError, match="gives at most 16,384 documents"):
        export("dot", laws.DOCUMENTS, f"milvus:{tmp_path}/m.db:things", k=20_000)
    assert not list(tmp_path.iterdir())
    said = capfd.readouterr()
    assert "Traceback" not in said.err
    assert "secret" not in said.err + said.out


HOLD = "import sys, pymilvus; client = pymilvus.MilvusClient(sys.argv[1]); print('held', flush=True); input()"


def test_a_file_that_another_process_uses_is_one_line(tmp_path, target, capfd):
    export("dot", laws.DOCUMENTS, target)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "m.db")]
    other = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, env=environment_with(ROOT))
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(OffsphereError, match="another process uses it"):
            laws.read_back(target)
    finally:
        other.communicate("\n", timeout=PATIENCE)
    assert "Traceback" not in capfd.readouterr().err
    assert np.isfinite(list(laws.read_back(target)[0].values())).all()
