"""No index that is not there comes to compiled code: memory would be read wherever it leads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from offsphere.base.errors import VectorError
from offsphere.tokens.late_interaction import MaxSim
from offsphere.tokens.soft_cosine import SoftCosine
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.transport import Transport
from offsphere.tokens.vocabulary import Vocabulary
from offsphere.tokens.weighted_mean import WeightedMean

MEASURES = {
    "maxsim": MaxSim(),
    "maxsim, both ways": MaxSim(symmetric=True),
    "transport": Transport(),
    "soft cosine": SoftCosine(),
    "means": WeightedMean(),
}


def words_of(bags):
    return Vocabulary(bags.ids, np.ones(len(bags.ids), np.int64), lambda ids: bags.table[ids - 100])


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("lefts", "rights", "said"),
    [
        ([0, -1], [0, 1], "text -1 of 12"),
        ([0, 1], [2, -(2**40)], "text -1,099,511,627,776 of 15"),
        ([12], [0], "text 12 of 12"),
        ([0], [15], "text 15 of 15"),
        ([0, 1], [0], "2 left texts for 1 right ones"),
        ([], [0], "0 left texts for 1 right ones"),
    ],
)
def test_a_text_that_is_not_there_is_refused_by_every_measure(two_bags, name, lefts, rights, said):
    left, right = two_bags
    pairs = TextPairs(np.array(lefts, np.int64), np.array(rights, np.int64))
    with pytest.raises(VectorError, match=said):
        MEASURES[name].fit(words_of(left)).scores(left, right, pairs)


@pytest.mark.parametrize("name", MEASURES)
def test_vectors_of_another_width_are_refused_by_every_measure(two_bags, name):
    left, right = two_bags
    narrow = replace(right, table=right.table[:, :3], lengths=np.zeros(0))
    with pytest.raises(VectorError, match="of 8 and of 3 dimensions"):
        MEASURES[name].fit(words_of(left)).scores(left, narrow, TextPairs(np.array([0]), np.array([1])))


@pytest.mark.parametrize(
    ("part", "wrong", "said"),
    [
        ("rows", lambda rows: np.where(rows == rows[-1], -1, rows), "an entry has vector -1, and there are 30"),
        ("rows", lambda rows: np.where(rows == rows[-1], 30, rows), "an entry has vector 30, and there are 30"),
        ("counts", lambda counts: counts[:-1], "of which texts are made"),
        ("ends", lambda ends: ends[::-1], "of which texts are made"),
        ("ends", lambda ends: ends[:-1], "of which texts are made"),
        ("ends", lambda ends: ends + 1, "of which texts are made"),
        ("ids", lambda ids: ids[:-1], "for 29 tokens"),
        ("lengths", lambda lengths: lengths[:-1], "29 lengths for 30 token vectors"),
        ("frequency", lambda shares: shares[:5], "5 shares of tokens for 30 token vectors"),
    ],
)
def test_texts_whose_parts_do_not_fit_together_are_refused(two_bags, part, wrong, said):
    bags = two_bags[0]
    with pytest.raises(VectorError, match=said):
        replace(bags, **{part: wrong(getattr(bags, part))})
