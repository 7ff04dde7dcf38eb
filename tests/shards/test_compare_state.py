from __future__ import annotations

from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import offsphere.ranking.search as searching
from offsphere import RankingTask, RankingVectors, Scorer, compare
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.data.grouping import Grouping
from offsphere.data.judgments import Judgments
from offsphere.shards.compare_question import CompareOptions
from offsphere.shards.compare_state import search_shard
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.merged_evaluator import compared
from offsphere.shards.shard import Shard
from tests.shards.sharded import compare_sharded, fit_states, merged, search_states

COUNT, QUERIES = 7_000, 40


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    documents = rng.normal(0.2, 1, (COUNT, 6)) * rng.lognormal(0, 0.5, (COUNT, 1))
    documents[rng.permutation(COUNT)[:3_000]] = documents[rng.permutation(COUNT)[:3_000]]  # equal ones in many shards
    documents[[5, 6_000]] = 0
    return RankingVectors(rng.normal(0.2, 1, (QUERIES, 6)).astype(np.float32), documents.astype(np.float32))


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(1)
    judged = {
        f"q{query}": {
            f"d{document}": int(rng.integers(0, 4)) + (place == 0) for place, document in enumerate(documents)
        }
        for query, documents in enumerate(rng.integers(0, COUNT, (QUERIES, 12)))
    }
    task = RankingTask.from_judgments(judged, [f"d{row}" for row in range(COUNT)], "planted")
    return replace(task, groups=[Grouping("half", ["first", "second"] * (QUERIES // 2))], made="by a test")


def checked(task, vectors):
    return task.vectors(vectors.queries, vectors.documents)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_shards_print_to_the_last_bit_what_one_run_prints(task, vectors, count):
    whole = compare(task, checked(task, vectors)).to_json()
    assert compare_sharded(task, vectors, count, order=count).to_json() == whole


def test_the_same_where_queries_come_in_turns_and_must_not_get_some_documents(task, vectors, monkeypatch):
    rng = np.random.default_rng(2)
    queries = np.repeat(np.arange(QUERIES), np.arange(QUERIES))
    documents = np.concatenate([rng.permutation(COUNT)[:size] for size in range(QUERIES)])
    excluded = Judgments.of(queries, documents, np.ones(len(queries)), QUERIES, COUNT)
    restricted = replace(task, excluded=excluded)
    monkeypatch.setattr(searching, "TOP_LISTS", 60 * 36 * 84 * 10)
    options = {"metric": "ndcg@20", "folds": 3, "seed": 5, "worth": 0.02, "by": "half"}
    whole = compare(restricted, checked(restricted, vectors), **options).to_json()
    assert compare_sharded(restricted, vectors, 3, **options).to_json() == whole


def test_a_shard_leaves_out_by_the_numbers_of_the_whole_what_a_query_would_get_first(task, vectors):
    best = (vectors.queries @ vectors.documents.T).argsort(axis=1)[:, ::-1][:, :40]
    gone = Judgments.of(np.repeat(np.arange(QUERIES), 40), best.ravel(), np.ones(best.size), QUERIES, COUNT)
    restricted = replace(task, excluded=gone)
    fitted = merged(fit_states(task, vectors.documents, 3))
    options = CompareOptions(scorers=["dot"], metric="ndcg@20")
    state = merged(search_states(restricted, vectors, 3, fitted, options))
    dots = vectors.queries.astype(np.float64) @ vectors.documents.T.astype(np.float64)
    np.put_along_axis(dots, best, -np.inf, axis=1)
    assert np.array_equal(state.documents[1], (-dots).argsort(axis=1, kind="stable")[:, :20])  # the list of dot
    assert (
        compared(state).to_json()
        == compare(restricted, checked(restricted, vectors), ["dot"], metric="ndcg@20").to_json()
    )
    with pytest.raises(DataError, match="another question"):
        search_states(task, vectors, 3, fitted, options)[0].merge(
            search_states(restricted, vectors, 3, fitted, options)[1]
        )


def test_named_scorers_are_fitted_alike_and_one_thread_finds_what_two_find(task, vectors, monkeypatch):
    options = {"scorers": ["whiten(0.5) + dot", "polar(1, 0.25)", "drop-top + norm-gap(2)"], "metric": "recall@100"}
    whole = compare(task, checked(task, vectors), **options, declared="dot").to_json()
    for cores in (1, 2):
        for module in ("offsphere.ranking.search", "offsphere.vectors.block_fits", "offsphere.scoring.query_bank"):
            monkeypatch.setattr(f"{module}.available_cores", lambda cores=cores: cores)
        assert compare_sharded(task, vectors, 4, **options, declared="dot").to_json() == whole


def test_normalised_vectors_are_noticed_over_shards_too(task, vectors):
    rows = vectors.documents + np.float32(0.5)
    unit = RankingVectors(vectors.queries, rows / np.linalg.norm(rows, axis=1, keepdims=True))
    table = compare_sharded(task, unit, 3)
    assert table.to_json() == compare(task, checked(task, unit)).to_json()
    assert any("normalised" in note for note in table.notes)


def test_states_do_not_grow_with_the_documents(task, vectors):
    sizes = []
    for count in (2_000, COUNT):
        part = task.among_documents(np.arange(count))
        some = RankingVectors(vectors.queries, vectors.documents[:count])
        fitted = merged(fit_states(part, some.documents, 2))
        (state, _) = search_states(part, some, 2, fitted, CompareOptions(scorers=["dot"]))
        sizes.append(state.documents.nbytes + state.keys.nbytes)
    assert sizes[0] == sizes[1] == 2 * QUERIES * 10 * 16


def test_a_scorer_of_merged_states_ranks_as_that_of_one_run(task, vectors, tmp_path):
    whole, table = compare(task, checked(task, vectors)), compare_sharded(task, vectors, 2)
    for name in ("cosine + csls", "whiten + cosine (tuned)", "polar (tuned)"):
        asked = [row.scorer for row in (whole[name], table[name])]
        one, other = searching.search(vectors.queries, vectors.documents, asked, 10, ids=task.document_ids)
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-12)
    table["cosine + csls"].scorer.save(tmp_path)
    again = Scorer.load(tmp_path)
    (found,) = searching.search(vectors.queries, vectors.documents, [again], 10, ids=task.document_ids)
    (kept,) = searching.search(
        vectors.queries, vectors.documents, [table["cosine + csls"].scorer], 10, ids=task.document_ids
    )
    assert np.array_equal(found.documents, kept.documents)


def test_documents_that_changed_since_they_were_fitted_are_named(task, vectors):
    fitted = merged(fit_states(task, vectors.documents, 2))
    other = vectors.documents.copy()
    other[-1, 0] += 1
    with pytest.raises(DataError, match=r"documents of shard 2/2 were changed since they were fitted"):
        search_states(task, RankingVectors(vectors.queries, other), 2, fitted, CompareOptions(scorers=["dot"]))
    part = RankingVectors(vectors.queries, vectors.documents[:0])
    with pytest.raises(DataError, match="fit it again"):
        search_shard(DividedTask.of(task), Shard(1, 3), part, fitted, CompareOptions(scorers=["dot"]))


def test_states_of_another_question_are_refused_with_what_differs(task, vectors):
    fitted = merged(fit_states(task, vectors.documents, 2))

    def states(vectors=vectors, task=task, **options):
        return search_states(task, vectors, 2, fitted, CompareOptions(scorers=["dot"], **options))

    mine = states()[0]
    for options, told in (({"seed": 1}, "its seed is 1"), ({"metric": "mrr@10"}, "its metric is mrr@10")):
        with pytest.raises(DataError, match=f"another question: {told}"):
            mine.merge(states(**options)[1])
    moved = RankingVectors(vectors.queries * 2, vectors.documents)
    with pytest.raises(DataError, match="other queries, judgments or fitted transforms"):
        mine.merge(states(moved)[1])
    with pytest.raises(DataError, match=r"1 of 2 shards are missing \(2/2\)"):
        compared(mine)


def test_what_needs_all_documents_at_once_is_refused(task, vectors):
    fitted = merged(fit_states(task, vectors.documents, 2))

    def asked(**options):
        return search_states(task, vectors, 2, fitted, CompareOptions(**options))

    with pytest.raises(ParameterError, match=r"pooled-ap.* use one with a value a query"):
        asked(metric="pooled-ap@100")
    with pytest.raises(ParameterError, match="folds = 1"):
        asked(folds=1)
    with pytest.raises(OffsphereError, match="unknown"):
        asked(by="nothing")


NINE = 9  # shards of seven tiles: two have no documents


@pytest.fixture(scope="module")
def nine(task, vectors):
    """The states of nine shards, two of them empty, and the state of one shard of everything."""
    options = CompareOptions(scorers=["dot", "whiten(0.5) + cosine", "polar(1, 0.25)"])
    fitted = merged(fit_states(task, vectors.documents, NINE))
    whole = merged(fit_states(task, vectors.documents, 1))
    return search_states(task, vectors, NINE, fitted, options), search_states(task, vectors, 1, whole, options)[0]


def same_lists(one, other):
    assert np.array_equal(one.documents, other.documents)
    assert np.array_equal(one.keys, other.keys)


@settings(max_examples=40)
@given(st.data())
def test_states_merge_to_the_last_bit_in_any_order_and_grouping(nine, data):
    states, whole = nine
    left = list(data.draw(st.permutations(states)))
    while len(left) > 1:
        first = left.pop(data.draw(st.integers(0, len(left) - 1)))
        left.append(left.pop(data.draw(st.integers(0, len(left) - 1))).merge(first))
    same_lists(left[0], whole)
    assert not left[0].origin.missing


@settings(max_examples=40)
@given(st.permutations(range(NINE)), st.integers(1, NINE - 2), st.integers(1, NINE - 1))
def test_merging_states_is_associative_and_commutative(nine, order, first, length):
    states, _ = nine
    parts = [order[:first], order[first : first + length], order[first + length :]]
    one, two, *three = (reduce(lambda a, b: a.merge(b), [states[number] for number in part]) for part in parts if part)
    same_lists(one.merge(two), two.merge(one))
    assert one.merge(two).origin == two.merge(one).origin
    for last in three:
        same_lists(one.merge(two).merge(last), one.merge(two.merge(last)))


def test_a_shard_without_documents_changes_nothing_of_another(nine):
    states, _ = nine
    empty = [state for state in states if not state.documents.shape[2]]
    assert len(empty) == 2
    for state in states:
        for nothing in empty:
            if state is not nothing:
                same_lists(state.merge(nothing), state)
                same_lists(nothing.merge(state), state)
