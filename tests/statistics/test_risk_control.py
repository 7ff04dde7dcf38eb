"""Promises in finite samples: checked by 1,000 draws, each with its own judged queries and its own next ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from offsphere.comparison.goal import ERROR, Goal
from offsphere.comparison.shown import ScoredQueries
from offsphere.statistics.risk_control import (
    STARTS,
    highest_with_recall,
    least_for_risk,
    least_for_tests,
    lowest_with_few_alarms,
    mean_above_p,
)

DRAWS = 1_000
DEPTH = 12


def drawn(rng, queries, share=0.5):
    """Queries of different difficulty: documents whose relevance follows their score, and a level of each query."""
    level = rng.normal(0, 0.6, (queries, 1))
    scores = -np.sort(-rng.normal(size=(queries, DEPTH)), axis=1)
    relevant = rng.random((queries, DEPTH)) < stats.norm.cdf(2.5 * scores - 2 * (1 - share))
    hidden = rng.integers(0, 2, queries) * (rng.random(queries) < 0.1)  # relevant, and never found
    relevant[:, 0] |= ~relevant.any(axis=1)
    return ScoredQueries(scores + level, relevant, relevant.sum(axis=1) + hidden)


def upper(rate, draws=DRAWS):
    """The rate that so many draws exceed with a chance of one in a thousand, if they keep ``rate``."""
    return stats.binom.ppf(0.999, draws, rate) / draws


def lower(rate, draws=DRAWS):
    return stats.binom.ppf(0.001, draws, rate) / draws


@pytest.mark.parametrize(("alpha", "queries"), [(0.1, 30), (0.05, 60), (0.2, 9)])
def test_false_alarms_come_as_often_as_promised_and_hardly_less(alpha, queries):
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(DRAWS):
        highest = drawn(rng, queries + 1).highest_wrong
        alarms += highest[-1] >= lowest_with_few_alarms(highest[:-1], alpha)
    assert lower(alpha - 1 / (queries + 1)) <= alarms / DRAWS <= upper(alpha)


@pytest.mark.parametrize(("recall", "queries"), [(0.9, 40), (0.7, 15)])
def test_recall_is_at_least_what_was_promised_on_average_over_draws(recall, queries):
    rng = np.random.default_rng(1)
    goal, seen = Goal("recall", recall), []
    for _ in range(DRAWS):
        scored = drawn(rng, queries + 1)
        threshold = goal.threshold(scored.only(np.arange(queries)), 0)
        if threshold is None:  # all that was found is shown, and the promise is not made
            continue
        last = scored.only(np.array([queries]))
        seen.append((last.relevant & (last.scores >= threshold)).sum() / last.totals[0])
    assert len(seen) > 0.9 * DRAWS
    error = np.std(seen) / np.sqrt(len(seen))
    assert np.mean(seen) >= recall - 3.1 * error
    assert np.mean(seen) <= recall + 2 / (queries + 1) + 3.1 * error  # conformal risk control is not slack


def test_precision_fails_no_more_often_than_the_confidence_allows():
    rng = np.random.default_rng(2)
    truth = drawn(np.random.default_rng(99), 20_000)
    grid = np.linspace(-2, 4, 300)
    shown, right = truth.counts(grid)
    true = np.nanmean(np.where(shown > 0, right / np.maximum(shown, 1), np.nan), axis=0)
    goal, failed, made = Goal("precision", 0.8), 0, 0
    for draw in range(DRAWS):
        threshold = goal.threshold(drawn(rng, 150), draw)
        if threshold is None:
            continue
        made += 1
        failed += np.interp(threshold, grid, true) < 0.8
    assert made > DRAWS / 2
    assert failed / made <= upper(ERROR, made)


def test_the_p_of_a_mean_is_valid_for_coins_and_for_anything_between():
    rng = np.random.default_rng(3)
    for draw in (lambda: rng.random(50) < 0.2, lambda: rng.beta(0.5, 2, 50)):
        means = np.array([draw().mean() for _ in range(DRAWS)])
        assert np.mean(mean_above_p(means, np.full(DRAWS, 50), 0.2) <= 0.1) <= upper(0.1)
    assert mean_above_p(np.zeros(1), np.array([30]), 0.1)[0] == pytest.approx(0.9**30)
    assert mean_above_p(np.array([0.3]), np.array([30]), 0.1)[0] == 1


@pytest.mark.parametrize(("alpha", "least"), [(0.1, 9), (0.05, 19), (0.01, 99), (0.5, 1)])
def test_how_many_queries_a_promise_takes(alpha, least):
    assert least_for_risk(alpha) == least
    assert lowest_with_few_alarms(np.arange(float(least)), alpha) is not None
    assert lowest_with_few_alarms(np.arange(float(least - 1)), alpha) is None
    enough = highest_with_recall(np.ones(least), np.ones(least), least, alpha)
    assert enough == 1
    assert highest_with_recall(np.ones(least - 1), np.ones(least - 1), least - 1, alpha) is None


def test_how_many_answers_a_promise_of_precision_takes():
    least = least_for_tests(0.1, 0.1)
    assert 0.9**least <= 0.1 / STARTS < 0.9 ** (least - 1)
