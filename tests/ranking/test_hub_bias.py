from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import OffsphereError, VectorError
from offsphere.ranking.hub_bias import csls, nnn, with_nnn
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.moments import Moments
from tests.oracles import values
from tests.scoring.samples import vectors


@given(seed=st.integers(0, 10_000), k=st.integers(1, 40))
def test_nnn_and_csls_are_their_formulas(seed, k):
    queries, documents, bank = vectors(seed, 5), vectors(seed + 1, 60), vectors(seed + 2, 30)
    toward = np.sort(values("cosine", bank, documents), axis=0)[::-1]  # best bank queries first
    near = toward[:k].mean(axis=0)
    cosine = values("cosine", queries, documents)
    biased = [nnn(Scorer(), documents, bank, 0.75, k), csls(Scorer(), documents, bank, k)]
    by_nnn, by_csls = search(queries, documents, biased, 60)
    assert np.allclose(np.sort(cosine - 0.75 * near, axis=1)[:, ::-1], by_nnn.scores)
    # 2c - r(q) - r(d) is twice this, less a constant of the query
    assert np.allclose(np.sort(2 * cosine - near, axis=1)[:, ::-1], 2 * by_csls.scores)


def test_biases_that_cannot_be_are_refused():
    with pytest.raises(OffsphereError, match="takes neither a document bias"):
        with_nnn(parse_scorer("euclidean"), np.zeros(5), 1.0)
    with pytest.raises(OffsphereError, match="csls is defined for cosine"):
        csls(parse_scorer("dot"), vectors(0, 5), vectors(1, 5))
    with pytest.raises(OffsphereError, match="cosine, dot and all of the polar family, not overlap"):
        nnn(parse_scorer("overlap"), vectors(0, 5), vectors(1, 5))
    with pytest.raises(VectorError, match="the query bank is empty"):
        nnn(Scorer(), vectors(0, 5), vectors(1, 0))
    with pytest.raises(VectorError, match="the bias is of 5 documents, there are 6"):
        search(vectors(0, 2), vectors(1, 6), [nnn(Scorer(), vectors(0, 5), vectors(1, 5))], 3)


def test_a_bank_query_without_length_has_the_value_zero_as_in_a_search():
    documents = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    bank = np.array([[-1.0, 0.0], [0.0, 0.0], [-1.0, -1.0]], np.float32)
    toward = search(bank, documents, [Scorer()], 2)[0]
    values_of = np.take_along_axis(toward.scores, np.argsort(toward.documents, axis=1), axis=1)
    assert np.allclose(csls(Scorer(), documents, bank, 1).bias.values, -values_of.max(axis=0) / 2)
    assert csls(Scorer(), documents, bank[1:2], 3).bias.values.tolist() == [0, 0]


def test_a_bank_query_beyond_float32_is_named():
    documents = np.array([[1e-30, 0.0], [0.0, 1e-30], [1e-30, 1e-30]], np.float32)
    whitened = parse_scorer("whiten(1) + cosine").fit(Moments.of(documents))
    with pytest.raises(VectorError, match=r"bank query vector in row 1 is not finite in float32 after the transforms"):
        nnn(whitened, documents, np.array([[1e-30, 0], [1e30, 0]], np.float32))
