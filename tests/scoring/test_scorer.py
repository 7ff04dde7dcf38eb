from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import OffsphereError, VectorError
from offsphere.ranking.hub_bias import nnn
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from tests.oracles import values
from tests.scoring.samples import vectors


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "norm-gap(2)", "overlap"])
def test_pairs_are_scored_as_query_and_document(name):
    left, right = vectors(0, 7), vectors(1, 7)
    expected = np.diag(values(name, left, right))
    assert np.allclose(parse_scorer(name).score_pairs(left, right), expected)


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(OffsphereError, match="never fitted"):
        search(vectors(0, 2), vectors(1, 5), [parse_scorer("center + cosine")], 3)
    with pytest.raises(OffsphereError, match="never fitted"):
        search(vectors(0, 2), vectors(1, 5), [Scorer(), parse_scorer("center + cosine")], 3)
    with pytest.raises(VectorError, match="pairs need two of a shape"):
        Scorer().score_pairs(vectors(0, 2), vectors(1, 5))
    with pytest.raises(VectorError, match="give rows"):
        Scorer().transform(vectors(0, 2)[0])
    with pytest.raises(OffsphereError, match="has no meaning for pairs"):
        nnn(Scorer(), vectors(0, 5), vectors(1, 5)).score_pairs(vectors(0, 5), vectors(1, 5))
