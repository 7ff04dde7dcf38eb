"""Metrics over all queries at once, where it shows whether scores of different queries mean the same.

The top lists of all queries are thrown together and sorted by score: a scorer that ranks each query well but scores
one query's best below another's worst does badly here. ``weights`` (resamples, queries) counts how often each query
was drawn in a bootstrap resample, so that all resamples are computed with one sort.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def average_precision(scores: Array, relevant: NDArray[np.bool_], totals: Array, weights: Array | None = None) -> Array:
    """Average precision of the pool, over all relevant documents of the queries, found or not. One value a resample.

    ``scores`` and ``relevant`` are (queries, depth); ``totals`` counts each query's relevant documents.
    """
    drawn = np.ones((1, len(scores))) if weights is None else weights
    order, last = _sorted(scores)
    hits = relevant.ravel()[order]
    owner = np.repeat(np.arange(len(scores)), scores.shape[1])[order]
    result = np.empty(len(drawn))
    for number, weight in enumerate(drawn):
        mass = weight[owner]
        found = np.cumsum(mass * hits)[last]
        seen = np.cumsum(mass)[last]
        share = np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)
        result[number] = (np.diff(found, prepend=0.0) * share).sum() / max(float(weight @ totals), 1e-300)
    return result


def roc_auc(scores: Array, relevant: NDArray[np.bool_], totals: Array, weights: Array | None = None) -> Array:
    """The chance that a relevant document has a higher score than a retrieved one that is not; ties count half.

    Relevant documents that were not retrieved count as below all that were. Not a number for a resample without any
    relevant document, or without any other one.
    """
    drawn = np.ones((1, len(scores))) if weights is None else weights
    order, last = _sorted(scores)
    hits = relevant.ravel()[order]
    owner = np.repeat(np.arange(len(scores)), scores.shape[1])[order]
    result = np.empty(len(drawn))
    for number, weight in enumerate(drawn):
        mass = weight[owner]
        positive = np.diff(np.cumsum(mass * hits)[last], prepend=0.0)
        negative = np.diff(np.cumsum(mass * ~hits)[last], prepend=0.0)
        below = negative.sum() - np.cumsum(negative)
        pairs = float(weight @ totals) * negative.sum()
        result[number] = (positive * (below + negative / 2)).sum() / pairs if pairs > 0 else np.nan
    return result


def _sorted(scores: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The pool from the highest score down, and the last place of every run of equal scores."""
    flat = scores.ravel()
    order = np.argsort(-flat, kind="stable")
    ranked = flat[order]
    last = np.append(np.flatnonzero(ranked[1:] != ranked[:-1]), len(ranked) - 1)
    return order, last
