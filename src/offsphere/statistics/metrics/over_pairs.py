"""Agreement of scores with gold scores over pairs: Spearman, Pearson, Kendall.

``weights`` (resamples, pairs) counts how often each pair was drawn in a bootstrap resample: ranks within a resample
follow from one sort and the counts, so no resample is sorted again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Array
from offsphere.statistics.values import in_spreads


def spearman(scores: Array, gold: Array, weights: Array | None = None) -> Array:
    """Compute Spearman's correlation: that of the ranks, ties at their mean rank."""
    drawn = _weights_or_ones(scores, weights)
    return _correlation(_ranks(scores, drawn), _ranks(gold, drawn), drawn)


def spearman_resampled(scores: Sequence[Array], gold: Array, weights: Array) -> Array:
    """Compute Spearman's correlation of many score vectors in many resamples: (resamples, score vectors)."""
    from offsphere.statistics.metrics.resampling import spearman_in_resamples

    return spearman_in_resamples(scores, gold, weights)


def pearson(scores: Array, gold: Array, weights: Array | None = None) -> Array:
    """Compute Pearson's linear correlation."""
    drawn = _weights_or_ones(scores, weights)
    return _correlation(scores[None, :], gold[None, :], drawn)


def kendall(scores: Array, gold: Array, weights: Array | None = None) -> Array:
    """Compute Kendall's tau-b; over resamples linearised: the mean of its contributions."""
    from scipy.stats import kendalltau

    drawn = _weights_or_ones(scores, weights)
    if len(drawn) == 1 and set(np.unique(drawn)) <= {0.0, 1.0}:
        chosen = drawn[0] > 0
        return np.array([kendalltau(scores[chosen], gold[chosen]).statistic])
    return np.asarray(drawn @ kendall_contributions(scores, gold) / drawn.sum(axis=1))


def spearman_contributions(scores: Array, gold: Array) -> Array:
    """Compute what each pair adds to Spearman's correlation: their mean is the correlation."""
    once = np.ones((1, len(scores)))
    return pearson_contributions(_ranks(scores, once)[0], _ranks(gold, once)[0])


def pearson_contributions(scores: Array, gold: Array) -> Array:
    """Compute what each pair adds to the linear correlation: their mean is the correlation, their spread its error.

    The product of its two standardised values, less what it does to the spreads by which all are standardised: the
    influence of the pair (Devlin, Gnanadesikan & Kettenring 1975). The product alone has the same mean and too large a
    spread, by a fifth for scorers that nearly agree.
    """
    left, right = in_spreads(scores), in_spreads(gold)
    together = left * right
    value = together.mean()
    return np.asarray(together - value / 2 * (left**2 + right**2 - 2))


def kendall_contributions(scores: Array, gold: Array) -> Array:
    """Compute what each pair adds to tau-b: their mean is tau-b, their spread its error (its Hájek projection).

    Twice its concordant less its discordant partners over tau-b's norm, since it is in its own comparisons and in those
    of all others, less tau-b.
    """
    count = len(scores)
    sums, ties = np.empty(count), np.zeros(2)
    for start in range(0, count, 512):
        score_signs = np.sign(scores[start : start + 512, None] - scores)
        gold_signs = np.sign(gold[start : start + 512, None] - gold)
        sums[start : start + 512] = (score_signs * gold_signs).sum(axis=1)
        ties += (np.abs(score_signs).sum(), np.abs(gold_signs).sum())
    norm = np.sqrt(ties[0] * ties[1])
    if norm == 0:
        return np.full(count, np.nan)
    each = sums * count / norm
    return np.asarray(2 * each - each.mean())


def _weights_or_ones(scores: Array, weights: Array | None) -> Array:
    return np.ones((1, len(scores))) if weights is None else weights


def _ranks(values: Array, weights: Array) -> Array:
    """Rank within each resample (resamples, pairs): how much weight lies below, plus half of what is equal."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    start = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    mass = np.add.reduceat(weights[:, order], start, axis=1)  # (resamples, runs of equal values)
    middle = np.cumsum(mass, axis=1) - mass / 2
    run = np.empty(len(values), np.int64)
    run[order] = np.repeat(np.arange(len(start)), np.diff(np.append(start, len(values))))
    return np.asarray(middle[:, run])


def _correlation(left: Array, right: Array, weights: Array) -> Array:
    """Compute the weighted correlation per resample; not a number where one side is constant."""
    mass = weights.sum(axis=1, keepdims=True)
    left = left - (weights * left).sum(axis=1, keepdims=True) / mass
    right = right - (weights * right).sum(axis=1, keepdims=True) / mass
    spread = np.sqrt((weights * left**2).sum(axis=1) * (weights * right**2).sum(axis=1))
    together = (weights * left * right).sum(axis=1)
    return np.asarray(np.divide(together, spread, out=np.full(len(weights), np.nan), where=spread > 0))
