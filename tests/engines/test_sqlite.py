"""sqlite-vec: exact by cosine and distance; inner products go by distance, with one more coordinate."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.engines.collection import Layout
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from offsphere.engines.sqlite import SQLITE
from tests.engines import engine_laws as laws

apsw = pytest.importorskip("apsw")
sqlite_vec = pytest.importorskip("sqlite_vec")
ROWS = laws.DOCUMENTS[:50, :4]


# half of a transaction is in the file, since the cache has no room for it, and a journal beside it
WITHIN = """
def killed(self, ids, rows):
    left[0] -= 1
    with self.writing() as connection:
        connection.execute("PRAGMA cache_size = 1")
        sql = f"INSERT INTO {self.table} (id, vector) VALUES (?, ?)"
        for number, (name, row) in enumerate(zip(ids, rows)):
            connection.execute(sql, [name, row.tobytes()])
            if left[0] == 0 and number == 40:
                os.kill(os.getpid(), signal.SIGKILL)
kind.add = killed
"""


@pytest.fixture
def target(tmp_path):
    return f"sqlite:{tmp_path}/vectors.db:docs"


def connected(tmp_path):
    connection = apsw.Connection(str(tmp_path / "vectors.db"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_every_scorer_is_served_exactly(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.parametrize("name", ["dot", "cosine", "euclidean", "polar(1, 0.5)"])
def test_the_snippet_gives_what_the_table_gives(target, name):
    laws.check_snippet(laws.check_served(target, name, index="exact"), target)


@pytest.mark.parametrize(("metric", "word"), [(Metric.COSINE, "cosine"), (Metric.EUCLIDEAN, "l2")])
def test_scores_come_back_as_the_facts_say(target, tmp_path, metric, word):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(4, metric))
        collection.add([str(row) for row in range(len(ROWS))], ROWS)
        collection.finish()
        assert collection.facts().metric is metric
        hits = collection.search(ROWS[:3] * 2, 50)
    made = connected(tmp_path).execute("SELECT sql FROM sqlite_master WHERE name = 'docs'").fetchone()[0]
    assert f"distance_metric={word}" in made
    assert f"distance_metric={word}" in SQLITE.metrics[metric].setting
    for query, names, scores in zip(ROWS[:3] * 2, hits.ids, hits.scores, strict=True):
        rows = ROWS[[int(name) for name in names]].astype(np.float64)
        right = np.linalg.norm(rows - query, axis=1)
        if metric is Metric.COSINE:
            right = rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query)
        assert np.allclose(SQLITE.metrics[metric].returned.value(scores), right, atol=1e-5)


def test_it_reads_back(target):
    """By cosine vectors are stored as they are: it keeps lengths."""
    laws.check_reads_back(target, "cosine", "cosine")


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


def test_real_vectors_are_served(embedded, target):
    laws.check_real(embedded, target, "exact")


def test_bits_find_candidates_and_vectors_rank_them(target, tmp_path):
    laws.check_bits(target, "exact")
    made = connected(tmp_path).execute("SELECT sql FROM sqlite_master WHERE name = 'docs'").fetchone()[0]
    assert "bits bit[64]" in made
    with pytest.raises(OffsphereError, match="25 dimensions: sqlite-vec stores bits by the byte"):
        export("dot", laws.vectors_of(5, 50, 24), target, stored="binary", replace=True)


def test_twice_is_once(target, tmp_path):
    laws.check_idempotent(target, tmp_path / "out", "euclidean")


@pytest.mark.parametrize(
    "how",
    [
        {"calls": 4},
        {"calls": 5, "code": WITHIN},
        {"step": "create", "calls": 1},
        {"step": "finish", "calls": 1, "moment": "before"},
    ],
    ids=["between two batches", "in a batch", "before the first", "after the last"],
)
def test_a_kill_in_the_middle_costs_nothing(target, tmp_path, how):
    laws.check_killed(target, tmp_path / "killed", **how, name="euclidean")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("vectors")] == ["vectors.db"]
    names = {name for (name,) in connected(tmp_path).execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert "offsphere_unfinished" not in names


def test_the_largest_k_is_honoured_and_more_is_refused(target):
    rows = laws.vectors_of(3, 4_200, 4)
    done = export("euclidean", rows, target, queries=rows[:2], k=4_096)
    assert (done.verification.recall, done.verification.short) == (1.0, 0)
    with pytest.raises(ParameterError, match="k = 4,097: sqlite-vec gives at most 4,096"):
        export("euclidean", rows, target, queries=rows[:2], k=4_097)


def test_tables_of_others_are_read(tmp_path, target):
    engine, where = engine_of(target)
    connection = connected(tmp_path)
    columns = "Title float[4] distance_metric=cosine, body INT8[4], +note text"
    connection.execute(f"CREATE VIRTUAL TABLE docs USING vec0({columns})")
    for row in range(5):
        connection.execute(
            "INSERT INTO docs (rowid, Title, body) VALUES (?, ?, vec_int8(?))",
            [row + 10, ROWS[row].tobytes(), np.arange(4, dtype=np.int8).tobytes()],
        )
    connection.execute("CREATE TABLE plain (id, vector BLOB)")
    connection.close()
    before = laws.files_under(tmp_path)
    with engine.open(where) as collection, pytest.raises(DataError, match="several columns of vectors, Title, body"):
        collection.facts()
    with engine.open(where, vector_name="Title") as collection:
        facts = collection.facts()
        vectors, ids = collection.read()
    assert (facts.metric, facts.dimension, facts.rows) == (Metric.COSINE, 4, 5)
    assert (vectors == ROWS[:5]).all()
    assert ids == ["10", "11", "12", "13", "14"]
    with engine.open(where, vector_name="body") as collection:
        assert collection.facts().stored == "int8"
        assert collection.read().vectors.tolist() == [[0, 1, 2, 3]] * 5
    with engine.open(where, vector_name="none") as collection, pytest.raises(DataError, match="it has Title, body"):
        collection.read()
    with (
        engine.open(where._replace(name="plain")) as collection,
        pytest.raises(DataError, match="is no table of sqlite"),
    ):
        collection.facts()
    with engine.open(where._replace(name="nothing")) as collection:
        assert collection.facts() is None
    assert laws.files_under(tmp_path) == before


def test_what_is_no_database_is_one_line(tmp_path, target):
    (tmp_path / "vectors.db").write_bytes(b"junk " * 500)
    with pytest.raises(OffsphereError, match=r"SQLite cannot use .*vectors.db: file is not a database"):
        export("cosine", ROWS, target)
    with pytest.raises(DataError, match="is a folder"):
        export("cosine", ROWS, f"sqlite:{tmp_path}:docs")
    with pytest.raises(OffsphereError, match="8,193 dimensions: sqlite-vec has room for 8,192"):
        export("cosine", np.ones((2, 8_193), np.float32), f"sqlite:{tmp_path}/other.db:docs")


def test_a_table_that_is_removed_leaves_no_file_behind_but_keeps_those_of_others(tmp_path, target):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(4, Metric.COSINE))
        collection.remove()
    assert not list(tmp_path.iterdir())
    connected(tmp_path).execute("CREATE TABLE mine (x)")
    with engine.open(where) as collection:
        collection.create(Layout(4, Metric.COSINE))
        collection.remove()
    tables = connected(tmp_path).execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert [name for (name,) in tables if not name.startswith("sqlite_")] == ["mine"]
