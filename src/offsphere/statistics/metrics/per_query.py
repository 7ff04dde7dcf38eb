"""Ranking metrics, one value a query, for all queries at once. Definitions are those of trec_eval.

``gains`` (queries, depth) holds the judged grade of each ranked document, 0 where it was not judged; ``ideal``
(queries, most) holds each query's positive grades, best first, filled up with zeros. A document is relevant when its
grade is above zero.
"""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array


def ndcg(gains: Array, ideal: Array, k: int) -> Array:
    """Compute discounted cumulative gain, linear in the grade, over the best possible (Järvelin & Kekäläinen 2002)."""
    best = discounted_gain(ideal[:, :k])
    return np.asarray(
        np.divide(discounted_gain(np.maximum(gains[:, :k], 0)), best, out=np.zeros(len(gains)), where=best > 0)
    )


def mrr(gains: Array, ideal: Array, k: int) -> Array:
    """Compute one over the rank of the first relevant document; zero if it is not among the first k."""
    relevant = gains[:, :k] > 0
    return np.where(relevant.any(axis=1), 1 / (1 + relevant.argmax(axis=1)), 0.0)


def recall(gains: Array, ideal: Array, k: int) -> Array:
    """Compute the share of the relevant documents that are among the first k."""
    return _share_of_relevant((gains[:, :k] > 0).sum(axis=1), ideal)


def precision(gains: Array, ideal: Array, k: int) -> Array:
    """Compute the share of the first k that are relevant; ranks beyond the corpus count as not relevant."""
    return np.asarray((gains[:, :k] > 0).sum(axis=1) / k)


def average_precision(gains: Array, ideal: Array, k: int) -> Array:
    """Average the precision at the rank of each relevant document, zero for those not among the first k."""
    relevant = gains[:, :k] > 0
    at_rank = np.cumsum(relevant, axis=1) / np.arange(1, relevant.shape[1] + 1)
    return _share_of_relevant((at_rank * relevant).sum(axis=1), ideal)


def success(gains: Array, ideal: Array, k: int) -> Array:
    """Give one if any of the first k is relevant, else zero."""
    return np.asarray((gains[:, :k] > 0).any(axis=1), dtype=np.float64)


def full_recall(gains: Array, ideal: Array, k: int) -> Array:
    """Give one if all relevant documents are among the first k, else zero: every hop of a question is supported."""
    return np.asarray(recall(gains, ideal, k) == 1, dtype=np.float64)


def value_at_depth(gains: Array, ideal: Array, k: int) -> Array:
    """Give what the first k are worth together, where ``gains`` tells that for each depth: a vote, an answer."""
    return np.asarray(gains[:, min(k, gains.shape[1]) - 1], dtype=np.float64)


def discounted_gain(grades: Array) -> Array:
    """Sum the grades, each divided by the logarithm of its rank plus one."""
    return np.asarray((grades / np.log2(np.arange(2, grades.shape[1] + 2))).sum(axis=1))


def _share_of_relevant(hits: Array, ideal: Array) -> Array:
    """Divide by how many documents are relevant; zero where none is."""
    relevant = (ideal > 0).sum(axis=1)
    return np.asarray(np.divide(hits, relevant, out=np.zeros(len(ideal)), where=relevant > 0))
