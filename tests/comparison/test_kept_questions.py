"""What is kept in one folder is told apart by all that it depends on: no answer is served for another question."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.cache import Memo
from offsphere.comparison.compare_scorers import compare
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.sides import sides_of
from offsphere.ranking.reranking import TwoSteps
from offsphere.statistics.metrics import parse_metric

SCORERS = {"cosine": osp.parse_scorer("cosine"), "dot": osp.parse_scorer("dot")}


@pytest.fixture(scope="module")
def small():
    """Ten documents, which is as many as neighbours are looked for, and more queries."""
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(10, 6)) * rng.lognormal(0, 0.7, (10, 1))).astype(np.float32)
    queries = (documents[np.arange(30) % 10] + rng.normal(0, 0.8, (30, 6))).astype(np.float32)
    task = osp.RankingTask.from_judgments(
        {f"q{row}": {f"d{row % 10}": 2.0, f"d{(row + 3) % 10}": 1.0} for row in range(30)},
        [f"d{row}" for row in range(10)],
    )
    return task, osp.RankingVectors.of(task, queries, documents)


def asked_with(memo, small):
    """All questions about neighbours that differ in one thing each: who asks, for how many, and what is withheld."""
    task, vectors = small
    evidence = Evidence(sides=sides_of(vectors, task), embedded=small, memo=memo)
    queries = vectors.queries
    withheld = [(np.arange(5), np.arange(5)), (np.arange(5), np.arange(5) + 1), (np.arange(5) + 1, np.arange(5))]
    asked = [(queries, 10, None), (queries[::-1], 10, None), (queries[:7], 10, None), (queries, 9, None)]
    asked += [(queries, 10, pairs) for pairs in withheld]
    return [evidence.nearest(rows, SCORERS, k, excluded=pairs) for rows, k, pairs in asked]


def test_neighbours_are_those_of_who_asks_without_what_is_withheld(small, tmp_path):
    for kept, plain in zip(asked_with(Memo(tmp_path), small), asked_with(Memo(), small), strict=True):
        for name in SCORERS:
            assert kept[name].tolist() == plain[name].tolist()
    before = sorted(tmp_path.iterdir())
    asked_with(Memo(tmp_path), small)
    assert sorted(tmp_path.iterdir()) == before  # the same question is known again


def measured_with(memo, small):
    """One task under several metrics: in one search, and in two steps."""
    task, vectors = small
    steps = TwoSteps(SCORERS["cosine"], SCORERS["dot"], 3)
    values = []
    for name in ("ndcg@10", "ndcg@2", "recall@2", "mrr@10"):
        evaluator = task.evaluator(vectors, parse_metric(name), np.zeros(task.units, np.int64), memo=memo)
        values += [*evaluator.values(list(SCORERS.values())), *evaluator.two_step_values([steps])]
    return values


def test_values_are_those_of_the_metric_that_was_asked_for(small, tmp_path):
    for kept, plain in zip(measured_with(Memo(tmp_path), small), measured_with(Memo(), small), strict=True):
        assert kept.tolist() == plain.tolist()


def test_biases_are_made_from_the_queries_of_the_folds_that_were_asked_for(small, tmp_path):
    """The same task, dealt out to folds in two ways: none is judged by a bias that its own fold took part in."""
    for folds, seed in ((2, 0), (5, 0), (5, 1)):
        kept, plain = (
            compare(*small, folds=folds, seed=seed, permutations=100, memo=memo) for memo in (Memo(tmp_path), Memo())
        )
        assert {row.name: row.values.tolist() for row in kept.rows} == {
            row.name: row.values.tolist() for row in plain.rows
        }
        assert any("nnn" in row.name for row in kept.rows)


@pytest.mark.slow
def test_a_ceiling_is_of_the_seed_and_metric_that_were_asked_for(tmp_path):
    from tests.geometry.planted_documents import popular

    task, vectors = popular()
    tables = [compare(task, vectors, ["dot"], metric=metric) for metric in ("ndcg@10", "recall@5")]
    for table, seed in ((tables[0], 0), (tables[1], 0), (tables[0], 1)):
        kept, plain = (
            osp.measure(task, vectors, ["ceiling"], table=table, seed=seed, memo=memo).ceiling
            for memo in (Memo(tmp_path), Memo())
        )
        assert (kept.metric, kept.cosine, kept.best) == (plain.metric, plain.cosine, plain.best)
