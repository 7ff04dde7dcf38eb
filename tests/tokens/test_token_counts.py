"""Tokens are counted without being kept: memory does not grow with the texts."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest

import offsphere as osp
from offsphere.data.items import SideTexts
from offsphere.tokens.listed_pairs import score_listed
from offsphere.tokens.measure_names import parse_measures
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.token_counts import count_tokens
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.token_model import token_model
from offsphere.tokens.vocabulary import Vocabulary

WORDS = np.array(["wing", "heat", "flow", "plate", "cone", "shock", "wave", "body", "jet", "nozzle"])


@pytest.fixture(scope="module")
def static():
    return token_model(osp.load_encoder("wordllama"))


def drawn(count, words=40, seed=0):
    return [" ".join(row) for row in np.random.default_rng(seed).choice(WORDS, (count, words))]


def test_counts_are_those_of_all_tokens_together(static):
    texts = [*drawn(1_500, words=3), "", *drawn(900, words=2, seed=1), ""]
    counted = count_tokens(static, texts)
    expected = Counter(static.tokens(texts).ids.tolist())
    assert {number: count for number, count in enumerate(counted.counts.tolist()) if count} == expected
    assert counted.empty.tolist() == [1_500, 2_401]
    vectors = static.encoder.table
    words = Vocabulary.counted([counted.counts, counted.counts], lambda ids: vectors[ids])
    assert words.counts.sum() == 2 * sum(expected.values())
    assert Vocabulary.of([static.tokens(texts)] * 2, lambda ids: vectors[ids]).ids.tolist() == words.ids.tolist()


def test_memory_does_not_grow_with_the_texts(static):
    """Four times the texts are counted, and as many pairs of them are compared."""
    measures = parse_measures("mean, maxsim(both)")
    asked, rng = drawn(20, words=8), np.random.default_rng(2)
    words = Vocabulary.of([static.tokens(asked)], lambda ids: static.encoder.table[ids])
    counting, comparing = [], []
    for count in (2_100, 2_100, 8_400):  # first what is imported and compiled only once
        texts = drawn(count)
        pairs = TextPairs(np.repeat(np.arange(20), 20), rng.choice(count, 400, replace=False))
        sides = SideTexts("query", asked), SideTexts("document", texts)
        score_listed(static, measures, sides, pairs, vocabulary=words)
        counting.append(peak_of(lambda: count_tokens(static, texts)))  # noqa: B023  # called at once
        comparing.append(peak_of(lambda: score_listed(static, measures, sides, pairs, vocabulary=words)))  # noqa: B023
    assert counting[2] < 1.1 * counting[1]
    assert comparing[2] < 1.1 * comparing[1]


def peak_of(work):
    """The most memory that Python and numpy had at once beyond what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_words_are_compared_once_for_all_who_ask(static):
    words = Vocabulary.of([static.tokens(drawn(5))], lambda ids: static.encoder.table[ids])
    assert SoftCosine().fit(words).similarity is SoftCosine("none", "length").fit(words).similarity
