"""Late interaction is that of sentence-transformers' multi-vector models."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from offsphere.base.errors import UnknownNameError
from offsphere.tokens.late_interaction import MaxSim
from offsphere.tokens.token_measure import TextPairs
from tests.tokens.conftest import bags_of, random_bags, text_of

maxsim = pytest.importorskip("sentence_transformers.util.similarity").maxsim


def sequences(bags, *, unit):
    """Every token of each text, repeated as it stands there."""
    texts = [text_of(bags, number) for number in range(len(bags))]
    tensors = [torch.as_tensor(np.repeat(vectors, counts.astype(int), axis=0)).float() for vectors, counts, _ in texts]
    return [normalize(tensor, dim=1) if unit else tensor for tensor in tensors]


@pytest.mark.parametrize("choice", ["both", "none", "query", "document"])
def test_it_is_sentence_transformers_maxsim_over_the_number_of_tokens(two_bags, choice):
    left, right = two_bags
    asking = sequences(left, unit=choice in ("both", "query"))
    theirs = maxsim(asking, sequences(right, unit=choice in ("both", "document"))).numpy()
    grid = np.indices(theirs.shape).reshape(2, -1)
    ours = MaxSim(choice).scores(left, right, TextPairs(*grid)).reshape(theirs.shape)
    tokens = np.array([len(text) for text in asking])
    np.testing.assert_allclose(ours * tokens[:, None], theirs, rtol=1e-5)


def test_both_ways_is_the_mean_of_the_two_and_the_order_of_pairs_does_not_matter(two_bags):
    left, right = two_bags
    rng = np.random.default_rng(3)
    pairs = TextPairs(rng.integers(0, len(left), 400), rng.integers(0, len(right), 400))
    back = TextPairs(pairs.rights, pairs.lefts)
    there_and_back = (MaxSim().scores(left, right, pairs) + MaxSim().scores(right, left, back)) / 2
    np.testing.assert_allclose(MaxSim(symmetric=True).scores(left, right, pairs), there_and_back, rtol=1e-12)
    mixed = rng.permutation(400)
    again = MaxSim().scores(left, right, TextPairs(pairs.lefts[mixed], pairs.rights[mixed]))
    np.testing.assert_array_equal(again, MaxSim().scores(left, right, pairs)[mixed])


def test_the_length_of_a_querys_token_is_a_weight(two_bags):
    """Left in the product or taken as a weight: documents are ranked alike, and the names say so."""
    left, right = two_bags
    pairs = TextPairs(np.full(len(right), 2), np.arange(len(right)))
    weighed, inside = MaxSim(weights="length"), MaxSim("document")
    ratio = weighed.scores(left, right, pairs) / inside.scores(left, right, pairs)
    np.testing.assert_allclose(ratio, ratio[0])
    assert weighed.ranking_twin() == inside.name != MaxSim().ranking_twin()


def test_texts_without_tokens_have_no_number():
    rng = np.random.default_rng(0)
    left = random_bags(rng, empty=(1, 11))
    right = bags_of(rng, left.table, empty=(0,))
    pairs = TextPairs(np.array([1, 11, 2, 2]), np.array([3, 3, 0, 3]))
    for measure in (MaxSim(), MaxSim("none", "length", symmetric=True)):
        assert np.isfinite(measure.scores(left, right, pairs)).tolist() == [False, False, False, True]
    with pytest.raises(UnknownNameError, match="normalisation of tokens"):
        MaxSim("sideways")
