"""A lowered scorer: the inner product of its two vectors ranks as the scorer does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import VectorError
from offsphere.ranking.hub_bias import with_nnn
from offsphere.ranking.search import search
from offsphere.scoring.lowering import NotLowerableError
from offsphere.scoring.names import parse_scorer
from offsphere.vectors.moments import Moments
from tests.oracles import FORMULAS, top, values
from tests.scoring.samples import vectors

LOWERED = [name for name in FORMULAS if parse_scorer(name).similarity.lowers]


def order_alike(first, second, tolerance=1e-5):
    """No pair that is clearly in order in the first is clearly in the opposite order in the second."""
    first, second = (scores / np.abs(scores).max() for scores in (first, second))
    rises, falls = first[:, :, None] - first[:, None, :], second[:, :, None] - second[:, None, :]
    return not ((rises > tolerance) & (falls < -tolerance)).any()


@pytest.mark.parametrize(
    "name", [*LOWERED, "whiten(0.5) + cosine", "center + norm-mix(0.7)", "drop-top(1) + euclidean"]
)
@given(seed=st.integers(0, 10_000))
def test_lowering_ranks_as_the_scorer(name, seed):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 60)
    scorer = parse_scorer(name).fit(Moments.of(documents))
    lowering = scorer.lower()
    inner = lowering.queries(queries).astype(np.float64) @ lowering.documents(documents).astype(np.float64).T
    similarity = name.split("+")[-1].strip()
    top = search(queries, documents, [scorer], 60)[0]
    exact = np.empty_like(inner)
    np.put_along_axis(exact, top.documents, top.scores, axis=1)
    if similarity in FORMULAS:
        full = values(similarity, scorer.transform(queries), scorer.transform(documents))
        assert np.allclose(exact, full, rtol=1e-6, atol=1e-6)
    assert order_alike(exact, inner)


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["cosine", "half", "radial-confidence(2)"]))
def test_lowering_of_a_linear_similarity_keeps_its_value(seed, name):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 60)
    scorer = with_nnn(parse_scorer(name), np.random.default_rng(seed).normal(size=60), 0.5)
    lowering = scorer.lower()
    inner = lowering.queries(queries) @ lowering.documents(documents).T
    top = search(queries, documents, [scorer], 60)[0]
    assert np.allclose(np.take_along_axis(inner, top.documents, 1), top.scores, atol=1e-4)
    assert inner.shape == (5, 60)
    assert lowering.documents(documents).shape[1] == 9  # one coordinate more, for the bias


METRICS = ("cosine", "dot", "euclidean")  # what engines rank by themselves


def agreement(name, other, spread):
    """How many of the ten best of one similarity are among those of another, by lengths that scatter so much."""
    rng = np.random.default_rng(0)
    directions = rng.normal(0.3, 1, (1_200, 12))
    rows = directions / np.linalg.norm(directions, axis=1, keepdims=True) * rng.lognormal(0, spread, (1_200, 1))
    first, second = (top(values(which, rows[:200], rows[200:]), 10) for which in (name, other))
    return np.mean([np.isin(left, right).mean() for left, right in zip(first, second, strict=True)])


@pytest.mark.parametrize(
    ("name", "formula", "nearest"),
    [
        ("overlap", "dot / (|q|^2 + |d|^2 - |dot|)", "cosine"),
        ("tanh", "tanh(2 dot / (|q|^2 + |d|^2))", "cosine"),
        ("norm-gap(1)", "-(| |q| - |d| | + weight arccos(cosine))", "euclidean"),
    ],
)
def test_what_is_no_inner_product_says_which_part_and_what_comes_nearest(monkeypatch, name, formula, nearest):
    with pytest.raises(NotLowerableError) as caught:
        parse_scorer(name).lower()
    assert str(caught.value) == (
        f"{name} is no inner product of one vector a side, so no engine can serve it by inner product: {formula} ties "
        f"the two lengths together; {nearest} comes nearest, and what it finds can be re-ranked with score_pairs"
    )
    assert parse_scorer(nearest).similarity.lowers
    gap = "norm-gap(1)"
    monkeypatch.setitem(FORMULAS, gap, lambda p, a, b: -(np.abs(a - b) + np.arccos(np.clip(p / (a * b), -1, 1))))
    for spread in (0.1, 0.35, 0.6):
        agreements = {other: agreement(name, other, spread) for other in METRICS}
        assert max(agreements, key=agreements.get) == nearest, (spread, agreements)


def test_documents_without_length_are_pointed_out():
    documents = vectors(0, 4)
    documents[2] = 0
    assert parse_scorer("cosine").lower().is_rankable(documents).tolist() == [True, True, False, True]
    assert parse_scorer("dot").lower().is_rankable(documents).all()


def test_a_vector_that_no_engine_can_store_is_refused():
    documents = np.array([[1.0, 1.0], [1e-40, 0.0]], np.float32)
    lowering = parse_scorer("polar(1, 2)").lower()
    with pytest.raises(VectorError, match="the document vector in row 1 becomes larger than float32 can hold"):
        lowering.documents(documents)
