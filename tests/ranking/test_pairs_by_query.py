"""Pairs that are excluded from a search: left out inside it, and refused where they name nobody."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.errors import VectorError
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from tests.oracles import values
from tests.ranking.test_search import NAMES, SCORERS, random_vectors


def test_what_is_excluded_is_not_found_and_all_else_is():
    rng = np.random.default_rng(0)
    queries, documents = random_vectors(rng, 30, 8, 0.5), random_vectors(rng, 3_000, 8, 0.5)
    gone = rng.random((30, 3_000)) < np.linspace(0, 1, 30)[:, None]  # nothing for the first, everything for the last
    pairs = np.nonzero(gone)
    mixed = rng.permutation(len(pairs[0]))
    tops = search(queries, documents, SCORERS, 12, excluded=(pairs[0][mixed], pairs[1][mixed]), block_rows=1_000)
    for name, found in zip(NAMES, tops, strict=True):
        full = np.where(gone, -np.inf, values(name, queries, documents))
        left = np.minimum((~gone).sum(axis=1), 12)
        assert ((found.documents >= 0).sum(axis=1) == left).all(), name
        for query, count in enumerate(left.tolist()):
            row = found.documents[query, :count]
            assert not gone[query, row].any(), name
            assert (found.documents[query, count:] == -1).all()
            assert (found.scores[query, count:] == -np.inf).all()
            assert full[query, row] == pytest.approx(-np.sort(-full[query])[:count], rel=1e-6, abs=1e-7), name


@pytest.mark.parametrize(("best", "k"), [(3, 1), (40, 10), (90, 100)])
def test_when_the_best_are_excluded_those_after_them_are_found(best, k):
    rng = np.random.default_rng(2)
    queries, documents = random_vectors(rng, 6, 8, 0.5), random_vectors(rng, 2_500, 8, 0.5)
    for scorer, whole in zip(SCORERS, search(queries, documents, SCORERS, best + k), strict=True):
        pairs = (np.repeat(np.arange(6), best), whole.documents[:, :best].ravel())
        (left,) = search(queries, documents, [scorer], k, excluded=pairs)
        assert (left.documents == whole.documents[:, best:]).all(), scorer.name


def test_turns_and_two_steps_leave_out_what_one_search_leaves_out():
    from offsphere.ranking.reranking import TwoSteps, search_again
    from offsphere.ranking.search import search_in_turns

    rng = np.random.default_rng(1)
    queries, documents = random_vectors(rng, 40, 6, 0.5), random_vectors(rng, 25, 6, 0.5)
    pairs = np.nonzero(rng.random((40, 25)) < 0.7)
    dot = parse_scorer("dot")
    (whole,) = search(queries, documents, [dot], 10, excluded=pairs)
    turns = [top for _, (top,) in search_in_turns(queries, documents, [dot], 10, excluded=pairs)]
    assert (np.concatenate([top.documents for top in turns]) == whole.documents).all()
    steps = TwoSteps(parse_scorer("cosine"), dot, 3)  # finds all there are, and ranks them as one search does
    again = [top for _, top in search_again(queries, documents, steps, 10, excluded=pairs)]
    assert (np.concatenate([top.documents for top in again]) == whole.documents).all()


@pytest.mark.parametrize(("pair", "message"), [((0, 9), "document in row 9"), ((-1, 0), "query in row -1")])
def test_pairs_that_name_nobody_are_refused(pair, message):
    rows = np.eye(3, dtype=np.float32)
    with pytest.raises(VectorError, match=message):
        search(rows, rows, SCORERS[:1], excluded=(np.array([pair[0]]), np.array([pair[1]])))
