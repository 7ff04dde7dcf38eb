"""Ids that few expect: an engine gives them back as they are, or an export refuses them and says what to do."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.engines.registry import ENGINES, engine_of
from tests.engines import engine_laws as laws
from tests.engines.test_hand_over import DOCUMENTS, PACKAGES, PLACES

pytestmark = pytest.mark.filterwarnings("ignore")  # of the packages
ANYWHERE = {**PLACES, "milvus": "milvus:{}/m.db:docs", "postgres": ""}
MODULES = {**PACKAGES, "milvus": "milvus_lite", "postgres": "psycopg"}
ODD = {"nothing": "", "a zero byte": "a\0b", "a line break": "a\nb", "a carriage return": "a\rb", "a blank": " a"}
FILES = ("faiss", "usearch", "hnswlib")  # the others hold lines and blanks: their own tests give them such ids
CASES = [(engine, what) for engine in ANYWHERE for what in (ODD if engine in FILES else ("nothing", "a zero byte"))]
NO_LINE = "does not fit into a line: give it another, or take an engine that has a field for ids: duckdb:FILE:TABLE"
REFUSED = {
    **{
        (engine, what): NO_LINE
        for engine in FILES
        for what in ("nothing", "a line break", "a carriage return", "a blank")
    },
    ("chroma", "nothing"): "Chroma holds no id without a letter: give the document '' another",
    ("postgres", "a zero byte"): "it has a zero byte: give that document another",
}


@pytest.fixture
def target(tmp_path, engine, request):
    pytest.importorskip(MODULES.get(engine, engine))
    if engine != "postgres":
        yield ANYWHERE[engine].format(tmp_path / "at")
    else:
        import psycopg

        address = request.getfixturevalue("postgres_address")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
            connection.execute("DROP EXTENSION IF EXISTS vector")
        yield f"postgres:{address}:docs"
    if engine == "milvus":
        from milvus_lite.server_manager import server_manager_instance

        server_manager_instance.release_server(str(tmp_path / "at" / "m.db"))


@pytest.mark.parametrize(("engine", "what"), CASES)
def test_an_odd_id_comes_back_as_it_is_or_is_refused(target, engine, what, tmp_path):
    ids = [ODD[what], "a", "b", *map(str, range(len(DOCUMENTS) - 3))]
    if (engine, what) in REFUSED:
        with pytest.raises(OffsphereError) as caught:
            osp.export("euclidean", DOCUMENTS, target, ids=ids)
        assert REFUSED[engine, what] in str(caught.value)
        assert repr(ODD[what]) in str(caught.value)
        assert "\n" not in str(caught.value)
        kind, where = engine_of(target)
        with kind.open(where) as collection:
            assert collection.facts() is None
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
        kept = ["x", *ids[1:]]
        osp.export("euclidean", DOCUMENTS, target, ids=kept)
        with pytest.raises(OffsphereError, match=r"does not fit|Chroma holds|Postgres cannot"):
            osp.export("cosine", DOCUMENTS, target, ids=ids, replace=True)
        laws.check_holds(target, kept, DOCUMENTS)  # nothing was thrown away for it
        return
    done = osp.export("euclidean", DOCUMENTS, target, ids=ids)
    laws.check_holds(target, ids, DOCUMENTS)
    kind, where = engine_of(target)
    with kind.open(where) as collection:
        assert [answer[0] for answer in collection.search(DOCUMENTS[:3], 1).ids] == ids[:3]
        if collection.resumable:
            collection.discard(ids[:1])
            assert sorted(collection.read().ids) == sorted(ids[1:])
            collection.add(ids[:1], DOCUMENTS[:1])
    assert laws.run_snippet(done, DOCUMENTS[:1])[0][0] == ids[0]


def test_every_engine_that_can_be_opened_is_asked_here():
    assert set(ANYWHERE) == {engine.prefix for engine in ENGINES if engine.open is not None}


def test_the_row_of_an_id_that_is_refused_is_that_of_the_document(tmp_path):
    ids = [str(row) for row in range(47)] + ["a\nb"] + [str(row) for row in range(48, 60)]
    with pytest.raises(OffsphereError, match=r"the id 'a\\nb' in row 47 does not fit"):
        osp.export("dot", np.asarray(DOCUMENTS), f"faiss:{tmp_path}/v.faiss", ids=ids)
