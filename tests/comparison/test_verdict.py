"""The verdict of a comparison: no second cosine, and nothing denied that is sure."""

from __future__ import annotations

from dataclasses import replace

import offsphere as osp
from offsphere.scoring.similarity import Polar
from tests.auditing.test_false_sentences import LOST, chosen, row, table_of, told


def test_a_tuned_row_that_arrives_at_cosine_is_not_a_second_cosine():
    """Once: a row "cosine *", and by the name of cosine that row was found."""
    polar = row("polar (tuned)", change=(0.01, -0.01, 0.03), p=0.3, scorer=osp.Scorer(Polar(1, 1)), tuned=True)
    table = table_of(polar, LOST)
    labels = [each.label for each in table.rows]
    assert labels == ["cosine * (of polar)", "cosine", "dot"]
    assert table["cosine"].name == "cosine"
    assert [table[label] for label in labels] == list(table.rows)
    assert "the best of 2 others, polar (tuned), has 0.5100, which may be chance (+0.0100 " in told(table).verdict[0]


def test_cosine_is_not_used_instead_of_cosine():
    polar = row("polar (tuned)", change=(0.05, 0.01, 0.09), p=0.001, scorer=osp.Scorer(Polar(1, 1)), tuned=True)
    procedure = replace(chosen(0.05, 0.01, 0.09, 0.001, "cosine"), row="polar (tuned)")
    advice = told(table_of(polar, procedure=procedure))
    assert advice.verdict[0].startswith("Keep cosine: ")
    assert "though all queries together choose cosine" in advice.verdict[0]


def test_a_row_that_is_surely_better_among_all_is_not_denied_where_the_choice_is_unsure():
    euclidean = row("euclidean", change=(0.04, 0.02, 0.06), p=0.01)
    table = table_of(euclidean, procedure=chosen(0.02, -0.01, 0.05, 0.2, "euclidean"))
    first = told(table).verdict[0]
    assert "could be shown" not in first
    assert first.startswith("Use euclidean instead of cosine: ")
    assert "+0.0400" in first
