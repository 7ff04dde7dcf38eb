"""Soft cosine is gensim's, in all four normalisations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix

from offsphere.base.errors import ParameterError, VectorError
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.term_similarity import TermNeighbours, term_similarity
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.vocabulary import Vocabulary
from tests.tokens.conftest import random_bags, text_of

SparseTermSimilarityMatrix = pytest.importorskip("gensim.similarities").SparseTermSimilarityMatrix


def words_of(bags):
    return Vocabulary(bags.ids, np.ones(len(bags.ids), np.int64), lambda ids: bags.table[ids - 100])


def as_corpus(bags):
    """Texts as gensim writes them: lists of (term, count)."""
    return [
        list(zip(rows.tolist(), counts.tolist(), strict=True))
        for _, counts, rows in (text_of(bags, number) for number in range(len(bags)))
    ]


@pytest.mark.parametrize(
    ("choice", "normalized"),
    [("both", (True, True)), ("none", (False, False)), ("query", (True, False)), ("document", (False, True))],
)
def test_it_is_gensims(two_bags, choice, normalized):
    left, right = two_bags
    measure = SoftCosine(choice, neighbours=TermNeighbours(nearest=5, threshold=0.2)).fit(words_of(left))
    oracle = SparseTermSimilarityMatrix(csc_matrix(measure.similarity))
    corpora = as_corpus(left), as_corpus(right)
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right))]
    theirs = [oracle.inner_product(corpora[0][i], corpora[1][j], normalized=normalized) for i, j in pairs]
    ours = measure.scores(left, right, TextPairs(*np.array(pairs).T))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("weights", ["length", "sif"])
def test_weighted_words_are_gensims_bags_of_weights(two_bags, weights):
    left, right = two_bags
    measure = SoftCosine(weights=weights, neighbours=TermNeighbours(nearest=5)).fit(words_of(left))
    oracle = SparseTermSimilarityMatrix(csc_matrix(measure.similarity))
    sides = []
    for bags in two_bags:
        rare = 1e-3 / (1e-3 + bags.frequency)
        each = np.linalg.norm(bags.table, axis=1) if weights == "length" else rare
        sides.append([[(term, count * float(each[term])) for term, count in text] for text in as_corpus(bags)])
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right))]
    theirs = [oracle.inner_product(sides[0][i], sides[1][j], normalized=(True, True)) for i, j in pairs]
    np.testing.assert_allclose(measure.scores(left, right, TextPairs(*np.array(pairs).T)), theirs, rtol=1e-5, atol=1e-7)


def test_the_matrix_is_gensims_where_no_term_has_too_many_neighbours(two_bags):
    """Beyond that gensim keeps what it meets first, and we keep the nearest."""
    from gensim.corpora import Dictionary
    from gensim.models import KeyedVectors
    from gensim.similarities import WordEmbeddingSimilarityIndex

    table = two_bags[0].table
    names = [f"w{row:02d}" for row in range(len(table))]
    words = KeyedVectors(table.shape[1])
    words.add_vectors(names, table)
    dictionary = Dictionary([names])
    index = WordEmbeddingSimilarityIndex(words, threshold=0.1, exponent=2.0)
    theirs = SparseTermSimilarityMatrix(index, dictionary, nonzero_limit=len(table)).matrix.toarray()
    order = [dictionary.token2id[name] for name in names]
    ours = term_similarity(table, TermNeighbours(nearest=len(table), threshold=0.1)).toarray()
    np.testing.assert_allclose(ours, theirs[np.ix_(order, order)], atol=1e-6)


def test_each_term_keeps_its_nearest_ones():
    table = random_bags(np.random.default_rng(5), terms=60, dimension=4).table
    matrix = term_similarity(table, TermNeighbours(nearest=3)).toarray()
    units = table / np.linalg.norm(table, axis=1, keepdims=True)
    cosines = np.clip(units @ units.T, 0, 1) ** 2
    np.fill_diagonal(cosines, 0)
    for row in range(60):
        nearest = np.argsort(-cosines[row])[:3]
        np.testing.assert_allclose(matrix[row, nearest], cosines[row, nearest], atol=1e-5)
    assert (matrix == matrix.T).all()
    assert (np.diag(matrix) == 1).all()


def test_without_similar_words_it_is_the_cosine_of_counts(two_bags):
    from sklearn.metrics.pairwise import cosine_similarity

    left, right = two_bags
    measure = SoftCosine(neighbours=TermNeighbours(threshold=0.999999)).fit(words_of(left))
    counts = [np.zeros((len(bags), len(left.ids))) for bags in two_bags]
    for matrix, bags in zip(counts, two_bags, strict=True):
        np.add.at(matrix, (np.repeat(np.arange(len(bags)), bags.sizes), bags.rows), bags.counts)
    pairs = TextPairs(np.arange(12), np.arange(12))
    expected = cosine_similarity(*counts)[pairs.lefts, pairs.rights]
    np.testing.assert_allclose(measure.scores(left, right, pairs), expected, atol=1e-12)


def test_what_it_cannot_do_is_said():
    bags = random_bags(np.random.default_rng(0), empty=(2,))
    pairs = TextPairs(np.array([0, 2]), np.array([1, 1]))
    assert np.isnan(SoftCosine().fit(words_of(bags)).scores(bags, bags, pairs)).tolist() == [False, True]
    with pytest.raises(VectorError, match="fit it first"):
        SoftCosine().scores(bags, bags, pairs)
    some = Vocabulary(bags.ids[:3], np.ones(3, np.int64), lambda ids: bags.table[ids - 100])
    with pytest.raises(VectorError, match="not in the vocabulary"):
        SoftCosine().fit(some).scores(bags, bags, pairs)
    with pytest.raises(ParameterError, match="nearest = 0"):
        TermNeighbours(nearest=0)
