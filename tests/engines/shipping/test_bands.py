"""Bands of length: every document is in the band of its length, and merged answers are those of all bands together."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.collection import Layout
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.bands import BandedCollection, length_edges
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.exporting import GOAL
from offsphere.engines.shipping.kept_strategy import KeptStrategy
from offsphere.engines.shipping.serving import servings
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from tests.engines import engine_laws as laws

rng = np.random.default_rng(0)
ROWS = (rng.normal(size=(900, 12)) * rng.lognormal(0, 1, (900, 1))).astype(np.float32)
QUERIES = rng.normal(size=(15, 12)).astype(np.float32)
IDS = [f"d{row}" for row in range(900)]


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("kind", ["usearch", "hnswlib"])
def test_merged_answers_are_the_best_of_all_bands_also_when_they_were_filled_before(kind, metric, tmp_path):
    engine, where = engine_of(f"{kind}:{tmp_path}/bands.index")
    lengths = np.sqrt((ROWS.astype(np.float64) ** 2).sum(axis=1))
    edges = length_edges(lengths, 6)
    assert len(edges) == 5
    with BandedCollection(engine, where, edges, metric) as bands:
        bands.create(Layout(12, metric, "graph", rows=900))
        for start in (0, 400):
            bands.add(IDS[start : start + 400 + 100 * (start > 0)], ROWS[start : start + 400 + 100 * (start > 0)])
        bands.finish()
    with BandedCollection(engine, where, edges, metric) as again:
        assert again.facts().rows == 900
        hits = again.search(QUERIES, 10, 400)
    left, right = QUERIES.astype(np.float64), ROWS.astype(np.float64)
    dot = left @ right.T
    values = {
        Metric.INNER_PRODUCT: dot,
        Metric.COSINE: dot / lengths / np.sqrt((left**2).sum(axis=1))[:, None],
        Metric.EUCLIDEAN: -np.sqrt(((left[:, None] - right[None]) ** 2).sum(axis=2)),
    }[metric]
    exact = np.argsort(-values, axis=1)[:, :10]
    found = [[int(name[1:]) for name in answer] for answer in hits.ids]
    recall = np.mean([len(set(row) & set(best)) / 10 for row, best in zip(found, exact.tolist(), strict=True)])
    assert recall > 0.97
    for row, order in enumerate(found):
        assert (np.diff(values[row, order]) <= 1e-5).all()


@pytest.mark.parametrize(
    ("kind", "index"), [("faiss", "graph"), ("faiss", "lists"), ("usearch", "graph"), ("hnswlib", "graph")]
)
def test_the_printed_code_asks_every_band(kind, index, tmp_path):
    laws.check_bands(f"{kind}:{tmp_path}/documents.{kind}", tmp_path / "out", index)


def test_documents_of_one_length_are_in_one_band():
    assert length_edges(np.full(100, 2.0), 8) == ()


@pytest.mark.parametrize("seed", range(20))
def test_no_band_is_empty(seed):
    """Once: where many are as short as the shortest, there was a band for those that are shorter."""
    draws = np.random.default_rng(seed)
    for values in (draws.integers(1, 4, 50), draws.lognormal(size=5), np.repeat([1.0, 2.5, 9.0], [40, 3, 1])):
        row_lengths = values.astype(np.float32)
        edges = length_edges(row_lengths, 8)
        assert list(edges) == sorted(set(edges))
        counts = np.bincount(np.searchsorted(np.asarray(edges), row_lengths, side="right"), minlength=len(edges) + 1)
        assert counts.min() > 0
        assert len(counts) == len(edges) + 1


RACED = "from functools import partial; export = partial(export, tune=True)"
KILLS = {
    "duckdb": ("duckdb_extension_vss", "duckdb:{}/x.duckdb:docs"),
    "lancedb": ("lancedb", "lancedb:{}/l:docs"),
    "qdrant-edge": ("qdrant_edge", "qdrant-edge:{}/edge"),
    "hnswlib": ("hnswlib", "hnswlib:{}/x.hnsw"),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the packages
@pytest.mark.parametrize(
    ("prefix", "step", "moment"),
    [
        *((prefix, "add", moment) for prefix in KILLS for moment in ("before", "within", "after")),
        *(("duckdb", "finish", moment) for moment in ("before", "after")),
    ],
)
def test_a_kill_while_bands_are_filled_loses_nothing(tmp_path, prefix, step, moment):
    """Of four bands, some have a part of the documents, one was being written to, or its index was being built."""
    package, form = KILLS[prefix]
    pytest.importorskip(package)
    target, out, ids = form.format(tmp_path), tmp_path / "out", [f"document {row}" for row in range(len(ROWS))]
    np.save(tmp_path / "documents.npy", ROWS)
    engine, where = engine_of(target)
    scorer, corpus = osp.parse_scorer("dot"), Corpus.of(ROWS, ids)
    edges = length_edges(np.linalg.norm(ROWS, axis=1), 4)
    strategy = Strategy(serving=servings(scorer, engine)[0], index="graph", edges=edges)
    out.mkdir()
    KeptStrategy.of(out, scorer, corpus, ExportWishes(k=10, goal=GOAL), str(where)).write(strategy)  # as a race does
    options = {"target": target, "documents": str(tmp_path / "documents.npy"), "ids": ids, "index": None}
    options |= {"out": str(out), "step": step, "calls": 14 if step == "add" else 2, "name": "dot", "code": RACED}
    laws.run_killed(options | {"moment": moment})
    with strategy.open(engine, where) as bands:
        facts = bands.facts()
        assert facts is None if prefix == "hnswlib" else facts.unfinished
        assert prefix == "hnswlib" or 0 < facts.rows < len(ROWS) or step == "finish"
    done = osp.export(scorer, corpus, target, tune=True, out=out)
    assert (done.rows, done.strategy.edges) == (len(ROWS), strategy.edges)
    assert done.verification.recall >= GOAL
    with done.strategy.open(engine, where) as bands:
        assert not bands.facts().unfinished
        parts = [band.read() for band in bands.bands]
    found = [name for part in parts for name in part.ids]
    assert sorted(found) == sorted(ids)
    for part, low, high in zip(parts, [0, *edges], [*edges, np.inf], strict=True):
        rows = ROWS[[ids.index(name) for name in part.ids]]
        assert (np.asarray(part.vectors) == rows).all()
        sizes = np.linalg.norm(rows, axis=1)
        assert (sizes >= low).all()
        assert (sizes < high).all()
