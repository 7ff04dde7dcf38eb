from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import ParameterError
from offsphere.ranking import reranking
from offsphere.ranking.reranking import TwoSteps, search_again


@pytest.fixture
def sides():
    rng = np.random.default_rng(0)
    documents = (rng.standard_normal((500, 16)) * rng.lognormal(0, 1, (500, 1))).astype(np.float32)
    return rng.standard_normal((60, 16)).astype(np.float32), documents


def again(queries, documents, first, second, oversampling, k):
    steps = TwoSteps(osp.parse_scorer(first), osp.parse_scorer(second), oversampling)
    parts = list(search_again(queries, documents, steps, k))
    assert (np.concatenate([numbers for numbers, _ in parts]) == np.arange(len(queries))).all()
    return np.concatenate([top.documents for _, top in parts]), np.concatenate([top.scores for _, top in parts])


def test_the_best_of_the_short_list_are_kept_in_the_order_of_the_second_scorer(sides):
    queries, documents = sides
    dot = queries.astype(float) @ documents.astype(float).T
    cosine = dot / np.linalg.norm(queries, axis=1)[:, None] / np.linalg.norm(documents, axis=1)
    short = np.argsort(-cosine, axis=1)[:, :30]
    order = np.argsort(-np.take_along_axis(dot, short, axis=1), axis=1)[:, :10]
    expected = np.take_along_axis(short, order, axis=1)
    numbers, scores = again(queries, documents, "cosine", "dot", 3, 10)
    assert (numbers == expected).all()
    assert np.allclose(scores, np.take_along_axis(dot, expected, axis=1))


def test_a_short_list_of_everything_is_the_exact_search(sides):
    queries, documents = sides
    (exact,) = osp.search(queries, documents, [osp.parse_scorer("euclidean")], 10)
    numbers, scores = again(queries, documents, "dot", "euclidean", 1_000, 10)
    assert (numbers == exact.documents).all()
    assert np.allclose(scores, exact.scores)


def test_ties_go_by_document_order(sides):
    queries, documents = sides
    twice = np.concatenate([documents, documents])
    numbers, _ = again(queries, twice, "cosine", "dot", 5, 2)
    assert (numbers[:, 1] == numbers[:, 0] + len(documents)).all()


def test_memory_is_bounded_and_nothing_depends_on_it(sides, monkeypatch):
    queries, documents = sides
    whole = again(queries, documents, "cosine", "dot", 3, 10)
    monkeypatch.setattr(reranking, "ROWS_AT_ONCE", 70)
    parts = again(queries, documents, "cosine", "dot", 3, 10)
    assert all((left == right).all() for left, right in zip(whole, parts, strict=True))


def test_what_is_no_second_step_is_refused(sides):
    queries, documents = sides
    with pytest.raises(ParameterError, match="without bias"):
        TwoSteps(osp.Scorer(), osp.csls(osp.Scorer(), documents, queries), 4)
    with pytest.raises(ParameterError, match="0 times k"):
        TwoSteps(osp.Scorer(), osp.Scorer(), 0)
