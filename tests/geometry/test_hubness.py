from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from offsphere import Polar, Scorer, search
from offsphere.geometry.hubness import by_chance, gini, hubness, robin_hood, skewness


def test_measures_are_those_of_their_definitions():
    occurrences = np.random.default_rng(0).geometric(0.2, 300) - 1
    assert np.isclose(skewness(occurrences), stats.skew(occurrences))
    differences = np.abs(occurrences[:, None] - occurrences).mean()
    assert np.isclose(gini(occurrences), differences / (2 * occurrences.mean()))
    rich = occurrences[occurrences > occurrences.mean()]
    assert np.isclose(robin_hood(occurrences), (rich - occurrences.mean()).sum() / occurrences.sum())


def test_an_even_share_has_no_hubs():
    hubs = hubness("cosine", np.arange(100).reshape(10, 10), 100)
    assert (hubs.skewness, hubs.robin_hood, hubs.gini, hubs.antihub_share, hubs.hub_count) == (0, 0, 0, 0, 0)


def test_documents_in_no_list_are_named_and_those_that_are_relevant_first():
    relevant = np.zeros(30, bool)
    relevant[[3, 25]] = True
    hubs = hubness("cosine", np.arange(20).reshape(2, 10), 30, [f"d{d}" for d in range(30)], relevant)
    assert list(hubs.never) == ["d25", "d20", "d21", "d22", "d23", "d24", "d26", "d27", "d28", "d29"]
    assert hubness("cosine", np.arange(20).reshape(2, 10), 21).never == ["20"]


def test_a_planted_hub_is_named_and_dot_sees_it_where_cosine_does_not():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(500, 16)).astype(np.float32)
    queries = rng.normal(size=(200, 16)).astype(np.float32)
    queries[:, 0] += 2
    documents[123] = 40 * np.eye(16)[0] + documents[123]  # long, and a little towards all queries
    cosine, dot = search(queries, documents, [Scorer(Polar(1, 1)), Scorer(Polar(0, 0))], 10)
    ids = [f"d{number}" for number in range(500)]
    hubs = hubness("dot", dot.documents, 500, ids)
    assert hubs.worst[0].id == "d123"
    assert hubs.worst[0].occurrences > 150
    assert hubs.hub_count >= 1
    assert hubness("cosine", cosine.documents, 500, ids).skewness < hubs.skewness


@pytest.mark.parametrize(("queries", "documents"), [(300, 5_000), (2_000, 400)])
def test_chance_is_what_random_lists_give(queries, documents):
    rng = np.random.default_rng(0)
    lists = np.stack([rng.choice(documents, 10, replace=False) for _ in range(queries)])
    hubs = hubness("random", lists, documents)
    for name, expected in by_chance(queries, 10, documents).items():
        if name == "hubs":  # a count of documents, each by itself: no further off than four deviations
            assert abs(hubs.hub_count - expected) <= 4 * np.sqrt(expected)
            continue
        allowed = 4 * np.sqrt(6 / documents) if name == "skewness" else 0.01
        assert abs(getattr(hubs, name) - expected) < allowed


def test_where_every_list_holds_half_of_the_documents_chance_makes_all_of_them_hubs():
    """46 documents, ten in each of 1,000 lists: each is in 217 of them on average, where 20 make a hub."""
    assert np.isclose(by_chance(1_000, 10, 46)["hubs"], 46)
    assert by_chance(1_000, 4, 4)["hubs"] == 4  # every document is in every list
    assert by_chance(5, 4, 4)["hubs"] == 0  # and five lists are fewer than a hub needs


def test_a_hub_is_in_twice_k_lists_or_more():
    lists = np.zeros((25, 2), int)
    lists[:, 0] = [0] * 4 + [1] * 3 + list(range(2, 20))
    lists[:, 1] = np.arange(20, 45)
    hubs = hubness("cosine", lists, 50)
    assert hubs.hub_count == 1  # four lists of two; three are one too few
    assert (hubs.worst[0].id, hubs.worst[0].occurrences) == ("0", 4)
