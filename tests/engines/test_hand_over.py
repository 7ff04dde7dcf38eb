"""What is deployed stays what it was: refused exports change nothing, and what engines cannot hold is told before."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError, VectorError
from offsphere.engines.registry import engine_of
from tests.engines import engine_laws as laws

RNG = np.random.default_rng(5)
DOCUMENTS = (RNG.normal(0.2, 1, (60, 8)) * RNG.lognormal(0, 1, (60, 1))).astype(np.float32)
QUERIES = RNG.normal(0, 1, (5, 8)).astype(np.float32)
PACKAGES = {"qdrant-edge": "qdrant_edge", "qdrant": "qdrant_client", "sqlite": "sqlite_vec", "chroma": "chromadb"}
PLACES = {
    "faiss": "faiss:{}/v.faiss",
    "usearch": "usearch:{}/v.usearch",
    "hnswlib": "hnswlib:{}/v.hnsw",
    "duckdb": "duckdb:{}/v.duckdb:docs",
    "sqlite": "sqlite:{}/v.db:docs",
    "lancedb": "lancedb:{}/lance:docs",
    "qdrant": "qdrant:{}/qdrant:docs",
    "qdrant-edge": "qdrant-edge:{}/edge",
    "chroma": "chroma:{}/chroma:docs",
}
FILES = ["faiss", "usearch", "hnswlib"]


@pytest.fixture
def place(request, tmp_path):
    pytest.importorskip(PACKAGES.get(request.param, request.param))
    return PLACES[request.param].format(tmp_path)


def everywhere(*engines):
    return pytest.mark.parametrize("place", engines or tuple(PLACES), indirect=True)


def hits_of(code):
    names = {"vectors": QUERIES[:1]}
    exec(compile(code, "query.py", "exec"), names)
    return [name for name, _ in names["hits"]]


@everywhere("faiss", "duckdb")
def test_a_refused_export_leaves_the_scorer_by_which_the_collection_is_asked(place, tmp_path):
    osp.export("whiten(0.5) + dot", DOCUMENTS, place, queries=QUERIES, out=tmp_path / "out")
    code = (tmp_path / "out" / "query.py").read_text()
    before = hits_of(code)
    with pytest.raises(DataError, match="holds 60 vectors"):
        osp.export("whiten(1) + dot", DOCUMENTS, place, queries=QUERIES, out=tmp_path / "out")
    assert osp.Scorer.load(tmp_path / "out" / "scorer").name == "whiten(0.5) + dot"
    assert hits_of(code) == before


@pytest.mark.parametrize(
    ("place", "wanted", "words"),
    [
        ("lancedb", {"stored": "int8", "index": "exact"}, "LanceDB stores int8 in an index only"),
        ("sqlite", {"stored": "binary"}, "so that 8 must divide them"),
        ("duckdb", {"index": "graph"}, "a graph in DuckDB needs its extension"),
        ("faiss", {"ids": ["a\nb", *map(str, range(59))]}, "does not fit into a line"),
    ],
    indirect=["place"],
)
def test_what_an_engine_cannot_hold_replaces_nothing(place, tmp_path, monkeypatch, wanted, words):
    from offsphere.engines import duckdb

    rows = DOCUMENTS[:, :7]
    osp.export("euclidean", rows, place)
    monkeypatch.setattr(duckdb, "find_spec", lambda _: None)
    monkeypatch.setattr(duckdb, "OFFLINE", {**duckdb.OFFLINE, "extension_directory": str(tmp_path / "none")})
    with pytest.raises(OffsphereError, match=words):
        osp.export("cosine", rows, place, replace=True, **wanted)
    laws.check_holds(place, [str(row) for row in range(60)], rows)


@everywhere("faiss")
def test_the_record_of_one_collection_is_not_written_over_by_that_of_another(place, tmp_path):
    osp.export("whiten(0.5) + dot", DOCUMENTS, place, out=tmp_path / "out")
    other = place.replace("v.faiss", "w.faiss")
    with pytest.raises(DataError, match=r"holds the scorer and the record of faiss:.*v\.faiss: choose another .*--out"):
        osp.export("dot", DOCUMENTS, other, out=tmp_path / "out")
    assert not (tmp_path / "w.faiss").exists()
    assert osp.export("dot", DOCUMENTS, other, out=tmp_path / "out", replace=True).passed


@everywhere("duckdb", "sqlite", "lancedb", "qdrant-edge")
def test_a_collection_that_somebody_changed_is_not_thrown_away(place, tmp_path):
    osp.export("euclidean", DOCUMENTS, place, out=tmp_path / "out")
    engine, where = engine_of(place)
    with engine.open(where) as collection:
        collection.add(["of somebody else"], DOCUMENTS[:1] + 1)
    with pytest.raises(DataError, match=r"holds 61 vectors of 8 dimensions.*--replace"):
        osp.export("euclidean", DOCUMENTS, place, out=tmp_path / "out")
    with engine.open(where) as collection:
        assert "of somebody else" in collection.read().ids
    assert osp.export("euclidean", DOCUMENTS, place, out=tmp_path / "out", replace=True).rows == 60


@everywhere("duckdb")
def test_other_numbers_under_the_same_ids_are_other_content(place, tmp_path):
    osp.export("dot", DOCUMENTS, place, out=tmp_path / "out")
    with pytest.raises(DataError, match="--replace"):
        osp.export("dot", DOCUMENTS * 2, place, out=tmp_path / "out")


@everywhere()
def test_documents_without_any_place_in_the_ranking_are_refused_and_nothing_is_made(place, tmp_path):
    with pytest.raises(OffsphereError, match="no document has a place in the ranking by cosine"):
        osp.export("cosine", DOCUMENTS * 0, place)
    assert not list(tmp_path.iterdir())


def test_a_block_without_any_document_in_the_ranking_is_passed_over(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    from offsphere.engines.shipping import serving

    monkeypatch.setattr(serving.stored_blocks, "__defaults__", (0, 20))
    rows = DOCUMENTS.copy()
    rows[20:40] = 0
    done = osp.export("cosine", rows, PLACES["duckdb"].format(tmp_path), out=tmp_path / "out")
    assert (done.rows, done.left_out) == (40, 20)
    assert osp.export("cosine", rows, PLACES["duckdb"].format(tmp_path), out=tmp_path / "out").rows == 40


@everywhere("faiss", "duckdb")
def test_an_id_with_half_a_character_is_one_line(place, tmp_path):
    ids = ["a\udc80b", *map(str, range(59))]
    with pytest.raises(DataError, match=r"the id 'a\\udc80b' has a lone surrogate"):
        osp.export("dot", DOCUMENTS, place, ids=ids)
    assert not list(tmp_path.iterdir())


@everywhere("faiss", "usearch", "qdrant-edge", "lancedb")
def test_numbers_that_float16_has_no_room_for_are_refused(place):
    with pytest.raises(VectorError, match=r"the vector of '.*' has numbers that do not fit into float16"):
        osp.export("dot", DOCUMENTS * 1e5, place, stored="float16")


@everywhere("usearch", "qdrant", "duckdb")
def test_a_query_without_length_has_no_best_documents_to_miss(place):
    """All documents are as good for it by cosine, whichever the engine returns."""
    assert osp.export("cosine", DOCUMENTS, place, queries=QUERIES * 0).verification.recall == 1.0


@everywhere()
def test_the_printed_code_runs_wherever_the_collection_is(place, tmp_path):
    odd = tmp_path / 'it\'s an "odd" {x} \\n ü 😀'
    target = place.replace(str(tmp_path), str(odd))
    osp.export("whiten(0.5) + dot", DOCUMENTS, target, queries=QUERIES, out=odd / "out")
    values = osp.Scorer.load(odd / "out" / "scorer")
    best = osp.search(QUERIES[:1], DOCUMENTS, [values], 10)[0].documents[0]
    assert hits_of((odd / "out" / "query.py").read_text()) == [str(row) for row in best]
