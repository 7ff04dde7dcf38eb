"""Lists that are ranked again from three numbers a document are those that the whole corpus gives."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import ParameterError
from offsphere.comparison import rerankable
from offsphere.comparison.examples import changed_queries
from offsphere.comparison.rerankable import (
    CANDIDATES,
    MOST_ASKED,
    MOST_CHANGED,
    TRIED,
    queries_to_show,
    rerankable_lists,
)
from offsphere.data.judgments import Judgments
from offsphere.report.live_data import live_data

QUERIES, DOCUMENTS = 50, 400


def embedded(excluded=False, queries=QUERIES):
    rng = np.random.default_rng(1)
    documents = (rng.normal(0.3, 1, (DOCUMENTS, 10)) * np.exp(rng.normal(0, 0.5, (DOCUMENTS, 1)))).astype(np.float32)
    documents[7] = documents[6]  # a tie under every setting
    documents[9] = 0
    asked = (documents[:queries] + rng.normal(0, 0.8, (queries, 10))).astype(np.float32)
    judged = {
        f"q{q}": {
            f"d{d}": float(grade) for d, grade in zip([q, *rng.integers(0, DOCUMENTS, 3)], (3, 1, 2, 0), strict=True)
        }
        for q in range(queries)
    }
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(DOCUMENTS)])
    if excluded:
        rows = np.arange(queries)
        hidden = Judgments.of(
            np.repeat(rows, 2), np.stack([rows, rows + 1], 1).ravel(), np.ones(2 * queries), queries, DOCUMENTS
        )
        task = osp.RankingTask(**{field: getattr(task, field) for field in task.__slots__} | {"excluded": hidden})
    return task, osp.RankingVectors.of(task, asked, documents)


@pytest.fixture(scope="module")
def held():
    task, vectors = embedded()
    table = osp.compare(task, vectors)
    rows = table.rows[0], table["cosine"]
    return task, vectors, table, rows, rerankable_lists(task, vectors, table, rows)


def ranked_again(lists, chain, similarity, query, most=10):
    known = lists.candidates[query] >= 0
    places = lists.candidates[query][known]
    length = lists.query_lengths[chain, query]
    scores = similarity(
        lists.dots[chain, query][known], np.full(len(places), length), lists.document_lengths[chain, places]
    )
    order = np.argsort(-scores, kind="stable")[:most]
    return lists.documents[places[order]], scores[order]


@pytest.mark.parametrize(
    "similarity", [osp.Polar(1, 1), osp.Polar(1, 0.5), osp.Polar(1, -1), osp.NormMix(0.9)], ids=str
)
def test_the_first_ten_are_those_of_the_exact_search_under_every_chain(held, similarity):
    _, vectors, _, _, lists = held
    assert [chain.name for chain in lists.chains][:3] == ["cosine", "center + cosine", "whiten(1) + cosine"]
    assert lists.whole.all()
    for number, chain in enumerate(lists.chains):
        scorer = osp.Scorer(similarity, chain.transforms, map=chain.map)
        (exact,) = osp.search(vectors.queries[lists.queries], vectors.documents, [scorer], 10)
        for query in range(len(lists.queries)):
            documents, scores = ranked_again(lists, number, similarity, query)
            assert documents.tolist() == exact.documents[query].tolist()
            assert scores == pytest.approx(exact.scores[query], rel=1e-6)


def test_grades_and_the_best_gain_give_the_ndcg_of_pytrec_eval(held):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    task, vectors, _, _, lists = held
    judged = {}
    for q, d, grade in zip(task.judgments.queries, task.judgments.documents, task.judgments.grades, strict=True):
        judged.setdefault(task.query_ids[q], {})[task.document_ids[d]] = int(grade)
    (exact,) = osp.search(vectors.queries, vectors.documents, [osp.Scorer()], 10)
    run = {
        task.query_ids[q]: {task.document_ids[d]: float(10 - rank) for rank, d in enumerate(row)}
        for q, row in enumerate(exact.documents)
    }
    oracle = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10"}).evaluate(run)
    for query, row in enumerate(lists.queries.tolist()):
        documents, _ = ranked_again(lists, 0, osp.Polar(1, 1), query)
        grade = dict(zip(lists.documents[lists.candidates[query]], lists.grades[query], strict=True))
        gain = sum(max(grade[d], 0) / np.log2(rank + 2) for rank, d in enumerate(documents))
        assert gain / lists.best[query] == pytest.approx(oracle[task.query_ids[row]]["ndcg_cut_10"], abs=1e-9)


def test_a_query_keeps_at_most_two_hundred_and_the_two_compared_lists_are_among_them(held):
    *_, lists = held
    assert lists.candidates.shape[1] <= CANDIDATES
    for query in range(len(lists.queries)):
        assert set(lists.compared[:, query].ravel()) <= set(lists.candidates[query])
        assert (np.diff(lists.candidates[query][lists.candidates[query] >= 0]) > 0).all()


def test_those_that_change_most_come_first_and_weights_make_the_mean_that_of_all(held):
    task, _, _, (first, second), lists = held
    change = np.abs(first.values - second.values)
    assert change[lists.queries[:MOST_CHANGED]].min() >= change[lists.queries[MOST_CHANGED:]].max()
    assert sorted(lists.queries.tolist()) == list(range(task.units))
    for count in (35, 40, len(lists.queries)):
        weights = lists.weights(count)
        assert len(weights) == count
        assert weights.sum() == pytest.approx(task.units)


def test_what_a_query_must_not_get_is_nowhere(held):
    task, vectors = embedded(excluded=True)
    table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
    rows = table["dot"], table["cosine"]
    lists = rerankable_lists(task, vectors, table, rows)
    for query, row in enumerate(lists.queries.tolist()):
        assert not {row, row + 1} & set(lists.documents[lists.candidates[query]])
    for example in changed_queries(task, vectors, *rows):
        number = int(example.id[1:])
        assert not {f"d{number}", f"d{number + 1}"} & {each.id for each in (*example.first, *example.second)}


def test_sides_of_two_widths_have_no_raw_lists(held):
    task, vectors, table, rows, _ = held
    narrow = osp.RankingVectors(vectors.queries[:, :4], vectors.documents)
    assert rerankable_lists(task, narrow, table, rows) is None


def test_queries_that_are_asked_for_come_first_and_weigh_what_they_are(held):
    task, vectors, table, rows, plain = held
    last = [task.query_ids[row] for row in plain.queries[[-1, -2]].tolist()]
    lists = rerankable_lists(task, vectors, table, rows, show=[*last, last[0]])
    assert [task.query_ids[row] for row in lists.queries[:2].tolist()] == last
    assert (lists.asked, lists.changed, lists.chosen) == (2, MOST_CHANGED, MOST_CHANGED + 2)
    assert sorted(lists.queries.tolist()) == list(range(task.units))
    assert lists.queries[2 : 2 + MOST_CHANGED].tolist() == plain.queries[:MOST_CHANGED].tolist()
    assert lists.weights(40)[: lists.chosen].tolist() == [1.0] * lists.chosen
    assert lists.weights(40).sum() == pytest.approx(task.units)
    assert lists.table.ids[:2] == last
    np.testing.assert_array_equal(lists.candidates[0], _as_in(plain, len(plain.queries) - 1, lists))


def _as_in(plain, query, lists):
    """The candidates of a query of some lists, as positions among the documents of others."""
    known = plain.candidates[query]
    return np.where(known >= 0, np.searchsorted(lists.documents, plain.documents[known]), -1)


def test_one_that_is_asked_for_is_held_where_there_are_more_than_a_page_holds(monkeypatch):
    monkeypatch.setattr(rerankable, "ROOM", 1)  # for none but those that are looked at first
    task, vectors = embedded(queries=DOCUMENTS)
    more = osp.RankingTask.from_judgments(
        {f"{copy}{name}": {name.replace("q", "d"): 1.0} for copy in "ab" for name in task.query_ids}, task.document_ids
    )
    twice = osp.RankingVectors.of(more, np.concatenate([vectors.queries] * 2), vectors.documents)
    table = osp.compare(more, twice, [osp.parse_scorer("dot")])
    rows = table["dot"], table["cosine"]
    plain = rerankable_lists(more, twice, table, rows)
    assert len(plain.queries) == TRIED < more.units
    absent = max(set(range(more.units)) - set(plain.queries.tolist()))
    lists = rerankable_lists(more, twice, table, rows, show=[more.query_ids[absent]])
    assert (len(lists.queries), lists.queries[0]) == (TRIED, absent)


def test_all_queries_are_held_where_their_numbers_fit_into_a_page():
    """A thousand short queries, of few documents each: below 3 MB there is room for all of them."""
    rng = np.random.default_rng(2)
    documents = rng.normal(size=(40, 6)).astype(np.float32) * np.exp(rng.normal(size=(40, 1))).astype(np.float32)
    task = osp.RankingTask.from_judgments(
        {f"q{q}": {f"d{q % 40}": 1.0} for q in range(1000)}, [f"d{d}" for d in range(40)]
    )
    vectors = osp.RankingVectors.of(task, rng.normal(size=(1000, 6)).astype(np.float32), documents)
    table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
    lists = rerankable_lists(task, vectors, table, (table["dot"], table["cosine"]))
    assert sorted(lists.queries.tolist()) == list(range(1000))
    assert lists.changed == MOST_CHANGED
    data = live_data(lists, ("dot", "cosine"), "ndcg@10", 2_000_000 - 50_000)  # what other parts of a page leave
    assert data["held"] == 1000
    assert "over all 1,000 queries" in data["note"]


def test_queries_that_cannot_be_shown_are_said(held):
    task = held[0]
    with pytest.raises(ParameterError, match="has no query 'nobody' with a relevant document to show"):
        queries_to_show(task, ["q1", "nobody"])
    with pytest.raises(ParameterError, match=f"101 queries to show: a page has room for {MOST_ASKED}"):
        queries_to_show(task, [f"q{n}" for n in range(101)])
    with pytest.raises(ParameterError, match="pairs has pairs, and no lists of results"):
        queries_to_show(osp.PairTask("pairs", np.arange(3.0)), ["q1"])
    assert queries_to_show(osp.PairTask("pairs", np.arange(3.0)), []).tolist() == []
