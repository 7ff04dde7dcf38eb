from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import DataError, OffsphereError
from offsphere.encode.embedding import SideItems, embed_items
from offsphere.encode.function import FunctionEncoder
from offsphere.engines.exchange import export_store, import_vectors
from offsphere.engines.registry import ENGINES

ROWS = (np.random.default_rng(0).standard_normal((300, 6)) * np.linspace(0.1, 9, 300)[:, None]).astype(np.float32)
TARGETS = ["v.npy", "v.npz", "v.parquet", "v.safetensors", "v.faiss", "qdrant:{}/q:things", "lancedb:{}/l:things"]
TARGETS += ["qdrant:{}/q:things.faiss"]  # a prefix says more than an ending
NEEDS = {
    "qdrant:{}/q:things.faiss": "qdrant_client",
    "v.faiss": "faiss",
    "qdrant:{}/q:things": "qdrant_client",
    "lancedb:{}/l:things": "lancedb",
}


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
    pytest.importorskip(NEEDS.get(target, "numpy"))
    location = at(tmp_path, target)
    export_store(store, location)
    again = import_vectors(location, tmp_path / "again")
    assert again.ids == store.ids
    assert (np.asarray(again.vectors) == ROWS).all()


def test_every_engine_says_what_to_set_for_every_metric():
    names = [engine.name for engine in ENGINES]
    assert {"FAISS", "Qdrant", "pgvector", "LanceDB", "usearch", "Elasticsearch"} <= set(names)
    assert len(set(names)) == len(names)
    assert all(all(engine.words) and len(set(engine.words)) == 3 for engine in ENGINES)


def test_what_cannot_be_exchanged_is_named(tmp_path, store):
    known = ".npy, .npz, .parquet, .safetensors, .faiss, qdrant:FOLDER:COLLECTION or lancedb:FOLDER:TABLE"
    with pytest.raises(OffsphereError, match=f"cannot export to 'v.csv': give {known}"):
        export_store(store, "v.csv")
    with pytest.raises(OffsphereError, match="write qdrant:FOLDER:NAME"):
        export_store(store, "qdrant:here")
    with pytest.raises(DataError, match="does not exist"):
        import_vectors(str(tmp_path / "none.npy"), tmp_path / "again")
    np.save(tmp_path / "v.npy", ROWS)
    with pytest.raises(DataError, match="has 300 vectors but there are 2 ids"):
        import_vectors(str(tmp_path / "v.npy"), tmp_path / "again", ids=["a", "b"])
    (tmp_path / "v.faiss").write_bytes(b"junk")
    pytest.importorskip("faiss")
    with pytest.raises(DataError, match="is no FAISS index"):
        import_vectors(str(tmp_path / "v.faiss"), tmp_path / "again")
