"""No interval contradicts the p beside it: in rows, the choice, stored rows, other systems and groups of queries."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pytest

from offsphere.comparison.breakdown import judge_groups
from offsphere.comparison.choice import difference_of
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.list_source import ListCandidate
from offsphere.data import RankingVectors
from offsphere.data.scored_lists import ScoredLists
from tests.comparison.test_compare_scorers import pair_task, planted


class Recent:
    """Another system: by how long documents are, tuned over how many it looks at."""

    def candidates(self, asked):
        documents = [np.argsort(-asked.vectors.documents[:, axis])[:100] for axis in range(3)]
        lists = [np.tile(order, (asked.task.units, 1)) for order in documents]
        options = [ScoredLists.ranked(order, -np.arange(100.0) * np.ones((len(order), 1))) for order in lists]
        return [ListCandidate("recent", "take the newest", options, [{"axis": float(axis)} for axis in range(3)])]


def agree(low, high, p):
    return (p < 0.05) == (low > 0 or high < 0)


def contradictions(table):
    """Everything in a comparison whose interval and p are at odds."""
    told = [(row.name, row.difference_low, row.difference_high, row.p) for row in (*table.rows, *table.lists)]
    told += [(row.name, row.over_chosen_low, row.over_chosen_high, row.p_over_chosen) for row in table.lists]
    told += [(row.name, row.change_low, row.change_high, row.change_p) for row in table.stored]
    told += [(row.name, row.difference_low, row.difference_high, row.p) for row in table.stored]
    if table.procedure is not None:
        told.append(("choice", table.procedure.low, table.procedure.high, table.procedure.p))
    counted = [each for each in told if each[3] is not None and isfinite(each[1])]
    assert len(counted) >= len(table.rows) - 1
    return [each for each in counted if not agree(*each[1:])]


def first(task, vectors, count):
    few = task.only(np.arange(count))
    return few, RankingVectors.of(few, vectors.queries[:count], vectors.documents)


@pytest.mark.parametrize("relevance", ["cosine", "half", "dot"])
@pytest.mark.parametrize("metric", ["ndcg@10", "success@1", "pooled-ap@20"])
def test_rankings(relevance, metric):
    task, vectors, _ = planted(relevance)
    more = {} if metric.startswith("pooled") else {"stored": ["int8", "binary", "dim=6"], "lists": [Recent()]}
    assert not contradictions(compare(task, vectors, metric=metric, permutations=999, **more))
    assert not contradictions(compare(*first(task, vectors, 12), metric=metric, permutations=999))


@pytest.mark.parametrize("metric", ["spearman", "pearson", "kendall"])
def test_pairs(metric):
    for seed in (0, 1):
        task, vectors = pair_task(seed, noise=0.9)
        table = compare(task, vectors, metric=metric, permutations=999, stored=["int8", "dim=5"])
        assert not contradictions(table)
        assert all(row.difference_low <= row.difference <= row.difference_high for row in table.rows)


def test_the_interval_of_a_row_that_is_corrected_is_wider_than_of_the_same_row_alone():
    task, vectors, _ = planted("half")
    among, alone = (compare(task, vectors, scorers, permutations=1_999) for scorers in (None, ["euclidean"]))
    widths = [row.difference_high - row.difference_low for row in (among["euclidean"], alone["euclidean"])]
    assert widths[0] > 1.2 * widths[1]
    assert among["dot"].difference_low == pytest.approx(
        compare(task, vectors, ["dot"], permutations=1_999)["dot"].difference_low, abs=0.01
    )  # which was planned, and knows of no other row


def test_two_rows_and_groups_of_queries():
    task, vectors, _ = planted("half")
    table = compare(task, vectors, ["dot", "half", "euclidean"], permutations=99)
    for one in table.rows:
        for other in table.rows:
            apart = difference_of(one, other, 0)
            assert agree(apart.low, apart.high, apart.p)
    gained = table["dot"].values - table["cosine"].values
    groups = np.arange(len(gained)) % 3
    columns = np.stack([np.where(groups == group, gained + 0.1 * group, np.nan) for group in range(3)], axis=1)
    for group, judged in enumerate(judge_groups(columns, 0)):
        assert agree(judged.low, judged.high, judged.p)
        assert judged.difference == pytest.approx(np.nanmean(columns[:, group]))
        assert judged.low <= judged.difference <= judged.high
