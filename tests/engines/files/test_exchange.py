from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError, UnknownNameError
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.function import FunctionEncoder
from offsphere.engines.deployed.live_collection import is_target
from offsphere.engines.files.exchange import export_store, import_vectors
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.target import Target

ROWS = (np.random.default_rng(0).standard_normal((300, 6)) * np.linspace(0.1, 9, 300)[:, None]).astype(np.float32)
FILES = ["v.npy", "v.npz", "v.parquet", "v.safetensors"]
INDEXES = {
    "v.faiss": "faiss",
    "faiss:{}/v.index": "faiss",
    "v.usearch": "usearch",
    "hnswlib:{}/v.faiss": "hnswlib",  # a prefix says more than an ending
}
TARGETS = [*FILES, *INDEXES]


@pytest.fixture
def store(tmp_path):
    texts = [str(n) for n in range(len(ROWS))]
    encoder = FunctionEncoder(lambda some: ROWS[[int(t) if t.isdigit() else 0 for t in some]], "callable:rows")
    return embed_items(SideItems("document", [f"id {n}" for n in range(len(ROWS))], texts), encoder, tmp_path / "store")


def at(tmp_path, target):
    return target.format(tmp_path) if "{}" in target else str(tmp_path / target)


@pytest.mark.filterwarnings("ignore")  # of the engines' own packages
@pytest.mark.parametrize("target", TARGETS)
def test_vectors_come_back_with_their_lengths_and_ids(tmp_path, store, target):
    pytest.importorskip(INDEXES.get(target, "numpy"))
    location = at(tmp_path, target)
    export_store(store, location)
    again = import_vectors(location, tmp_path / "again")
    assert again.ids == store.ids
    assert (np.asarray(again.vectors) == ROWS).all()


def test_every_engine_says_what_to_set_for_every_metric():
    names = [engine.name for engine in ENGINES]
    assert {"FAISS", "Qdrant", "pgvector", "LanceDB", "usearch", "Elasticsearch"} <= set(names)
    assert len(set(names)) == len(names)
    for engine in ENGINES:
        assert (
            Metric.EUCLIDEAN in engine.metrics or Metric.INNER_PRODUCT in engine.metrics
        )  # else nothing could be served
        settings = [facts.setting for facts in engine.metrics.values()]
        assert all(settings)
        assert len(set(settings)) == len(settings)


def test_a_location_is_known_by_its_prefix_then_by_its_ending_and_shows_no_password():
    engine, where = engine_of("faiss:/some/place:x/v.usearch")
    assert (engine.name, where.location, where.name) == ("FAISS", "/some/place:x/v.usearch", "")
    engine, where = engine_of("/some/place/v.usearch")
    assert (engine.name, str(where)) == ("usearch", "usearch:/some/place/v.usearch")
    assert is_target("v.hnsw")
    assert not is_target("documents.npy")
    assert not is_target("org/name")
    named = Target.of("postgres:postgresql://me:s:e@cret@host:5432/db?password=x:docs", named=True)
    assert (named.location, named.name) == ("postgresql://me:s:e@cret@host:5432/db?password=x", "docs")
    assert "cret" not in f"{named} {named!r}"
    assert "=x" not in str(named)
    for text in ("faiss:", "faiss"):
        with pytest.raises(OffsphereError, match=r"cannot read the target 'faiss:?': write faiss:FILE"):
            engine_of(text)
    with pytest.raises(UnknownNameError, match="unknown engine 'fais'"):
        engine_of("fais:v.index")


def test_what_cannot_be_exchanged_is_named(tmp_path, store):
    with pytest.raises(
        OffsphereError, match=r"cannot export to 'v.csv': give .npy, .npz, .parquet, .safetensors, .faiss"
    ):
        export_store(store, "v.csv")
    with pytest.raises(DataError, match="does not exist"):
        import_vectors(str(tmp_path / "none.npy"), tmp_path / "again")
    np.save(tmp_path / "v.npy", ROWS)
    with pytest.raises(DataError, match="has 300 vectors but there are 2 ids"):
        import_vectors(str(tmp_path / "v.npy"), tmp_path / "again", ids=["a", "b"])
    (tmp_path / "v.faiss").write_bytes(b"junk")
    pytest.importorskip("faiss")
    with pytest.raises(DataError, match="is no FAISS index"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
