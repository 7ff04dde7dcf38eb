"""Thresholds with a guarantee in finite samples: conformal risk control, and tests in a fixed sequence.

A threshold t shows what scores at least t. Some losses can only grow when more is hidden (what was missed) or when more
is shown (a false alarm); for those, *conformal risk control* (Angelopoulos et al. 2022, arXiv:2208.02814) picks t such
that the expected loss of the next query is at most alpha, if queries are exchangeable. The share of wrong results among
those shown goes up and down with t; for it, thresholds are *tested* one after the other, in an order laid down by other
queries, until one cannot be shown to keep the promise (Angelopoulos et al. 2021, arXiv:2110.01052). High thresholds
show something to few queries, which prove little; so such a sequence starts at four places, each with a fourth of the
error.
"""

from __future__ import annotations

from math import ceil, floor, log

import numpy as np

from offsphere.base.arrays import Array, Index

STARTS = 4  # of sequences of tests


def least_for_risk(alpha: float) -> int:
    """Count the queries without which conformal risk control can promise nothing: ``1 / (n + 1) <= alpha``."""
    return max(1, ceil(1 / alpha - 1 - 1e-9))


def least_for_tests(alpha: float, error: float) -> int:
    """Count the queries that must be shown something, and all of it right, for a first test to pass."""
    return ceil(log(error / STARTS) / log(1 - alpha) - 1e-9)


def highest_with_recall(scores: Array, shares: Array, queries: int, alpha: float) -> float | None:
    """Find the highest threshold at which the expected share of relevant documents that are hidden is at most alpha.

    Args:
        scores: of every relevant document that was found.
        shares: one over how many relevant documents its query has.
        queries: how many there are, those without a found document too.
        alpha: the share that may be hidden, on average over queries.

    Returns:
        The threshold; nothing where even showing all that was found hides too much.
    """
    order = np.argsort(-scores, kind="stable")
    missed = 1 - np.cumsum(shares[order]) / queries
    kept = np.flatnonzero((queries * missed + 1) / (queries + 1) <= alpha + 1e-12)
    return float(scores[order][kept[0]]) if len(kept) else None


def lowest_with_few_alarms(highest: Array, alpha: float) -> float | None:
    """Find the lowest threshold that a query without relevant documents passes with a chance of at most alpha.

    Args:
        highest: for each query, the highest score of a document that is not relevant to it.
        alpha: the chance.

    Returns:
        The threshold, just above one of these scores; nothing where there are too few queries.
    """
    allowed = floor(alpha * (len(highest) + 1) + 1e-9) - 1  # queries that may pass it
    if allowed < 0:
        return None
    ordered = np.sort(highest)[::-1]
    if allowed >= len(ordered):
        return float(ordered[-1])
    return float(np.nextafter(ordered[allowed], np.inf))


def lowest_with_precision(grid: Array, shown: Index, right: Index, alpha: float, error: float) -> float | None:
    """Find the lowest threshold at which, of what a query is shown, on average at most alpha is wrong.

    Args:
        grid: thresholds, laid down without a look at these queries.
        shown: how many documents each query is shown at each of them, (queries, thresholds).
        right: how many of them are relevant.
        alpha: the share that may be wrong, on average over queries that are shown something.
        error: the chance that the promise is not kept.

    Returns:
        The lowest threshold that a sequence of tests reaches without failing; nothing where all of them fail at once.
        Those at which too few queries are shown something for any test are passed over.
    """
    answered = (shown > 0).sum(axis=0)
    wrong = np.where(shown > 0, 1 - right / np.maximum(shown, 1), 0.0).sum(axis=0) / np.maximum(answered, 1)
    p = mean_above_p(wrong, answered, alpha)
    falling = np.argsort(-grid, kind="stable")
    order = falling[answered[falling] >= least_for_tests(alpha, error)]
    lowest = None
    for start in np.unique(np.linspace(0, len(order), STARTS, endpoint=False).astype(int)).tolist():
        for number in order[start:].tolist():
            if p[number] > error / STARTS:
                break
            lowest = float(grid[number]) if lowest is None else min(lowest, float(grid[number]))
    return lowest


def mean_above_p(means: Array, counts: Index, alpha: float) -> Array:
    """Test whether numbers from 0 to 1 have an expectation above alpha: the p of Hoeffding and Bentkus.

    (Bates et al. 2021, arXiv:2101.02703, prop. 5.) Small where the mean is far below alpha.

    Args:
        means: of some samples of such numbers.
        counts: how many each sample has.
        alpha: the expectation that is tested.
    """
    from scipy.special import bdtr, xlogy

    divergence = xlogy(1 - means, (1 - means) / (1 - alpha)) + xlogy(means, means / alpha)
    bentkus = np.e * bdtr(np.ceil(counts * means - 1e-9), counts, alpha)
    p = np.minimum(np.exp(-counts * divergence), np.minimum(bentkus, 1.0))
    return np.where(means >= alpha, 1.0, p)
