"""A p that decides is written so that one sees what it decides, in sentences, in tables and in what Python prints."""

from __future__ import annotations

import pytest

from offsphere.comparison.row import MeasuredRow
from offsphere.geometry.dual import Dual
from offsphere.statistics.estimate import Estimate
from offsphere.wording.metric_phrases import metric_meaning
from offsphere.wording.written_numbers import chance, chance_alone


def row(p):
    return repr(
        MeasuredRow(
            name="dot",
            value=0.5,
            low=0.4,
            high=0.6,
            difference=0.1,
            difference_low=0.01,
            difference_high=0.2,
            p=p,
            parameters={},
        )
    )


def dual(p):
    estimate = Estimate(0.5, 0.4, 0.6)
    return Dual(
        metric="ndcg@10",
        cosine=estimate,
        dot=estimate,
        difference=estimate,
        p=p,
        state="gains",
        why_not="",
        warning=None,
    ).sentence


@pytest.mark.parametrize("write", [chance, chance_alone, row, dual])
def test_a_p_below_the_level_is_never_written_as_the_level(write):
    assert "0.0496" in write(0.0496)
    assert "0.05" in write(0.05)
    assert "0.0496" not in write(0.05)


def test_other_ps_are_written_with_two_digits():
    assert [chance_alone(p) for p in (0.012345, 0.5, 1.0, 3e-7)] == ["0.012", "0.5", "1", "3e-07"]
    assert chance(3e-7) == "p < 0.0001"


def test_every_metric_has_words_of_its_own():
    """Votes and answers were once called "quality of the first ten results", which is what nDCG and MAP are."""
    names = [
        f"{label}@5" for label in ("full-recall", "knn", "answer-recall", "exact-match", "answer-f1", "mrr", "success")
    ]
    meanings = {metric_meaning(name) for name in names}
    assert len(meanings) == len(names)
    assert not any(meaning.startswith("quality") for meaning in meanings)
    assert metric_meaning("knn@10") == "share of queries whose class the first ten results vote for"
