"""The promises on real judgments: chosen on one half of the queries, judged on the other, many times."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.comparison.goal import ERROR, Goal
from offsphere.comparison.shown import ScoredQueries
from offsphere.comparison.thresholds import DEPTH
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.metrics import parse_metric

DIVISIONS = 200


# what each promises, and what the lists of the static model can hold
PROMISED = {"scifact": {"recall": 0.8, "precision": 0.3}, "cranfield": {"recall": 0.4, "precision": 0.15}}
PROMISED["cisi"] = {"recall": 0.15, "precision": 0.15}


@pytest.fixture(scope="module", params=PROMISED)
def real(request, embedded):
    """The lists of a real set, of 300, 225 and 76 queries, and what is promised of them."""
    task, vectors = embedded(request.param, "test")
    evaluator = task.evaluator(vectors, parse_metric(f"recall@{DEPTH}"), np.zeros(task.units, np.int64))
    return ScoredQueries.of(evaluator, Scorer(), task.judgments.relevant, DEPTH), PROMISED[request.param]


def halves(scored):
    rng = np.random.default_rng(0)
    for division in range(DIVISIONS):
        order = rng.permutation(len(scored.scores))
        yield division, scored.only(order[: len(order) // 2]), scored.only(order[len(order) // 2 :])


def test_recall_and_false_alarms_are_kept_on_average_over_divisions(real):
    scored, promised = real
    recalls, alarms = [], []
    for _, chosen, judged in halves(scored):
        threshold = Goal("recall", promised["recall"]).threshold(chosen, 0)
        if threshold is None:  # what was found of this half holds too little
            continue
        recalls.append(((judged.scores >= threshold) & judged.relevant).sum(axis=1) / judged.totals)
        alarms.append(judged.highest_wrong >= Goal("false alarms", 0.1).threshold(chosen, 0))
    n = len(scored.scores) // 2
    assert len(recalls) > 0.95 * DIVISIONS
    assert promised["recall"] - 0.01 <= np.mean(recalls) <= promised["recall"] + 2 / (n + 1) + 0.01
    assert 0.1 - 1 / (n + 1) - 0.01 <= np.mean(alarms) <= 0.1 + 0.01


def test_precision_is_missed_no_more_often_than_the_confidence_allows(real):
    scored, promised = real
    missed, made = 0, 0
    for division, chosen, judged in halves(scored):
        threshold = Goal("precision", promised["precision"]).threshold(chosen, division)
        if threshold is None:
            continue
        passed = judged.scores >= threshold
        some = passed.any(axis=1)
        right = (passed & judged.relevant).sum(axis=1)[some] / passed.sum(axis=1)[some]
        made += 1
        # the other half is a sample itself: what it misses by its own noise is not held against the promise
        missed += right.mean() + 2 * right.std() / np.sqrt(some.sum()) < promised["precision"]
    assert made > DIVISIONS / 20
    assert missed / made <= ERROR
