"""An engine whose package is not installed says the command that installs it; one that was never tried says so."""

from __future__ import annotations

import re
import sys
import tomllib

import numpy as np
import pytest

from offsphere.base.errors import MissingExtraError, UnknownNameError
from offsphere.base.extras import PACKAGES
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from offsphere.engines.shipping.exporting import export
from tests.processes import ROOT

ROWS = np.eye(3, dtype=np.float32)
PACKAGE_OF = {
    "faiss:{}/v.faiss": "faiss",
    "usearch:{}/v.usearch": "usearch",
    "hnswlib:{}/v.hnsw": "hnswlib",
    "qdrant:{}/q:things": "qdrant_client",
    "qdrant-edge:{}/q": "qdrant_edge",
    "postgres:postgresql://127.0.0.1:1/none:docs": "psycopg",
    "lancedb:{}/l:docs": "lancedb",
    "duckdb:{}/v.duckdb:docs": "duckdb",
    "sqlite:{}/v.db:docs": "apsw",
    "sqlite:{}/extension.db:docs": "sqlite_vec",
    "chroma:{}/c:things": "chromadb",
    "milvus:{}/m.db:things": "pymilvus",
    "milvus:{}/lite.db:things": "milvus_lite",
}


@pytest.mark.parametrize("target", PACKAGE_OF)
def test_a_missing_package_is_told_with_its_extra_and_nothing_is_written(tmp_path, monkeypatch, target):
    package = PACKAGE_OF[target]
    for module in (package, *(module for module in sys.modules if module.startswith(f"{package}."))):
        monkeypatch.setitem(sys.modules, module, None)  # as if it could not be imported
    name, extra = PACKAGES[package]
    with pytest.raises(MissingExtraError, match=rf"'{re.escape(name)}': pip install 'offsphere\[{extra}\]'"):
        export("dot", ROWS, target.format(tmp_path))
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and not path.name.startswith(".")]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(needed.startswith(name) for needed in extras[extra])


def test_every_engine_that_can_be_opened_is_missed_here():
    assert {engine_of(target)[0].prefix for target in PACKAGE_OF} == {
        engine.prefix for engine in ENGINES if engine.open is not None
    }


def test_engines_that_were_not_tried_have_words_and_nothing_else():
    untried = {engine.name: engine for engine in ENGINES if not engine.tested}
    assert {"Elasticsearch", "OpenSearch", "Weaviate", "Vespa", "Redis"} <= set(untried)
    for engine in untried.values():
        assert set(engine.metrics) <= set(Metric)
        assert len({facts.setting for facts in engine.metrics.values()}) == len(engine.metrics) > 0
        assert engine.open is None
    page = (ROOT / "docs" / "engines.md").read_text()
    for engine in untried.values():
        assert not engine.notes or f"- **{engine.name}**: {' '.join(engine.notes)}" in page
    told = " ".join(untried["Elasticsearch"].notes)
    assert "From 384 dimensions on it stores one bit a number (bbq_hnsw), below them eight (int8_hnsw)" in told
    for name in ("Elasticsearch", "OpenSearch"):
        assert untried[name].largest_k == 10_000
        assert "A query gets 10,000 documents" in " ".join(untried[name].notes)
    with pytest.raises(UnknownNameError, match="unknown engine 'weaviate'"):
        export("dot", ROWS, "weaviate:http://localhost:8080:things")
