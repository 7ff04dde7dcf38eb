"""Servings: what an engine computes from what is stored is, turned back, the scorer's own value; in plain numpy."""

from __future__ import annotations

import importlib
import inspect
import re
from contextlib import suppress

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.engines.metric import Metric
from offsphere.engines.registry import ENGINES
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.serving import as_distance, own_metric, placed_rows, servings, stored_blocks
from offsphere.scoring.names import NAMED_TRANSFORMS
from offsphere.scoring.similarity import FAMILIES, Form
from tests.engines import engine_laws as laws
from tests.engines import test_heavy_tails

SIMILARITIES = (*laws.SIMILARITIES, "query-normalized", "document-normalized", "half", "polar(0, -0.5)")
TRANSFORMS = laws.TRANSFORMS

rng = np.random.default_rng(3)
DOCUMENTS = (rng.normal(0.3, 1, (300, 12)) * rng.lognormal(0, 1, (300, 1))).astype(np.float32)
QUERIES = (rng.normal(0.3, 1, (20, 12)) * rng.lognormal(0, 1, (20, 1))).astype(np.float32)
IDS = [f"d{row}" for row in range(300)]
CORPUS = Corpus.of(DOCUMENTS, IDS)


def in_numpy(metric, queries, documents):
    """The metric by its definition, which no engine and none of our kernels had a part in."""
    left, right = queries.astype(np.float64)[:, None], documents.astype(np.float64)[None]
    if metric is Metric.EUCLIDEAN:
        return np.sqrt(((left - right) ** 2).sum(axis=2))
    dot = (left * right).sum(axis=2)
    if metric is Metric.INNER_PRODUCT:
        return dot
    return dot / np.sqrt((left**2).sum(axis=2) * (right**2).sum(axis=2))


def fitted(name):
    scorer = osp.parse_scorer(name)
    return scorer.fit(osp.Moments.of(DOCUMENTS)) if scorer.transforms else scorer


def check(serving):
    stored = np.concatenate([block.rows for block in stored_blocks(CORPUS, serving, rows=128)])
    computed = in_numpy(serving.metric, serving.queries(QUERIES), stored)
    values = serving.values(QUERIES, computed)
    order = np.argsort(-values, axis=1, kind="stable")[:, :10]
    top = osp.search(QUERIES, DOCUMENTS, [serving.scorer], 10, ids=IDS)[0]
    got = np.take_along_axis(values, order, axis=1)
    assert np.abs(got - top.scores).max() < 2e-4 * np.abs(top.scores).max()
    best_first = computed if serving.metric is not Metric.EUCLIDEAN else -computed
    assert (np.argsort(-best_first, axis=1)[:, 0] == order[:, 0]).mean() > 0.9  # ties of rounding apart


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_every_way_to_serve_a_scorer_ranks_and_scores_as_it_does(similarity, transform):
    scorer = fitted(transform + similarity)
    every_metric = next(engine for engine in ENGINES if len(engine.metrics) == 3)
    ways = servings(scorer, every_metric)
    assert ways
    if similarity != "euclidean":  # distances as inner products as distances lose what float32 has
        ways.append(as_distance(scorer, CORPUS))
    for serving in ways:
        check(serving)


@pytest.mark.parametrize("made", ["csls", "nnn", "z-score", "csls and z-score"])
def test_biases_and_standardised_queries_are_served_by_lowered_vectors(made):
    scorer = osp.parse_scorer("cosine")
    if "csls" in made:
        scorer = osp.csls(scorer, DOCUMENTS, QUERIES, k=5, ids=IDS)
    if "nnn" in made:
        scorer = osp.nnn(scorer, DOCUMENTS, QUERIES, ids=IDS)
    if "z-score" in made:
        scorer = osp.standardize_queries(scorer, DOCUMENTS, ids=IDS)
    assert own_metric(scorer) is None
    every_metric = next(engine for engine in ENGINES if len(engine.metrics) == 3)
    for serving in [*servings(scorer, every_metric), as_distance(scorer, CORPUS)]:
        check(serving)


SERVED_IN = {  # by which module's tests each engine is asked
    **dict.fromkeys(("faiss", "usearch", "hnswlib"), "test_export"),
    "qdrant": "test_qdrant",
    "qdrant-edge": "test_qdrant_edge",
    "postgres": "test_postgres",
    "lancedb": "test_lancedb",
    "duckdb": "test_duckdb",
    "sqlite": "test_sqlite",
    "chroma": "test_chroma",
    "milvus": "test_milvus",
}
LOWERING = {kind for kind, family in FAMILIES.items() if family.form is Form.AFFINE}


def parametrized(test):
    """The parameters of a test: each name, and the values of it that are not for the slow runs."""
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names = mark.args[0].split(", ") if isinstance(mark.args[0], str) else mark.args[0]
            for value in mark.args[1]:
                often = not any(other.name == "slow" for other in getattr(value, "marks", ()))
                values = value.values if hasattr(value, "marks") else value
                values = values if len(names) > 1 or hasattr(value, "marks") else (values,)
                yield from zip(names, values, [often] * len(names), strict=True)


def asked_with(prefix):
    """The scorers that tests export to an engine: those of every run, and all, the slow ones too."""
    module = importlib.import_module(f"tests.engines.{SERVED_IN[prefix]}")
    runs, everything = set(), set()
    for test in vars(module).values():
        if not inspect.isfunction(test) or not re.search(r"check_served\(|exported\(", inspect.getsource(test)):
            continue
        values = list(parametrized(test))
        if any(name == "engine" for name, *_ in values) and ("engine", prefix, True) not in values:
            continue
        slow = any(mark.name == "slow" for mark in getattr(test, "pytestmark", ()))
        scorers = [(value, often and not slow) for name, value, often in values if name == "name"]
        runs |= {value for value, often in scorers if often}
        everything |= {value for value, _ in scorers}
    return runs, everything


def parts_of(names):
    """The similarities and the transforms of scorers; of those that are made from data, one has a similarity alone."""
    similarities, transforms = {"length-prior"} & {*names}, set()
    for name in names:
        with suppress(OffsphereError):
            scorer = osp.parse_scorer(name)
            similarities.add(scorer.similarity.kind)
            transforms |= {part.kind for part in scorer.transforms}
    return similarities, transforms


@pytest.mark.parametrize("prefix", SERVED_IN)
def test_every_engine_is_asked_with_every_part_that_it_could_serve(prefix):
    """A similarity or a transform that is new is tried in all engines, not in the slow tests alone."""
    runs, everything = asked_with(prefix)
    assert parts_of(runs) == (LOWERING, set(NAMED_TRANSFORMS))
    assert parts_of(everything) == (LOWERING, set(NAMED_TRANSFORMS))
    pairs = {transform + name for transform in laws.TRANSFORMS for name in ("cosine", "dot", "euclidean", "angular")}
    assert pairs <= everything


def test_every_engine_that_can_be_opened_is_asked():
    assert set(SERVED_IN) == {engine.prefix for engine in ENGINES if engine.open is not None}
    assert parts_of(test_heavy_tails.FEW + tuple(test_heavy_tails.MORE))[1] == set(NAMED_TRANSFORMS)


def test_the_engines_own_metric_is_taken_where_it_has_one():
    taken = {name: own_metric(fitted(name)) for name in ("angular", "center + euclidean", "half", "query-normalized")}
    assert taken == {
        "angular": Metric.COSINE,
        "center + euclidean": Metric.EUCLIDEAN,
        "half": None,
        "query-normalized": Metric.INNER_PRODUCT,
    }


def test_documents_without_a_place_in_the_ranking_are_left_out():
    holes = DOCUMENTS.copy()
    holes[[3, 77]] = 0
    corpus = Corpus.of(holes, IDS)
    faiss = ENGINES[0]
    cosine, dot = (servings(fitted(name), faiss)[0] for name in ("cosine", "dot"))
    assert placed_rows(corpus, cosine) == 298
    assert placed_rows(corpus, dot) == 300
    stored = [name for block in stored_blocks(corpus, cosine, rows=64) for name in block.ids]
    assert stored == [name for name in IDS if name not in ("d3", "d77")]
