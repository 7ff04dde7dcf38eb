from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import VectorError
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.vectors.moments import Moments
from tests.scoring.samples import vectors


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["cosine", "dot", "norm-mix(0.7)", "whiten(0.5) + cosine"]))
def test_standardised_scores_have_mean_0_and_deviation_1_over_the_corpus(seed, name):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 90)
    plain = parse_scorer(name).fit(Moments.of(documents))
    scorer = standardize_queries(plain, documents)
    after, before = search(queries, documents, [scorer, plain], 90)
    assert (after.documents == before.documents).all()
    assert np.allclose(after.scores.mean(axis=1), 0, atol=1e-4)
    assert np.allclose(after.scores.std(axis=1), 1, atol=1e-4)
    lowering = scorer.lower()
    inner = lowering.queries(queries) @ lowering.documents(documents).T
    assert np.allclose(np.take_along_axis(inner, after.documents, 1), after.scores, atol=1e-3)


def test_scores_are_standardised_where_float32_would_not_hold_the_lowered_vectors():
    documents = np.array([[1e-40, 0.0], [0.0, 1.0], [3e-40, 1e-40]], np.float32)
    plain = parse_scorer("polar(1, 2)")
    after, before = search(documents, documents, [standardize_queries(plain, documents), plain], 3)
    wanted = (before.scores - before.scores.mean(axis=1, keepdims=True)) / before.scores.std(axis=1, keepdims=True)
    assert np.allclose(after.scores, wanted)


def test_a_corpus_without_any_value_cannot_be_standardised():
    with pytest.raises(VectorError, match="no document has a value"):
        standardize_queries(parse_scorer("cosine"), np.zeros((3, 2), np.float32))
