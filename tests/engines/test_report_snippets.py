"""The code that a report shows for each engine, run as it is printed, where the same scorer was exported to."""

from __future__ import annotations

from pathlib import Path

import pytest

import offsphere as osp
from offsphere.engines import engine_settings
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES
from offsphere.engines.settings import setting_for
from tests.engines import engine_laws as laws
from tests.engines.postgres_server import over_the_network

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages
PACKAGES = {
    "FAISS": "faiss",
    "Qdrant": "qdrant_client",
    "Qdrant Edge": "qdrant_edge",
    "Chroma": "chromadb",
    "Milvus": "milvus_lite",
    "pgvector": "psycopg",
    "LanceDB": "lancedb",
    "DuckDB": "duckdb",
    "sqlite-vec": "sqlite_vec",
    "usearch": "usearch",
    "hnswlib": "hnswlib",
}
NAMES = ("dot", "cosine", "whiten(0.5) + polar(1, 1.5)")
# in a graph of so few each is linked with all others: it answers as an exact search does
DOCUMENTS, QUERIES = laws.vectors_of(3, 30, 8), laws.vectors_of(4, 5, 8)
IDS = [f"document {row}" for row in range(len(DOCUMENTS))]


@pytest.fixture
def here(request, tmp_path, monkeypatch, engine):
    """A folder of its own to work in, with the server where the example of an engine has one."""
    pytest.importorskip(PACKAGES[engine])
    monkeypatch.chdir(tmp_path)
    if engine == "Milvus":
        from milvus_lite.server_manager import server_manager_instance

        yield
        server_manager_instance.release_server(str(tmp_path / "documents.db"))
    elif engine == "pgvector":
        import psycopg

        with psycopg.connect(request.getfixturevalue("postgres_address"), autocommit=True) as connection:
            folder, port = (
                connection.execute(f"SHOW {name}").fetchone()[0] for name in ("unix_socket_directories", "port")
            )
            connection.execute("CREATE DATABASE search")
            with over_the_network(str(Path(folder) / f".s.PGSQL.{port}")) as reached:
                monkeypatch.setenv("PGPORT", str(reached))
                monkeypatch.setenv("PGUSER", "postgres")
                yield
            connection.execute("DROP DATABASE search WITH (FORCE)")
    else:
        yield


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", PACKAGES)
def test_the_code_in_a_report_finds_the_ten_best(here, engine, name):
    scorer = osp.parse_scorer(name).fit(DOCUMENTS)
    setting = setting_for(engine_settings(scorer), engine)
    scorer.save("scorer")
    done = osp.export(scorer, DOCUMENTS, setting.target, ids=IDS, queries=QUERIES)
    assert done.verification.recall == 1.0
    best = osp.search(QUERIES, DOCUMENTS, [scorer], 10)[0].documents
    missed = 0
    for number, rows in enumerate(best.tolist()):
        hits = [document for document, _ in laws.run_code(setting.snippet, QUERIES[number : number + 1])]
        wanted = [IDS[row] for row in rows]
        assert len(hits) == len(wanted)
        assert [document for document in hits if document in wanted] == [each for each in wanted if each in hits]
        missed += len(set(wanted) - set(hits))
    # hnswlib links what its threads put in at one time in any order, so that now and then one is not reached
    assert missed <= (2 if engine == "hnswlib" else 0)


def test_every_engine_that_can_be_opened_has_code_in_the_report():
    opened = {engine.name for engine in ENGINES if engine.open is not None}
    assert opened == set(PACKAGES)
    settings = engine_settings(osp.parse_scorer("dot"))
    assert {setting.engine for setting in settings if setting.snippet} == opened
    distances = setting_for(settings, "sqlite-vec")
    assert Metric.INNER_PRODUCT not in next(e for e in ENGINES if e.name == "sqlite-vec").metrics
    assert "np.append(scorer.query(vectors)[0]" in distances.snippet
