"""LanceDB: every scorer by table, graph and lists; half a table is never taken for the whole; tables of others."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.collection import Layout
from offsphere.engines.files.exchange import export_store, import_vectors
from offsphere.engines.lancedb import LANCEDB
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws
from tests.engines.conftest import IDS, ROWS, store_of

lancedb = pytest.importorskip("lancedb")
pytestmark = pytest.mark.filterwarnings("ignore")  # of the package
LARGE, ASKED = laws.vectors_of(5, 3_000, 24), laws.vectors_of(6, 40, 24)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "l"


@pytest.fixture
def target(folder):
    return f"lancedb:{folder}:docs"


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_every_scorer_is_served_exactly(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.SCORERS)
def test_every_scorer_is_served_by_the_graph(target, name):
    laws.check_served(target, name, LARGE, ASKED, index="graph")


@pytest.mark.parametrize(("kind", "index"), [("graph", "IVF_HNSW_FLAT"), ("lists", "IVF_FLAT")])
@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "norm-mix(0.9)"])
def test_an_index_finds_enough_and_is_used(folder, target, name, kind, index):
    done = laws.check_served(target, name, LARGE, ASKED, index=kind)
    laws.check_snippet(done, target, ASKED)
    table = lancedb.connect(str(folder)).open_table("docs")
    assert table.index_stats("vector_idx").index_type == index
    word = {"cosine": "cosine", "euclidean": "l2"}.get(name, "dot")
    plan = table.search(done.strategy.serving.queries(ASKED[:1])[0]).distance_type(word).limit(10).explain_plan()
    assert "ANNSubIndex" in plan


@pytest.mark.parametrize("name", ["dot", "cosine", "euclidean", "polar(1, 0.5)"])
def test_the_snippet_gives_what_the_table_gives(target, name):
    laws.check_snippet(laws.check_served(target, name, index="exact"), target)


@pytest.mark.parametrize("index", ["exact", "graph"])
@pytest.mark.parametrize("metric", list(Metric))
def test_scores_come_back_as_the_facts_say_and_lengths_are_kept(target, metric, index):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(6, metric, index))
        collection.add(IDS, ROWS)
        collection.finish()
        assert collection.facts().metric is metric
        hits = collection.search(ROWS[:3] * 2, 50)
        assert (collection.read().vectors == ROWS).all()
    for query, names, scores in zip(ROWS[:3] * 2, hits.ids, hits.scores, strict=True):
        rows = ROWS[[IDS.index(name) for name in names]].astype(np.float64)
        right = {
            Metric.EUCLIDEAN: np.linalg.norm(rows - query, axis=1),
            Metric.INNER_PRODUCT: rows @ query,
            Metric.COSINE: rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query),
        }[metric]
        assert np.allclose(LANCEDB.metrics[metric].returned.value(scores), right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("k", [100, 1_000])
def test_k_is_honoured_by_the_graph(target, k):
    done = export("dot", LARGE, target, queries=ASKED[:5], k=k, index="graph", effort=20)
    assert done.verification.short == 0
    assert len(laws.run_snippet(done, ASKED[:1])) == k


@pytest.mark.parametrize(("stored", "kind"), [("float16", "exact"), ("int8", "graph"), ("int8", "lists")])
def test_fewer_bits_are_stored_where_that_is_asked_for(folder, target, stored, kind):
    done = export("dot", LARGE, target, queries=ASKED, stored=stored, index=kind)
    assert done.verification.recall > 0.9
    laws.check_snippet(done, target, ASKED)
    table = lancedb.connect(str(folder)).open_table("docs")
    numbers = table.schema.field("vector").type.value_type
    assert numbers == (pa.float16() if stored == "float16" else pa.float32())
    if stored == "int8":
        assert table.index_stats("vector_idx").index_type == {"graph": "IVF_HNSW_SQ", "lists": "IVF_SQ"}[kind]


def test_bits_find_candidates_and_vectors_choose_among_them(target):
    done = laws.check_bits(target, "lists")
    index = lancedb.connect(target.split(":")[1]).open_table("docs").list_indices()[0]
    assert str(index.index_type).replace("_", "").lower() == "ivfrq"
    assert ".refine_factor(" in done.snippet


@pytest.mark.parametrize(
    ("width", "kind", "words"),
    [
        (24, "exact", "stores binary in inverted lists only: take --index lists"),
        (24, "graph", "stores binary in inverted lists only: take --index lists"),
        (20, "lists", "stores bits by the eight, so that 8 must divide them"),
    ],
)
def test_bits_that_it_cannot_hold_are_refused(target, folder, width, kind, words):
    with pytest.raises(OffsphereError, match=words):
        export("dot", laws.vectors_of(3, 300, width), target, index=kind, stored="binary")
    assert not folder.exists() or not list(folder.glob("*.lance"))


def test_int8_without_an_index_is_refused(target, folder):
    with pytest.raises(OffsphereError, match="LanceDB stores int8 in an index only: take --index graph or lists"):
        export("dot", LARGE, target, stored="int8")
    assert not folder.exists()


def test_it_reads_back(target):
    laws.check_reads_back(target)


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, [*laws.ODD_IDS, laws.LONG_ID])


@pytest.mark.parametrize("kind", ["exact", "graph"])
def test_real_vectors_are_served(embedded, target, kind):
    laws.check_real(embedded, target, kind)


def test_twice_is_once(target, tmp_path):
    laws.check_idempotent(target, tmp_path / "out")


WITHIN = """
def killed(self, blocks):
    left[0] -= 1
    if left[0]:
        return plain(self, blocks)
    # what a kill leaves before a version is written
    (self.files / "data" / "half.lance").write_bytes(next(iter(blocks)).rows.tobytes())
    os.kill(os.getpid(), signal.SIGKILL)
kind.add_blocks = killed
"""


@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"step": "add_blocks", "calls": 2}, marks=pytest.mark.slow),
        {"step": "add_blocks", "calls": 2, "code": WITHIN},
        pytest.param({"step": "create", "calls": 1}, marks=pytest.mark.slow),
        pytest.param({"step": "finish", "calls": 1, "moment": "before", "index": "graph"}, marks=pytest.mark.slow),
        pytest.param({"step": "finish", "calls": 1, "index": "lists"}, marks=pytest.mark.slow),
    ],
    ids=["between two batches", "in a batch", "before the first", "before the index", "after all"],
)
def test_a_kill_in_the_middle_costs_nothing(folder, target, tmp_path, how):
    laws.check_killed(target, tmp_path / "killed", **how)
    assert not list(folder.rglob("half.lance"))
    assert not list(folder.rglob("*.unfinished"))
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["docs.lance"]


def test_an_address_in_the_network_makes_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OffsphereError, match="LanceDB is reached in a local folder only: write lancedb:FOLDER:TABLE"):
        export("dot", LARGE, "lancedb:s3://bucket/database:docs")
    assert not list(tmp_path.iterdir())


def test_columns_of_other_names_are_read(folder, target):
    vectors = pa.array([[1.5, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))
    columns = {"name": ["a", "b"], "title": vectors, "body": vectors}
    lancedb.connect(str(folder)).create_table("docs", pa.table(columns))
    engine, where = engine_of(target)
    with (
        engine.open(where) as collection,
        pytest.raises(DataError, match="of vectors, title, body: say which by --vector"),
    ):
        collection.facts()
    with engine.open(where, id_field="name", vector_name="body") as collection:
        facts = collection.facts()
        assert (facts.dimension, facts.metric, facts.rows) == (2, None, 2)
        read = collection.read()
    assert read.vectors.tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert read.ids == ["a", "b"]
    with engine.open(where, vector_name="none") as collection, pytest.raises(DataError, match="it has title, body"):
        collection.read()


def table_of(folder, **columns):
    lancedb.connect(str(folder)).create_table("t", pa.table(columns), on_bad_vectors="null")


def test_half_a_table_is_refused_by_an_import_and_replaced_by_an_export(tmp_path, store, folder, monkeypatch):
    class Killed(SystemExit):  # which no line is made of
        pass

    def half(database, name, **options):
        (folder / f"{name}.lance" / "data").mkdir()
        (folder / f"{name}.lance" / "data" / "part.lance").write_bytes(b"half of a file")
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
    with pytest.raises(
        DataError, match="holds 7 vectors of 3 dimensions for inner product already: choose another name"
    ):
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
        with pytest.raises(OffsphereError, match=r"cannot name a LanceDB table|cannot read the target"):
            work()
    assert not folder.exists()


def test_a_name_that_is_too_long_is_one_line(store, folder):
    with pytest.raises(OffsphereError, match=r"cannot name a LanceDB table: .* at most 200"):
        export_store(store, f"lancedb:{folder}:{'x' * 300}")


def test_paths_that_are_no_database_are_one_line(tmp_path, store, folder):
    (tmp_path / "file").write_text("")
    with pytest.raises(OffsphereError, match="file is a file, not the folder of a LanceDB database"):
        import_vectors(f"lancedb:{tmp_path}/file:t", tmp_path / "again")
    with pytest.raises(OffsphereError, match="file is a file, not the folder"):
        export_store(store, f"lancedb:{tmp_path}/file:t")
    with pytest.raises(DataError, match="does not exist"):
        import_vectors(f"lancedb:{folder}:t", tmp_path / "again")
    assert not folder.exists()
    (folder / "t.lance").mkdir(parents=True)
    with pytest.raises(OffsphereError, match="LanceDB cannot use"):
        import_vectors(f"lancedb:{folder}:t", tmp_path / "again")


VECTORS = pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2))
OTHERS = {
    "no column": ({"other": [1.0, 2.0]}, "has no column of vectors"),
    "texts": ({"vector": ["a", "b"]}, "the column 'vector' is of type string: expected lists of floats"),
    "numbers": ({"vector": [1.0, 2.0]}, "is of type double: expected lists"),
    "lists of texts": ({"vector": [["a"], ["b"]]}, "is of type list.*: expected lists of floats"),
    "integers": (
        {"vector": pa.array([[1, 2]], pa.list_(pa.int32(), 2))},
        "is of type fixed.*: expected lists of floats",
    ),
    "null vector": ({"vector": pa.array([[1.0, 2.0], None], pa.list_(pa.float32(), 2))}, "row 1 has no vector"),
    "first null": ({"vector": pa.array([None, [1.0, 2.0]], pa.list_(pa.float32(), 2))}, "row 0 has no vector"),
    "no rows": ({"vector": pa.array([], pa.list_(pa.float32(), 2))}, "has no vectors"),
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
