"""DuckDB: exact by core functions, the graph by the extension vss from its package; nothing is downloaded."""

from __future__ import annotations

import json
import shutil
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines import duckdb as ours
from offsphere.engines.collection import Layout
from offsphere.engines.duckdb import DUCKDB
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("duckdb_extension_vss")
ROWS = laws.DOCUMENTS[:50, :4]
LARGE, ASKED = laws.vectors_of(5, 3_000, 24), laws.vectors_of(6, 40, 24)


@pytest.fixture
def target(tmp_path):
    return f"duckdb:{tmp_path}/vectors.duckdb:docs"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_every_scorer_is_served_exactly(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.SCORERS)
def test_every_scorer_is_served_by_the_graph(target, name):
    laws.check_served(target, name, LARGE, ASKED, index="graph")


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "norm-mix(0.9)"])
def test_the_graph_finds_enough_and_is_used(tmp_path, target, name):
    done = laws.check_served(target, name, LARGE, ASKED, index="graph")
    laws.check_snippet(done, target, ASKED)
    sql = next(line for line in done.snippet.splitlines() if line.startswith("sql = ")).removeprefix("sql = ")
    with duckdb.connect(tmp_path / "vectors.duckdb", read_only=True) as connection:
        connection.execute(f"LOAD '{ours.extension_path()}'")
        asked = done.strategy.serving.queries(ASKED[:1])[0].tolist()
        assert "HNSW_INDEX_SCAN" in connection.execute(f"EXPLAIN {json.loads(sql)}", [asked]).fetchall()[0][1]


@pytest.mark.parametrize("name", ["dot", "cosine", "euclidean", "polar(1, 0.5)"])
def test_the_snippet_gives_what_the_table_gives(target, name):
    laws.check_snippet(laws.check_served(target, name, index="exact"), target)


@pytest.mark.parametrize("k", [100, 1_000])
def test_k_is_honoured_by_the_graph(target, k):
    done = export("dot", LARGE, target, queries=ASKED[:5], k=k, index="graph")
    assert done.verification.short == 0
    assert len(laws.run_snippet(done, ASKED[:1])) == k


@pytest.mark.parametrize("index", ["exact", "graph"])
@pytest.mark.parametrize("metric", list(Metric))
def test_scores_come_back_as_the_facts_say(target, metric, index):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(4, metric, index))
        collection.add([str(row) for row in range(len(ROWS))], ROWS)
        collection.finish()
        assert collection.facts().metric is metric
        hits = collection.search(ROWS[:3] * 2, 50)
        assert (collection.read().vectors == ROWS).all()
    for query, names, scores in zip(ROWS[:3] * 2, hits.ids, hits.scores, strict=True):
        rows = ROWS[[int(name) for name in names]].astype(np.float64)
        right = {
            Metric.EUCLIDEAN: np.linalg.norm(rows - query, axis=1),
            Metric.INNER_PRODUCT: rows @ query,
            Metric.COSINE: rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query),
        }[metric]
        assert np.allclose(DUCKDB.metrics[metric].returned.value(scores), right, atol=1e-5)
    assert f"ORDER BY {ours.FUNCTIONS[metric]}(vector, query)" == DUCKDB.metrics[metric].setting


def test_it_reads_back(target):
    laws.check_reads_back(target)


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


@pytest.mark.parametrize("kind", ["exact", "graph"])
def test_real_vectors_are_served(embedded, target, kind):
    laws.check_real(embedded, target, kind, k=10)  # its graph of inner products finds 94.8 % of 20, at any effort


def test_twice_is_once(target, tmp_path):
    laws.check_idempotent(target, tmp_path / "out")


WITHIN = """
def killed(self, ids, rows):
    left[0] -= 1
    if left[0]:
        return plain(self, ids, rows)
    with self.writing() as connection:
        connection.executemany("INSERT INTO docs VALUES (?, ?)", [[name, row.tolist()] for name, row in zip(ids, rows)])
        os.kill(os.getpid(), signal.SIGKILL)
kind.add = killed
"""
INDEXED = """
build = kind._build_graph
def killed(*given):
    build(*given)
    os.kill(os.getpid(), signal.SIGKILL)
kind._build_graph = killed
"""


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"calls": 4}, marks=pytest.mark.slow),
        {"calls": 5, "code": WITHIN},
        pytest.param({"step": "create", "calls": 1}, marks=pytest.mark.slow),
        pytest.param({"step": "finish", "calls": 1, "moment": "before", "index": "graph"}, marks=pytest.mark.slow),
        {"step": "finish", "calls": 9, "index": "graph", "code": INDEXED, "unfinished": True},
        pytest.param({"step": "finish", "calls": 1, "index": "graph"}, marks=pytest.mark.slow),
    ],
    ids=["between two batches", "in a batch", "before the first", "before the graph", "after the graph", "after all"],
)
def test_a_kill_in_the_middle_costs_nothing(target, tmp_path, how):
    laws.check_killed(target, tmp_path / "killed", **how)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("vectors")] == ["vectors.duckdb"]
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("docs",)]


def test_tables_of_others_are_read_and_left_as_they_are(tmp_path, target):
    engine, where = engine_of(target)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 4)
    mine = pa.table({"key": [f"k{row}" for row in range(50)], "x": [0] * 50, "My emb": lists})  # noqa: F841  # DuckDB sees it
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        connection.execute('CREATE TABLE "Docs" ("key" VARCHAR PRIMARY KEY, x INT, "My emb" FLOAT[4])')
        connection.execute('INSERT INTO "Docs" SELECT * FROM mine')
        connection.execute('CREATE TABLE several AS SELECT "My emb" AS a, "My emb"::DOUBLE[] AS b FROM "Docs"')
        connection.execute("CREATE TABLE holes AS SELECT NULL::FLOAT[4] AS v, 'x' AS id")
        connection.execute("CREATE TABLE none AS SELECT 1 AS id")
    before = laws.files_under(tmp_path)
    with engine.open(where) as collection:
        facts = collection.facts()
        vectors, ids = collection.read()
        with pytest.raises(OffsphereError, match="was made for no metric"):
            collection.search(ROWS[:1], 3)
    assert (facts.dimension, facts.metric, facts.rows, facts.stored) == (4, None, 50, "FLOAT[4]")
    assert (vectors == ROWS).all()
    assert ids == [f"k{row}" for row in range(50)]
    with (
        engine.open(where._replace(name="several")) as collection,
        pytest.raises(DataError, match="vectors, a, b: say"),
    ):
        collection.facts()
    with engine.open(where._replace(name="several"), vector_name="b") as collection:
        assert collection.facts().dimension == 4
        vectors, ids = collection.read()
    assert (vectors == ROWS).all()
    assert ids is None
    with (
        engine.open(where._replace(name="holes")) as collection,
        pytest.raises(VectorError, match="row 0 has no vector"),
    ):
        collection.read()
    with engine.open(where._replace(name="none")) as collection, pytest.raises(DataError, match="no column of vectors"):
        collection.facts()
    with engine.open(where._replace(name="nothing")) as collection:
        assert collection.facts() is None
    assert laws.files_under(tmp_path) == before


def test_the_graph_of_somebody_else_says_its_metric(tmp_path, target):
    engine, where = engine_of(target)
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        connection.execute(f"LOAD '{ours.extension_path()}'; SET hnsw_enable_experimental_persistence = true")
        connection.execute("CREATE TABLE docs AS SELECT 1 AS id, [1, 2]::FLOAT[2] AS v")
        connection.execute("CREATE INDEX mine ON docs USING HNSW (v) WITH (metric = 'ip')")
    with engine.open(where) as collection:
        facts = collection.facts()
        assert (facts.dimension, facts.metric, facts.rows, facts.index) == (2, Metric.INNER_PRODUCT, 1, "HNSW")
        assert collection.search(np.float32([[3, 4]]), 1).scores[0].tolist() == [-11.0]


def test_without_the_extension_a_graph_says_what_to_install_and_nothing_is_made(tmp_path, target, monkeypatch):
    monkeypatch.setattr(ours, "find_spec", lambda _: None)
    nowhere = MappingProxyType({**ours.OFFLINE, "extension_directory": str(tmp_path / "extensions")})
    monkeypatch.setattr(ours, "OFFLINE", nowhere)
    with pytest.raises(
        OffsphereError, match=f"pip install duckdb-extension-vss=={duckdb.__version__}, or run INSTALL vss"
    ):
        export("dot", ROWS, target, index="graph")
    assert not (tmp_path / "vectors.duckdb").exists()
    assert export("dot", ROWS, target).passed


def test_an_extension_that_duckdb_has_installed_itself_is_taken(tmp_path, target, monkeypatch):
    path = ours.extension_path()
    with duckdb.connect() as connection:
        platform = connection.execute("PRAGMA platform").fetchone()[0]
    folder = tmp_path / "extensions" / f"v{duckdb.__version__}" / platform
    folder.mkdir(parents=True)
    shutil.copy(path, folder / "vss.duckdb_extension")
    monkeypatch.setattr(ours, "find_spec", lambda _: None)
    monkeypatch.setattr(ours, "OFFLINE", {**ours.OFFLINE, "extension_directory": str(tmp_path / "extensions")})
    done = export("dot", ROWS, target, index="graph")
    assert done.passed
    assert 'connection.execute("LOAD vss")' in done.snippet


def test_what_is_no_database_or_is_in_use_is_one_line(tmp_path, target):
    (tmp_path / "vectors.duckdb").write_bytes(b"junk " * 5_000)
    with pytest.raises(OffsphereError, match=r"DuckDB cannot use .*vectors.duckdb: .*not a valid DuckDB database"):
        export("dot", ROWS, target)
    with pytest.raises(DataError, match="is a folder"):
        export("dot", ROWS, f"duckdb:{tmp_path}:docs")
    with duckdb.connect(tmp_path / "other.duckdb"), pytest.raises(OffsphereError, match="DuckDB cannot use") as caught:
        export("dot", ROWS, f"duckdb:{tmp_path}/other.duckdb:docs")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ['do"cs; DROP TABLE x', "it's", "a b", "select", "öffentlich"])
def test_a_name_is_a_name_whatever_is_in_it(tmp_path, name):
    done = export("dot", ROWS, f"duckdb:{tmp_path}/vectors.duckdb:{name}", index="graph")
    assert len(laws.run_snippet(done, ROWS[:1])) == 10
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [(name,)]


def test_a_file_in_which_another_table_has_a_graph_is_written_and_cleaned(tmp_path, target):
    """Once: DuckDB wrote nothing to its end, since nobody had loaded what knows that graph."""
    export("dot", ROWS, target, index="graph")
    others = f"duckdb:{tmp_path}/vectors.duckdb:others"
    export("dot", ROWS, others, index="exact")
    laws.check_holds(others, [str(row) for row in range(len(ROWS))], ROWS)
    engine, where = engine_of(others)
    with engine.open(where) as collection:
        collection.remove()
    laws.check_holds(target, [str(row) for row in range(len(ROWS))], ROWS)


def test_the_printed_code_asks_every_band(tmp_path, target):
    laws.check_bands(target, tmp_path / "out")


@pytest.mark.slow
def test_bands_of_length_share_one_file(tmp_path, target):
    done = export("dot", LARGE, target, queries=ASKED, index="graph", tune=True)
    assert any(strategy.edges for strategy, _ in done.raced)
    assert done.passed
    with duckdb.connect(tmp_path / "vectors.duckdb", read_only=True) as connection:
        names = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    assert not [name for name in names if "race" in name]


def test_a_table_that_is_removed_leaves_no_file_behind_but_keeps_those_of_others(tmp_path, target):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(4, Metric.COSINE))
        collection.remove()
    assert not list(tmp_path.iterdir())
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        connection.execute("CREATE TABLE mine (x INT)")
    with engine.open(where) as collection:
        collection.create(Layout(4, Metric.COSINE))
        collection.remove()
    with duckdb.connect(tmp_path / "vectors.duckdb") as connection:
        assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("mine",)]
