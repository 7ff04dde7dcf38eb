from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.data.judgments import Judgments
from offsphere.statistics.metrics import parse_metric

MEASURES = {"ndcg": "ndcg_cut", "recall": "recall", "precision": "P", "map": "map_cut", "success": "success"}


@given(
    seed=st.integers(0, 2**32 - 1),
    k=st.integers(1, 25),
    documents=st.integers(1, 40),
    levels=st.integers(1, 6),
)
def test_metrics_are_trec_evals_with_ties_and_graded_gains(seed, k, documents, levels):
    rng = np.random.default_rng(seed)
    queries = 7
    scores = rng.integers(0, levels * 3, (queries, documents)) / 7  # many ties
    grades = rng.integers(-1, levels, (queries, documents))
    judged = rng.random((queries, documents)) < 0.5
    rows, columns = np.nonzero(judged)
    judgments = Judgments.of(rows, columns, grades[judged].astype(float), queries, documents)
    ranked = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    gains, ideal = judgments.gains(ranked), judgments.ideal()
    # trec_eval breaks ties by the document's name, last name first: name them so that this is document order
    names = [f"d{documents - number:04d}" for number in range(documents)]
    qrels = {f"q{q}": {names[d]: int(grades[q, d]) for d in range(documents) if judged[q, d]} for q in range(queries)}
    run = {f"q{q}": {names[d]: float(scores[q, d]) for d in range(documents)} for q in range(queries)}
    wanted = {f"{measure}.{k}" for measure in MEASURES.values()}
    expected = pytrec_eval.RelevanceEvaluator({q: row for q, row in qrels.items() if row}, wanted).evaluate(run)
    for label, measure in MEASURES.items():
        values = parse_metric(f"{label}@{k}").function(gains, ideal, k)
        for q in range(queries):
            if qrels[f"q{q}"]:
                assert values[q] == pytest.approx(expected[f"q{q}"][f"{measure}_{k}"], abs=1e-9), (label, q)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 20))
def test_mrr_is_trec_evals_reciprocal_rank_of_the_cut_run(seed, k):
    rng = np.random.default_rng(seed)
    grades = (rng.random((5, 30)) < 0.1).astype(int)
    rows, columns = np.nonzero(np.ones_like(grades))
    judgments = Judgments.of(rows, columns, grades.ravel().astype(float), 5, 30)
    ranked = np.argsort(-rng.random((5, 30)), axis=1)[:, :k]
    values = parse_metric(f"mrr@{k}").function(judgments.gains(ranked), judgments.ideal(), k)
    qrels = {str(q): {f"d{d}": int(grades[q, d]) for d in range(30)} for q in range(5)}
    run = {str(q): {f"d{d}": 1.0 / (1 + rank) for rank, d in enumerate(ranked[q])} for q in range(5)}
    expected = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)
    assert np.allclose(values, [expected[str(q)]["recip_rank"] for q in range(5)])


def test_a_list_shorter_than_k_counts_as_if_filled_with_nothing():
    judgments = Judgments.of(np.array([0]), np.array([1]), np.array([1.0]), 1, 3)
    gains = judgments.gains(np.array([[1, 0, 2]]))
    assert parse_metric("precision@10").function(gains, judgments.ideal(), 10).tolist() == [0.1]
    assert parse_metric("ndcg@10").function(gains, judgments.ideal(), 10).tolist() == [1.0]


def test_names_of_metrics():
    assert parse_metric("NDCG@10").name == "ndcg@10"
    assert parse_metric("mrr").depth == 10
    assert parse_metric("pooled-ap").name == "pooled-ap@100"
    with pytest.raises(UnknownNameError, match=r"unknown metric 'ndgc@10': did you mean ndcg@10"):
        parse_metric("ndgc@10")
    with pytest.raises(UnknownNameError, match="did you mean spearman"):
        parse_metric("spearmann")
    with pytest.raises(ParameterError, match="at least 1"):
        parse_metric("ndcg@0")
