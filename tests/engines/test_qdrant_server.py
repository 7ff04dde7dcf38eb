"""A Qdrant collection by its address: made, filled, asked, read back, killed and gone on with over HTTP."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws

qdrant = pytest.importorskip("qdrant_client")
from tests.engines.qdrant_server import running_qdrant  # noqa: E402  # it imports the package

pytestmark = pytest.mark.filterwarnings("ignore")  # of the package
ENDPOINTS = {
    "GET /",  # the client's own question, for the version
    "GET /collections/things/exists",
    "GET /collections/things",
    "PUT /collections/things",
    "PATCH /collections/things",
    "DELETE /collections/things",
    "PUT /collections/things/points",
    "POST /collections/things/points/count",
    "POST /collections/things/points/delete",
    "POST /collections/things/points/query",
    "POST /collections/things/points/query/batch",
    "POST /collections/things/points/scroll",
}


@pytest.fixture
def held():
    """What the server holds."""
    return qdrant.QdrantClient(":memory:")


@pytest.fixture
def server(held):
    with running_qdrant(held) as running:
        yield running


@pytest.fixture
def target(server):
    return f"qdrant:http://127.0.0.1:{server.server_port}:things"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_every_scorer_is_served(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.parametrize("index", ["exact", "graph"])
def test_the_snippet_runs_as_it_is_printed(tmp_path, target, index):
    done = laws.check_served(target, "standardize + polar(1, 0.5)", index=index, out=tmp_path / "out", effort=None)
    laws.check_snippet(done, target)
    assert ("exact=True" in done.snippet) == (index == "exact")


def test_what_was_stored_comes_back(target):
    laws.check_reads_back(target)


@pytest.mark.parametrize("noted", [True, False], ids=["noted", "unnoted"])
def test_a_kill_in_the_middle_loses_nothing(tmp_path, target, noted):
    laws.check_killed(target, tmp_path / "killed", moment="within", noted=noted)


def test_a_kill_before_the_mark_is_taken_away_is_seen(tmp_path, target):
    laws.check_killed(target, tmp_path / "killed", step="finish", calls=1, moment="before")


def test_a_finished_export_is_left_alone(tmp_path, target):
    laws.check_idempotent(target, tmp_path / "out")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_the_command_imports_what_an_export_made_and_probes_what_is_there(tmp_path, target, server):
    export("dot", laws.DOCUMENTS, target)
    laws.check_imported(target, tmp_path, {str(row): vector for row, vector in enumerate(laws.DOCUMENTS)})
    written = {"PUT", "PATCH", "DELETE"}
    before = [line for line in server.asked if line.split()[0] in written]
    (probed,) = osp.probe(target, read_only=True).metrics
    assert (probed.as_set, probed.form.inverse) == (True, "dot = score")
    assert [line for line in server.asked if line.split()[0] in written] == before


def test_a_probe_leaves_no_collection(target, held):
    seen = osp.probe(target, index="exact")
    assert [probed.metric for probed in seen.metrics] == ["cosine", "inner product", "euclidean"]
    assert all(probed.as_set for probed in seen.metrics)
    assert held.get_collections().collections == []


@pytest.mark.parametrize(
    ("stored", "settings"),
    [
        ("float16", {"vectors": {"datatype": "float16"}}),
        ("int8", {"quantization_config": {"scalar": {"type": "int8"}}}),
        ("binary", {"quantization_config": {"binary": {}}}),
    ],
)
def test_fewer_bits_are_asked_for_in_the_words_of_a_server(target, server, stored, settings):
    """That a server does as it is told is not seen here: the implementation in memory stores float32."""
    export("dot", laws.DOCUMENTS, target, queries=laws.QUERIES, stored=stored)
    _, facts = laws.read_back(target)
    kept = server.settings["things"]
    assert kept["quantization_config"] == settings.get("quantization_config")
    if stored == "float16":
        assert server.client.get_collection("things").config.params.vectors.datatype.value == "float16"
    else:
        assert facts.stored.startswith("float32 and ")


def test_a_connection_that_is_lost_in_the_middle_is_one_line_and_nothing_stands_there_twice(
    tmp_path, held, monkeypatch
):
    """The server goes after some requests, and comes again at the same address with what it had."""
    from offsphere.engines.shipping import serving

    monkeypatch.setattr(serving, "BLOCK", 64)
    monkeypatch.setattr(serving.stored_blocks, "__defaults__", (0, 64))
    with running_qdrant(held, requests=7) as first:
        port = first.server_port
        target = f"qdrant:http://127.0.0.1:{port}:things"
        with pytest.raises(OffsphereError, match=r"^Qdrant [^\n]*$"):
            export("dot", laws.DOCUMENTS, target, out=tmp_path / "out")
    there = held.count("things").count
    assert 0 < there < len(laws.DOCUMENTS)
    with pytest.raises(OffsphereError, match="Qdrant does not answer at"):
        export("dot", laws.DOCUMENTS, target, out=tmp_path / "out")
    with running_qdrant(held, port=port) as second:
        assert export("dot", laws.DOCUMENTS, target, out=tmp_path / "out").rows == len(laws.DOCUMENTS)
        laws.check_holds(target, [str(row) for row in range(len(laws.DOCUMENTS))])
        assert "PUT /collections/things" not in second.asked  # it goes on, and does not begin anew


def test_a_key_is_wanted_and_given(monkeypatch, held):
    with running_qdrant(held, key="very-secret") as server:
        target = f"qdrant:http://127.0.0.1:{server.server_port}:things"
        with pytest.raises(OffsphereError, match="wants another key: set QDRANT_API_KEY"):
            export("dot", laws.DOCUMENTS, target)
        monkeypatch.setenv("QDRANT_API_KEY", "very-secret")
        done = export("dot", laws.DOCUMENTS, target, queries=laws.QUERIES)
        assert done.passed
        assert "very-secret" not in done.snippet
        laws.check_snippet(done, target)


def test_vectors_by_their_names_are_read(target, held):
    models = qdrant.models
    sizes = {"text": 2, "image": 3}
    config = {name: models.VectorParams(size=size, distance=models.Distance.DOT) for name, size in sizes.items()}
    held.create_collection("things", vectors_config=config)
    vectors = [{"text": [n, 1.0], "image": [0.0, n, 1.0]} for n in (1.0, 2.0)]
    points = [models.PointStruct(id=n, vector=v, payload={"code": f"c{n}"}) for n, v in enumerate(vectors)]
    held.upsert("things", points)
    rows, facts = laws.read_back(target, vector_name="image", id_field="code")
    assert {name: row.tolist() for name, row in rows.items()} == {"c0": [0, 1, 1], "c1": [0, 2, 1]}
    assert facts.dimension == 3
    with pytest.raises(DataError, match="has no vectors called 'sound': it has text, image"):
        laws.read_back(target, vector_name="sound")


def test_every_request_that_an_export_makes_is_made_here(target, server):
    done = export("dot", laws.DOCUMENTS, target, queries=laws.QUERIES)
    laws.check_snippet(done, target)
    laws.read_back(target)
    export("dot", laws.DOCUMENTS[:9], target, replace=True)
    engine, where = laws.engine_of(target)
    with engine.open(where) as collection:
        collection.discard(["3"])
        assert np.isfinite(collection.read().vectors).all()
    assert set(server.asked) == ENDPOINTS
