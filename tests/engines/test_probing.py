"""Probing: what is seen of each real engine is what its file says of it, and nothing is left behind."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, ParameterError
from offsphere.engines.exporting import export
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES, engine_of
from tests.engines.postgres_server import running_postgres
from tests.processes import run_command

FILES = {"faiss": "x.faiss", "usearch": "x.usearch", "hnswlib": "x.hnsw", "qdrant-edge": "edge"}
PLACES = {
    "qdrant": "folder",
    "lancedb": "folder",
    "duckdb": "x.duckdb",
    "sqlite": "x.sqlite",
    "chroma": "folder",
    "milvus": "x.db",
}
NAMES = {Metric.COSINE: "cosine", Metric.INNER_PRODUCT: "dot", Metric.EUCLIDEAN: "distance"}


def target_of(prefix, folder):
    return f"{prefix}:{folder}/{FILES[prefix]}" if prefix in FILES else f"{prefix}:{folder}/{PLACES[prefix]}:docs"


def check(seen, engine):
    assert [probed.metric for probed in seen.metrics] == [str(metric) for metric in engine.metrics]
    for probed in seen.metrics:
        facts = engine.metrics[Metric(probed.metric)]
        assert probed.as_set, probed
        name = NAMES[Metric(probed.metric)]
        assert probed.form.inverse == facts.returned.formula(name)
        assert probed.form.error < 1e-4
        if engine.prefix != "qdrant":  # in a folder its client keeps lengths; the engine itself, and Edge, do not
            assert probed.keeps_length in (facts.keeps_length, None)
        assert dict(probed.returned)[10] == 10
        assert dict(probed.returned)[100] == 100


@pytest.mark.parametrize("prefix", [*FILES, *PLACES])
def test_what_is_seen_of_an_engine_is_what_its_file_says(prefix, tmp_path):
    target = target_of(prefix, tmp_path)
    engine, _ = engine_of(target)
    check(osp.probe(target), engine)
    left = [path.name for path in tmp_path.rglob("*") if "probe" in path.name]
    assert not [name for name in left if not name.startswith(".")], "something of the scratch collection is left"


def test_postgres_does_what_its_file_says():
    with running_postgres() as dsn:
        target = f"postgres:{dsn}:docs"
        check(osp.probe(target), engine_of(target)[0])


def test_every_engine_that_can_be_opened_is_probed_here():
    assert {engine.prefix for engine in ENGINES if engine.open is not None} == {*FILES, *PLACES, "postgres"}


def test_reading_only_tells_of_a_collection_that_is_there_and_changes_no_byte_of_it(tmp_path):
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(300, 8)) * rng.lognormal(0, 1, (300, 1))).astype(np.float32)
    for prefix, name, unit in (("faiss", "dot", False), ("faiss", "cosine", True), ("usearch", "euclidean", False)):
        target = f"{prefix}:{tmp_path}/{prefix}-{name}.{prefix}"
        export(name, documents, target)
        before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
        seen = osp.probe(target, read_only=True)
        assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before
        assert seen.facts.rows == 300
        (probed,) = seen.metrics
        assert probed.as_set
        assert probed.recall > 0.95
        assert (probed.stored == "normalised") is unit


def test_a_collection_of_half_the_digits_says_so(tmp_path):
    """One that somebody else made as usearch does unless told otherwise, and one of whole digits beside it."""
    usearch = pytest.importorskip("usearch.index")
    rows = np.random.default_rng(0).normal(size=(400, 32)).astype(np.float32)
    for kind in ("bf16", "f32"):
        index = usearch.Index(ndim=32, metric="ip", dtype=kind)
        index.add(np.arange(400), rows)
        index.save(str(tmp_path / f"{kind}.usearch"))
        seen = osp.probe(f"usearch:{tmp_path}/{kind}.usearch", read_only=True)
        assert seen.facts.stored == kind
        assert seen.metrics[0].form.of == "dot"


def test_what_cannot_be_probed_is_told_in_one_line(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        osp.probe(f"faiss:{tmp_path}/none.faiss", read_only=True)
    with pytest.raises(ParameterError, match="hnswlib has no exact index"):
        osp.probe(f"hnswlib:{tmp_path}/x.hnsw", index="exact")
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_the_command_prints_the_formula_and_json_alike(tmp_path):
    printed = run_command("probe", f"usearch:{tmp_path}/x.usearch")
    assert printed.returncode == 0
    assert "dot = 1 - score; smaller is better" in printed.stdout
    parts = json.loads(run_command("probe", f"usearch:{tmp_path}/x.usearch", "--json").stdout)["metrics"]
    assert [part["formula"] for part in parts] == ["cosine = 1 - score", "dot = 1 - score", "distance = sqrt(score)"]
