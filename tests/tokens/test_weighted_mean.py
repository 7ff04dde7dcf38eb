"""Weighted means, against numpy and against the static model's own."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import VectorError
from offsphere.encode import load_encoder
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.token_model import token_model
from offsphere.tokens.vocabulary import Vocabulary
from offsphere.tokens.weighted_mean import WeightedMean
from tests.tokens.conftest import text_of


@pytest.mark.parametrize("weights", ["uniform", "length", "direction", "sif"])
def test_it_is_the_cosine_of_weighted_sums(two_bags, weights):
    left, right = two_bags

    def sum_of(bags, number):
        vectors, counts, rows = text_of(bags, number)
        lengths = np.linalg.norm(vectors, axis=1)
        each = {
            "uniform": np.ones(len(rows)),
            "length": lengths,
            "direction": 1 / lengths,
            "sif": 1e-3 / (1e-3 + bags.frequency[rows]),
        }[weights]
        return np.average(vectors, axis=0, weights=counts * each)

    pairs = TextPairs(np.arange(12), np.arange(12))
    sums = [np.stack([sum_of(bags, number) for number in range(12)]) for bags in two_bags]
    units = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sums]
    expected = (units[0] * units[1]).sum(axis=1)
    np.testing.assert_allclose(WeightedMean(weights).scores(left, right, pairs), expected, atol=1e-6)


def test_the_plain_mean_is_the_static_models_vector():
    encoder = load_encoder("wordllama")
    texts = ["wing flutter in supersonic flow", "the the the", "", "heat transfer"]
    (batch,) = token_model(encoder).batches(texts, "document", [0], Vocabulary.of([], lambda ids: encoder.table[ids]))
    sums = WeightedMean().sums(batch.layers[0])
    tokens = encoder.count_tokens(texts)
    np.testing.assert_allclose(sums / np.maximum(tokens, 1)[:, None], encoder.encode(texts, "document"), atol=1e-5)


def test_rarity_must_have_been_counted():
    bags = TokenBags.of(np.eye(2, dtype=np.float32), np.arange(2), np.arange(2), np.array([1, 2]))
    with pytest.raises(VectorError, match="share of each token"):
        WeightedMean("sif").scores(bags, bags, TextPairs(np.array([0]), np.array([1])))
