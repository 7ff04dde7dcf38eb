"""Metrics over all queries at once, where it shows whether scores of different queries mean the same.

The top lists of all queries are thrown together and sorted by score: a scorer that ranks each query well but scores
one query's best below another's worst does badly here. ``weights`` (resamples, queries) counts how often each query
was drawn in a bootstrap resample, so that all resamples are computed with one sort.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from offsphere.base.arrays import Array, Flags


def pooled_average_precision(scores: Array, relevant: Flags, totals: Array, weights: Array | None = None) -> Array:
    """Compute average precision of the pool, over all relevant documents, retrieved or not. One value a resample.

    ``scores`` and ``relevant`` are (queries, depth); ``totals`` counts each query's relevant documents.
    """
    result = []
    for wanted, hits, others in _walks(scores, relevant, totals, weights):
        seen = hits + others
        share = np.divide(hits, seen, out=np.zeros_like(hits), where=seen > 0)
        result.append((np.diff(hits, prepend=0.0) * share).sum() / wanted if wanted > 0 else np.nan)
    return np.array(result)


def roc_auc(scores: Array, relevant: Flags, totals: Array, weights: Array | None = None) -> Array:
    """Compute the chance that a relevant document scores above a retrieved one that is not; ties count half.

    Relevant documents that were not retrieved count as below all that were. Not a number for a resample without any
    relevant document, or without any other one.
    """
    result = []
    for wanted, hits, others in _walks(scores, relevant, totals, weights):
        here = np.diff(others, prepend=0.0)
        beaten = others[-1] - others + here / 2
        pairs = wanted * others[-1]
        result.append((np.diff(hits, prepend=0.0) * beaten).sum() / pairs if pairs > 0 else np.nan)
    return np.array(result)


def _walks(
    scores: Array, relevant: Flags, totals: Array, weights: Array | None
) -> Iterator[tuple[float, Array, Array]]:
    """Count for each resample how many documents are relevant in all, and what is met on the way down the pool.

    That is, after each run of equal scores, how many relevant and how many other documents there were so far.
    """
    drawn = np.ones((1, len(scores))) if weights is None else weights
    flat = scores.ravel()
    order = np.argsort(-flat, kind="stable")
    ranked, hits = flat[order], relevant.ravel()[order]
    owner = np.repeat(np.arange(len(scores)), scores.shape[1])[order]
    ends = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    for weight in drawn:
        mass = weight[owner]
        yield float(weight @ totals), np.cumsum(mass * hits)[ends], np.cumsum(mass * ~hits)[ends]
