"""Probing: what is seen of each real engine is what its file says of it, and nothing is left behind."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from scripts.engine_table import FULL_SCAN, HEAD, STABLE, row_of

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError
from offsphere.cli.probe import print_probe
from offsphere.engines import qdrant_edge
from offsphere.engines.collection import Collection
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.exporting import export
from offsphere.engines.target import Target
from tests.cli.running import run_here
from tests.engines.numpy_engine import OURS, NumpyCollection
from tests.processes import ROOT, run_command

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages

FILES = {"faiss": "x.faiss", "usearch": "x.usearch", "hnswlib": "x.hnsw", "qdrant-edge": "edge"}
PLACES = {
    "qdrant": "folder",
    "lancedb": "folder",
    "duckdb": "x.duckdb",
    "sqlite": "x.sqlite",
    "chroma": "folder",
    "milvus": "x.db",
}
NAMES = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "dot", Metric.EUCLIDEAN: "distance"}
GRAPH_ALONE, EXACT_ALONE = {"hnswlib", "chroma"}, {"qdrant", "sqlite"}
PREFIXES = [*FILES, *PLACES, "postgres"]
INDEXES = [(prefix, "exact") for prefix in PREFIXES if prefix not in GRAPH_ALONE]
INDEXES += [(prefix, "graph") for prefix in PREFIXES if prefix not in EXACT_ALONE]
INDEXES += [(prefix, "lists") for prefix in ("faiss", "lancedb", "milvus", "postgres")]
RNG = np.random.default_rng(0)
DOCUMENTS = (RNG.normal(size=(300, 8)) * RNG.lognormal(0, 1, (300, 1))).astype(np.float32)


@pytest.fixture
def target_of(request, tmp_path):
    """A function from an engine's prefix to a target of it."""

    def target(prefix):
        if prefix == "postgres":
            return f"postgres:{request.getfixturevalue('postgres_address')}:docs"
        if prefix in FILES:
            return f"{prefix}:{tmp_path}/{FILES[prefix]}"
        return f"{prefix}:{tmp_path}/{PLACES[prefix]}:docs"

    return target


def page_rows():
    """The table of the page, by engine and index."""
    lines = [line for line in (ROOT / "docs" / "engines.md").read_text().splitlines() if line.startswith("|")]
    cells = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
    start = next(number for number, row in enumerate(cells) if row[0] == HEAD[0])
    assert cells[start] == HEAD
    return {row[0]: row for row in cells[start + 2 :] if len(row) == len(HEAD)}


def check(seen, engine, index):
    assert [probed.metric for probed in seen.metrics] == [str(metric) for metric in engine.metrics]
    for probed in seen.metrics:
        facts = engine.metrics[Metric(probed.metric)]
        assert probed.as_set, probed
        name = NAMES[Metric(probed.metric)]
        assert probed.form.inverse == facts.returned.formula(name)
        assert probed.form.error < 1e-4
        assert not probed.quantised  # as the page says below its table, and of numbers that are added
        assert probed.augmentation.startswith("none that shows")
        if engine.prefix != "qdrant":  # in a folder its client keeps lengths; the engine itself, and Edge, do not
            assert probed.keeps_length in (facts.keeps_length, None)
            assert probed.stored.startswith("as they were" if facts.keeps_length else "normalised")
        came = dict(probed.returned)
        assert came[10] == 10 or (index == "lists" and came[10] < 10)  # one list may hold fewer
        if index == "lists":
            assert 10 <= came[1_200] <= 1_200
        elif (engine.prefix, index) == ("postgres", "graph"):
            assert came[100] in (40, 41)  # candidates, of which two equal vectors are one
        else:
            assert came[100] == 100
        if probed.metric == "euclidean":  # (0, 0) is as far from what is asked, (1, 0), as (2, 0) is
            assert probed.zero in ("returned in place 2 of 3", "returned in place 3 of 3")
        elif probed.metric == "inner product":
            assert probed.zero == "returned in place 3 of 3"


@pytest.mark.parametrize(("prefix", "index"), INDEXES)
def test_what_is_seen_of_an_engine_is_what_its_file_and_the_page_say(prefix, index, target_of, tmp_path, monkeypatch):
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", FULL_SCAN)
    target = target_of(prefix)
    engine, _ = engine_of(target)
    seen = osp.probe(target, index=index)
    check(seen, engine, index)
    row, shown = row_of(seen, index), page_rows()[f"{engine.name}, {index}"]
    assert row[: len(STABLE)] == shown[: len(STABLE)]
    if index == "exact":
        assert row[:-1] == shown[:-1]
    assert shown[-1] != "as stored" or row[-1] == "as stored"
    left = [path.name for path in tmp_path.rglob("*") if "probe" in path.name]
    assert not [name for name in left if not name.startswith(".")], "something of the scratch collection is left"


def test_what_the_page_says_of_qdrant_edges_graph_is_of_a_graph(tmp_path, monkeypatch):
    """Once: so few vectors got none, and all of them were compared."""
    edge = pytest.importorskip("qdrant_edge")
    monkeypatch.setattr(qdrant_edge, "FULL_SCAN", FULL_SCAN)
    built, plain = [], qdrant_edge.QdrantEdgeCollection.finish

    def noted(self):
        plain(self)
        built.append(self._opened().info().indexed_vectors_count)

    monkeypatch.setattr(qdrant_edge.QdrantEdgeCollection, "finish", noted)
    assert edge.EdgeShard
    osp.probe(f"qdrant-edge:{tmp_path}/edge", index="graph")
    assert [count for count in built if count] == [1_200] * 3  # for each metric; three vectors beside need none


def test_every_engine_that_can_be_opened_is_probed_here_and_stands_on_the_page():
    assert {engine.prefix for engine in ENGINES if engine.open is not None} == set(PREFIXES)
    names = {engine.prefix: engine.name for engine in ENGINES}
    assert set(page_rows()) == {f"{names[prefix]}, {index}" for prefix, index in INDEXES}


@pytest.mark.parametrize("prefix", PREFIXES)
def test_reading_only_tells_what_a_collection_of_any_engine_does(prefix, target_of):
    target = target_of(prefix)
    export("euclidean", DOCUMENTS, target, replace=True)
    seen = osp.probe(target, read_only=True)
    assert (seen.facts.rows, seen.facts.dimension, str(seen.facts.metric)) == (300, 8, "euclidean")
    (probed,) = seen.metrics
    assert probed.as_set
    assert probed.form.inverse == engine_of(target)[0].metrics[Metric.EUCLIDEAN].returned.formula("distance")
    assert probed.recall > 0.95
    assert (probed.stored, probed.quantised, seen.unknown) == ("with lengths that differ", False, "")


def table_of_somebody(prefix, target):
    """A table that no export made: with ids, vectors and no index, in the engine's own way."""
    if prefix == "lancedb":
        lancedb = pytest.importorskip("lancedb")
        rows = [{"id": f"d{row}", "vector": vector} for row, vector in enumerate(DOCUMENTS.tolist())]
        lancedb.connect(target.split(":")[1]).create_table("docs", rows)
        return
    values = ", ".join(f"('d{row}', '{vector.tolist()}')" for row, vector in enumerate(DOCUMENTS))
    if prefix == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(target.split(":")[1]) as connection:
            connection.execute("CREATE TABLE docs (id VARCHAR, vector FLOAT[8])")
            connection.execute(f"INSERT INTO docs VALUES {values}")
        return
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(target.removeprefix("postgres:").rpartition(":")[0]) as connection:
        connection.execute("DROP TABLE IF EXISTS docs")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE TABLE docs (id text PRIMARY KEY, embedding vector(8))")
        connection.execute(f"INSERT INTO docs VALUES {values}")


@pytest.mark.parametrize("prefix", ["lancedb", "duckdb", "postgres"])
def test_a_table_whose_queries_choose_the_metric_says_so(prefix, target_of):
    """Once: its facts were lost to the error that a search there is."""
    target = target_of(prefix)
    table_of_somebody(prefix, target)
    seen = osp.probe(target, read_only=True)
    assert (seen.facts.rows, seen.facts.dimension, seen.facts.metric, list(seen.metrics)) == (300, 8, None, [])
    assert seen.unknown == "Each query chooses its metric: there is none to tell of."
    printed = run_here("probe", target, "--read-only").stdout
    assert "300 vectors of 8 dimensions" in printed
    assert "Each query chooses its metric" in printed
    assert json.loads(run_here("probe", target, "--read-only", "--json").stdout)["unknown"] == seen.unknown


def index_of_somebody(prefix, target):
    """A collection that ranks by the sum of absolute differences."""
    if prefix == "faiss":
        faiss = pytest.importorskip("faiss")
        index = faiss.IndexFlat(8, faiss.METRIC_L1)
        index.add(DOCUMENTS)
        faiss.write_index(index, target.partition(":")[2])
    elif prefix == "qdrant":
        qdrant = pytest.importorskip("qdrant_client")
        parameters = qdrant.models.VectorParams(size=8, distance=qdrant.models.Distance.MANHATTAN)
        client = qdrant.QdrantClient(path=target.split(":")[1])
        client.create_collection("docs", vectors_config=parameters)
        points = [qdrant.models.PointStruct(id=row, vector=vector) for row, vector in enumerate(DOCUMENTS.tolist())]
        client.upsert("docs", points)
        client.close()
    else:
        psycopg = pytest.importorskip("psycopg")
        table_of_somebody(prefix, target)
        with psycopg.connect(target.removeprefix("postgres:").rpartition(":")[0]) as connection:
            connection.execute("CREATE INDEX ON docs USING hnsw (embedding vector_l1_ops)")


@pytest.mark.parametrize(("prefix", "word"), [("faiss", "L1"), ("qdrant", "Manhattan"), ("postgres", "vector_l1_ops")])
def test_a_metric_that_we_do_not_have_is_named_and_is_not_called_cosine(prefix, word, target_of):
    target = target_of(prefix)
    index_of_somebody(prefix, target)
    seen = osp.probe(target, read_only=True)
    assert (seen.facts.rows, seen.facts.metric, seen.facts.other_metric, list(seen.metrics)) == (300, None, word, [])
    printed = run_here("probe", target, "--read-only").stdout
    assert f"It ranks by {word}, a metric that we do not have: no more can be told." in printed
    assert "cosine" not in printed


def test_a_table_without_ids_is_refused_where_its_answers_could_not_be_told(target_of, tmp_path):
    """Once: LanceDB's distances were taken for the ids."""
    lancedb = pytest.importorskip("lancedb")
    target = target_of("lancedb")
    rows = [{"code": f"c{row}", "vector": vector} for row, vector in enumerate(DOCUMENTS.tolist())]
    table = lancedb.connect(tmp_path / "folder").create_table("docs", rows)
    table.create_index(metric="cosine", index_type="IVF_FLAT", num_partitions=1)
    with pytest.raises(DataError, match="no column of ids to answer with: name one with --id-field"):
        osp.probe(target, read_only=True)
    (probed,) = osp.probe(target, read_only=True, id_field="code").metrics
    assert (probed.metric, probed.as_set) == ("cosine", True)
    np.savez(tmp_path / "queries.npz", vectors=DOCUMENTS[:3], ids=np.array(["q0", "q1", "q2"]))
    (tmp_path / "documents.ids").write_text("\n".join(f"c{row}" for row in range(300)))
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq0\tc0\t1\nq1\tc1\t1\nq2\tc2\t1\n")
    source = osp.CollectionSource(str(tmp_path), collection=target)
    assert source.deployment(*source.load()).answers is None
    named = osp.CollectionSource(str(tmp_path), collection=target, id_field="code")
    assert named.deployment(*named.load()).answers.recall == 1.0


def test_rows_without_ids_are_known_by_their_places_also_after_others_were_deleted(target_of, tmp_path):
    """Once: DuckDB's own numbers of rows were taken for their places, which they are until something is deleted."""
    duckdb = pytest.importorskip("duckdb")
    target = target_of("duckdb")
    export("euclidean", DOCUMENTS, target, index="exact")
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute("DELETE FROM docs WHERE id::INT % 3 = 0")
        connection.execute("ALTER TABLE docs DROP COLUMN id")
    seen = osp.probe(target, read_only=True)
    assert seen.facts.rows == 200
    assert (seen.metrics[0].as_set, seen.metrics[0].recall) == (True, 1.0)


@pytest.mark.parametrize("option", ["--vector-column", "--vector-name", "--column"])
def test_fields_are_chosen_by_their_names(option, target_of, tmp_path):
    lancedb = pytest.importorskip("lancedb")
    pa = pytest.importorskip("pyarrow")
    target = target_of("lancedb")
    columns = [pa.FixedSizeListArray.from_arrays(pa.array(part.ravel()), 4) for part in np.hsplit(DOCUMENTS, 2)]
    ids = [f"c{row}" for row in range(300)]
    table = lancedb.connect(tmp_path / "folder").create_table(
        "docs", pa.table({"code": ids, "text": columns[0], "image": columns[1]})
    )
    table.create_index(metric="dot", index_type="IVF_FLAT", num_partitions=1, vector_column_name="image")
    with pytest.raises(DataError, match="several columns of vectors, text, image: say which by --vector-column"):
        run_here("probe", target, "--read-only")
    named = ["--id-field", "code", option, "image", "--json"]
    seen = json.loads(run_here("probe", target, "--read-only", *named).stdout)
    assert (seen["facts"]["dimension"], seen["metrics"][0]["formula"]) == (4, "dot = 1 - score")
    with pytest.raises(DataError, match="has no column 'title'"):
        run_here("probe", target, "--read-only", "--id-field", "title", option, "image")
    with pytest.raises(ParameterError, match="name fields of a collection that is there: add --read-only"):
        run_here("probe", target, *named)


def test_fewer_digits_are_seen(target_of):
    """Milvus keeps the vectors, and searches in eight bits a number."""
    target = target_of("milvus")
    export("dot", DOCUMENTS, target, index="graph", stored="int8")
    (probed,) = osp.probe(target, read_only=True).metrics
    assert probed.quantised
    assert probed.as_set
    assert "it stores fewer digits" in run_here("probe", target, "--read-only").stdout


@pytest.mark.parametrize("hides", [False, True], ids=["shown", "hidden"])
def test_an_engine_of_ones_own_is_told_as_it_is(hides, monkeypatch, capsys):
    """Half precision, fifty documents at most, and a coordinate that shows or of which nobody can say anything."""
    monkeypatch.setattr(NumpyCollection, "hides", hides)
    seen = osp.probe((OURS, Target("ours", "memory", "docs")))
    (probed,) = seen.metrics
    assert (probed.as_set, probed.quantised, probed.keeps_length) == (True, True, True)
    assert probed.form.inverse == "dot = 1 - score"
    assert probed.stored == ("float16" if hides else "augmented")
    assert dict(probed.returned) == {10: 10, 100: 50, 1_000: 50, 1_200: 50}
    print_probe(seen)
    printed = capsys.readouterr().out
    assert ("numbers are added to each vector" in printed) is not hides
    assert ("numbers that are added and hidden cannot be told" in printed) is hides
    page = (ROOT / "CONTRIBUTING.md").read_text()
    assert (ROOT / "tests" / "engines" / "numpy_engine.py").read_text() in page
    shown = [line for line in printed.splitlines() if line.strip().startswith(("scores", "vectors", "augmentation"))]
    assert all(line in page.splitlines() for line in (shown[1:] if hides else shown))


def test_what_cannot_be_read_back_is_not_said_to_be_as_it_was(monkeypatch):
    monkeypatch.setattr(NumpyCollection, "read", Collection.read)
    (probed,) = osp.probe((OURS, Target("ours", "memory", "docs"))).metrics
    assert (probed.stored, probed.keeps_length) == ("cannot be read back", None)
    assert probed.augmentation == "cannot be told: what is stored cannot be read back"


def test_reading_only_tells_of_a_collection_that_is_there_and_changes_no_byte_of_it(tmp_path):
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(300, 8)) * rng.lognormal(0, 1, (300, 1))).astype(np.float32)
    for prefix, name, unit in (("faiss", "dot", False), ("faiss", "cosine", True), ("usearch", "euclidean", False)):
        target = f"{prefix}:{tmp_path}/{prefix}-{name}.{prefix}"
        export(name, documents, target)
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
        seen = osp.probe(target, read_only=True)
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before
        assert seen.facts.rows == 300
        (probed,) = seen.metrics
        assert probed.as_set
        assert probed.recall > 0.95
        assert (probed.stored == "normalised") is unit


def test_a_collection_of_half_the_digits_says_so(tmp_path):
    """One that somebody else made as usearch does unless told otherwise, and one of whole digits beside it."""
    usearch = pytest.importorskip("usearch.index")
    rows = np.random.default_rng(0).normal(size=(400, 32)).astype(np.float32)
    for kind in ("bf16", "f32"):
        index = usearch.Index(ndim=32, metric="ip", dtype=kind)
        index.add(np.arange(400), rows)
        index.save(str(tmp_path / f"{kind}.usearch"))
        seen = osp.probe(f"usearch:{tmp_path}/{kind}.usearch", read_only=True)
        assert seen.facts.stored == kind
        assert seen.metrics[0].form.of == "dot"


def test_what_cannot_be_probed_is_told_in_one_line(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        osp.probe(f"faiss:{tmp_path}/none.faiss", read_only=True)
    with pytest.raises(ParameterError, match="hnswlib has no exact index"):
        osp.probe(f"hnswlib:{tmp_path}/x.hnsw", index="exact")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_the_command_prints_the_formula_and_json_alike(tmp_path):
    printed = run_command("probe", f"usearch:{tmp_path}/x.usearch")
    assert printed.returncode == 0
    assert "dot = 1 - score; smaller is better" in printed.stdout
    parts = json.loads(run_command("probe", f"usearch:{tmp_path}/x.usearch", "--json").stdout)["metrics"]
    assert [part["formula"] for part in parts] == ["cosine = 1 - score", "dot = 1 - score", "distance = sqrt(score)"]
