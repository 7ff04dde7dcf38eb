"""Planned comparisons, the tested choice, and the smallest gain that matters, on planted tasks."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from offsphere.base.errors import ParameterError
from offsphere.comparison.choice import choose
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.complexity import complexity_of
from offsphere.comparison.procedure import Option, judge_choice
from offsphere.data import RankingVectors
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import MeanOverQueries
from tests.comparison.test_compare_scorers import pair_task, planted


def few(relevance, count, seed=0):
    task, vectors, _ = planted(relevance, seed)
    small = task.only(np.arange(count))
    return small, RankingVectors.of(small, vectors.queries[:count], vectors.documents)


@pytest.fixture(scope="module")
def table():
    return compare(*planted("half")[:2], permutations=2_000)


def test_the_dot_product_is_tested_alone_however_many_rows_there_are(table):
    dot = table["dot"]
    assert dot.planned
    assert dot.p == dot.p_alone
    oracle = stats.permutation_test(
        (dot.values - table["cosine"].values,), np.mean, permutation_type="samples", n_resamples=5_000, rng=0
    ).pvalue
    assert dot.p == pytest.approx(oracle, abs=0.03)
    others = [row for row in table.rows if row.p is not None and not row.planned]
    assert len(others) > 40
    assert all(row.p >= row.p_alone for row in others)


def test_what_the_model_declares_is_tested_alone_too():
    task, vectors = few("half", 30)
    plain, declared = (compare(task, vectors, permutations=500, declared=name) for name in (None, "euclidean"))
    assert not plain["euclidean"].planned
    assert declared["euclidean"].planned
    assert declared["euclidean"].p == declared["euclidean"].p_alone == plain["euclidean"].p_alone
    assert not compare(task, vectors, permutations=10, declared="cosine")["cosine"].planned
    assert compare(task, vectors, permutations=10, declared="manhattan")  # nobody compared it: nothing to plan


def test_scorers_named_by_hand_are_corrected_for_each_other_but_for_the_dot_product():
    task, vectors = few("half", 30)
    named = compare(task, vectors, ["dot", "half", "euclidean", "overlap"], permutations=1_000)
    assert [row.name for row in named.rows if row.planned] == ["dot"]
    alone = compare(task, vectors, ["half"], permutations=1_000)["half"]
    assert alone.p == alone.p_alone


def test_the_procedure_names_a_row_and_what_that_row_deploys(table):
    procedure = table.procedure
    row = table[procedure.row]
    assert row.scorer.key == procedure.scorer.key
    assert procedure.name == row.deployed
    assert sum(procedure.chosen.values()) == pytest.approx(1)
    assert list(procedure.chosen.values()) == sorted(procedure.chosen.values(), reverse=True)
    assert procedure.value - table["cosine"].value == pytest.approx(procedure.gain)
    assert procedure.values.mean() == pytest.approx(procedure.value)
    assert procedure.low <= procedure.gain <= procedure.high


def test_where_nothing_beats_cosine_the_choice_falls_on_it():
    table = compare(*planted("cosine")[:2], permutations=1_000)
    choice = choose(table)
    assert choice.row.name == "cosine"
    assert not choice.better
    assert not table.procedure.better


def test_where_length_is_relevance_the_choice_is_the_plain_dot_product():
    table = compare(*planted("dot")[:2], permutations=1_000)
    assert table.procedure.better
    assert table.procedure.name == table.chosen.name == "dot"
    assert max(table.procedure.chosen, key=table.procedure.chosen.get) == "dot"
    assert complexity_of(table.procedure.scorer, tuned=False) == (0, 0, 0, 0)


def test_a_better_planned_row_is_recommended_where_the_procedure_shows_nothing():
    table = compare(*planted("dot")[:2], permutations=1_000)
    silent = replace(table, procedure=replace(table.procedure, p=0.3))
    assert choose(silent).row is table["dot"]
    assert choose(silent).by == "planned"
    # of rows that nobody asked for, the corrected p decides, and of those that are as good the simplest is taken
    rows = [replace(row, planned=False) if row.planned else row for row in table.rows]
    for unplanned in (replace(silent, rows=rows), replace(silent, rows=rows, procedure=None)):
        assert choose(unplanned).by == "row"
        assert choose(unplanned).row.name == "dot"
    nothing = [replace(row, p=0.5) if row.p is not None else row for row in rows]
    assert choose(replace(silent, rows=nothing)).by == "baseline"


def test_pairs_have_a_procedure_and_pools_have_none():
    for metric in ("spearman", "pearson", "kendall"):
        procedure = compare(*pair_task(), metric=metric, permutations=200).procedure
        assert procedure.low <= procedure.gain <= procedure.high
    assert compare(*planted("cosine")[:2], ["dot"], metric="pooled-ap@20").procedure is None


def test_one_query_has_no_procedure():
    assert compare(*few("half", 1), permutations=10).procedure is None
    assert compare(*few("half", 2), permutations=10).procedure.p == 1


def judged(units, seed=0):
    """Let the tool choose among a baseline and options that gain little, each with errors of its own."""
    rng = np.random.default_rng(units)
    values = 0.5 + rng.normal([0, *[0.03] * 6], 0.2, (units, 7))
    options = [Option(f"row {number}", f"row {number}", Scorer(), (number,), values[:, number]) for number in range(7)]
    return judge_choice(MeanOverQueries(units), options, folds=5, seed=seed, permutations=1)


def test_the_fewer_queries_there_are_the_more_often_they_are_divided():
    """30 divisions up to 200 queries, 5 from 1,200 on, so that at least 6,000 values are held out between them."""
    assert [judged(units).repeats for units in (12, 200, 300, 600, 1_200, 5_000)] == [30, 30, 20, 10, 5, 5]


def test_what_a_choice_is_worth_hangs_less_on_the_cuts_the_more_there_are(monkeypatch):
    """Thirty divisions of 60 queries: the gain moves, from seed to seed, less than half as much as with one."""
    many = np.std([judged(60, seed).gain for seed in range(12)])
    monkeypatch.setattr("offsphere.comparison.procedure.MOST_REPEATS", 1)
    one = [judged(60, seed) for seed in range(12)]
    assert {procedure.repeats for procedure in one} == {1}
    assert many < 0.5 * np.std([procedure.gain for procedure in one])


def test_the_smallest_gain_that_matters_is_given_or_usual():
    task, vectors = few("cosine", 30)
    usual = compare(task, vectors, ["dot"], permutations=100)
    assert usual.worth == pytest.approx(max(0.01, 0.02 * usual["cosine"].value))
    given = compare(task, vectors, ["dot"], permutations=100, worth=0.3)
    assert given.worth == 0.3
    assert given.nothing_worth_having
    assert "Surely nothing worth having is missed: on 30 queries" in given.conclusion
    for wrong in (0, -1, float("nan")):
        with pytest.raises(ParameterError, match="the smallest gain that matters is above 0"):
            compare(task, vectors, ["dot"], worth=wrong)


def test_no_row_is_above_the_most_there_is_to_gain(table):
    assert table.most_to_gain >= max(row.difference for row in table.rows)
    # it answers for all rows together, so it is above what one row alone is sure not to exceed
    best = max(table.rows, key=lambda row: row.difference)
    assert table.most_to_gain > best.difference + 1.645 * (best.difference_high - best.difference_low) / 4


def test_everything_new_is_in_the_json(table):
    again = json.loads(json.dumps(table.to_json(), allow_nan=False))
    assert again["procedure"]["gain"] == pytest.approx(table.procedure.gain)
    assert again["procedure"]["chosen"]
    assert again["worth"] == table.worth
    assert again["most_to_gain"] == pytest.approx(table.most_to_gain)
    assert {(row["name"], row["planned"]) for row in again["scorers"] if row["planned"]} == {("dot", True)}
    assert all((row["p_alone"] is None) == (row["p"] is None) for row in again["scorers"])


def test_tests_and_choice_say_how_far_they_are():
    told = {}
    task, vectors = few("half", 30)
    compare(
        task,
        vectors,
        permutations=300,
        progress=lambda done, total, note="": told.setdefault(note, []).append((done, total)),
    )
    assert told["intervals and tests"][-1] == (300, 300)
    done = told["testing the choice"]
    assert done[0] == (0, 0)
    assert [part for part, _ in done[1:]] == list(range(1, done[-1][1] + 1))
