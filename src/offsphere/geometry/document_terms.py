"""Numbers about a document alone, learned from judgments: a factor on its cosine, and something added to it.

A ranking by ``cosine(q, d) * exp(u(d)) + b(d)`` holds everything that a length, a popularity or a correction for hubs
can do. Terms are fitted by maximum likelihood of the wanted documents among their rivals (a softmax over each query's
list, with a scale that is fitted too), and shrunk towards nothing by a ridge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, issparse

from offsphere.base.arrays import Array, Index
from offsphere.geometry.rival_lists import RivalLists

START = 20.0  # the scale of a cosine before it is fitted
STEPS = 30  # of the optimiser: what is learned after them is noise
KNOTS = (0.05, 0.35, 0.65, 0.95)  # quantiles at which a curve of length may bend (Harrell 2015)
HALF = 0.5  # of a query: what a document that nobody wanted counts as
CURVE_RIDGE = 0.1
CLIPPED = (-5.0, 5.0)  # logarithms of factors
Design = NDArray[Any] | csr_matrix


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTerms:
    """What is known about each document alone, on the scale of a cosine."""

    factors: Array | None  # on the cosine; nothing stands for one
    biases: Array  # added to it


def free_biases(lists: RivalLists, documents: int, ridge: float) -> DocumentTerms:
    """Fit a bias of its own for each document; those that are in no list have none."""
    scale, _, biases = _fit(lists, None, _one_each(lists, documents), ridge)
    return DocumentTerms(None, biases / scale)


def free_weights(lists: RivalLists, documents: int, ridge: float) -> DocumentTerms:
    """Fit a factor of its own for each document; for those that are in no list it is one."""
    _, logs, _ = _fit(lists, _one_each(lists, documents), None, ridge)
    return DocumentTerms(np.exp(np.clip(logs, *CLIPPED)), np.zeros(documents))


def popularity(lists: RivalLists, wanted: Index) -> DocumentTerms:
    """Fit how much it counts that other queries want a document: a prior, which never counts against it.

    Where each document is wanted once, those that were wanted already will not be again. That is how the judgments were
    drawn, and nothing that anybody could use: it is not learned.

    Args:
        lists: Of the queries that are learned from.
        wanted: How many of these queries want each document.
    """
    counts = np.where(lists.present, wanted[lists.documents], 0) - lists.wanted  # those of the *other* queries
    share, scale = _fit_one(lists, _log_count(counts))
    return DocumentTerms(None, max(share, 0.0) / scale * _log_count(wanted))


def curve_of_length(lists: RivalLists, lengths: Array) -> DocumentTerms:
    """Fit a smooth function of length, as a factor and as a bias at once.

    Both are restricted cubic splines of the logarithm of the length, straight beyond the outer knots: the dot product
    and every power of length are among them.

    Args:
        lists: Of the queries that are learned from.
        lengths: Of all documents.
    """
    basis = _spline(lengths)
    entries = np.where(lists.present[..., None], basis[lists.documents], 0.0).reshape(-1, basis.shape[1])
    scale, logs, biases = _fit(lists, entries, entries, CURVE_RIDGE)
    return DocumentTerms(np.exp(np.clip(basis @ logs, *CLIPPED)), basis @ biases / scale)


def _log_count(counts: Array | Index) -> Array:
    return np.log1p(counts / HALF)


def _fit_one(lists: RivalLists, feature: Array) -> tuple[float, float]:
    """Fit the share of one feature of the entries; it and the scale."""
    spread = feature[lists.present].std()
    if not spread:
        return 0.0, 1.0
    scale, _, share = _fit(lists, None, feature.reshape(-1, 1) / spread, CURVE_RIDGE)
    return float(share[0] / spread), scale


def _one_each(lists: RivalLists, documents: int) -> csr_matrix:
    """A column a document, with a one in the rows of its entries."""
    flat = lists.documents.ravel()
    rows = np.flatnonzero(flat >= 0)
    return csr_matrix((np.ones(len(rows)), (rows, flat[rows])), shape=(len(flat), documents))


def _fit(
    lists: RivalLists, on_logs: Design | None, on_biases: Design | None, ridge: float
) -> tuple[float, Array, Array]:
    """Maximise the likelihood of what is wanted; the scale, and the parameters of log factors and of biases."""
    from offsphere.geometry.likelihood_kernels import likelihood  # compiled when it is first needed

    shape = lists.cosines.shape
    targets = lists.wanted / np.maximum(lists.wanted.sum(axis=1, keepdims=True), 1)
    asked = lists.wanted.any(axis=1)  # a query without a wanted document says nothing
    parts = [0 if design is None else design.shape[1] for design in (on_logs, on_biases)]
    turned: list[Any] = [
        None if design is None else design.T.tocsr() if issparse(design) else design.T
        for design in (on_logs, on_biases)
    ]
    apart = np.empty(shape)

    def loss(parameters: Array) -> tuple[float, Array]:
        logs, biases = parameters[1 : 1 + parts[0]], parameters[1 + parts[0] :]
        scaled = np.exp(parameters[0]) * lists.cosines
        if on_logs is not None:
            scaled *= np.exp(np.clip(on_logs @ logs, *CLIPPED)).reshape(shape)
        scores = scaled if on_biases is None else scaled + (on_biases @ biases).reshape(shape)
        value = likelihood(scores, lists.stands_for, lists.documents, targets, asked, apart)
        scaled *= apart
        gradient = ridge * parameters
        gradient[0] = scaled.sum()
        if on_logs is not None:
            gradient[1 : 1 + parts[0]] += turned[0] @ scaled.ravel()
        if on_biases is not None:
            gradient[1 + parts[0] :] += turned[1] @ apart.ravel()
        return value + ridge / 2 * float(parameters[1:] @ parameters[1:]), gradient

    start = np.concatenate([[np.log(START)], np.zeros(sum(parts))])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return float(np.exp(best[0])), best[1 : 1 + parts[0]], best[1 + parts[0] :]


def _spline(lengths: Array) -> Array:
    """A basis of smooth functions of the logarithm of length: (documents, 3), or (documents, 1) where few differ."""
    known = lengths > 0
    logs = np.log(np.where(known, lengths, 1.0))
    middle, spread = logs[known].mean(), logs[known].std() or 1.0
    z = np.where(known, (logs - middle) / spread, 0.0)
    knots = np.quantile(z[known], KNOTS)
    columns = [z]
    if (np.diff(knots) > 0).all():
        last, before = knots[-1], knots[-2]
        for knot in knots[:-2]:
            cubes = [np.maximum(z - at, 0) ** 3 for at in (knot, before, last)]
            bend = cubes[0] - cubes[1] * (last - knot) / (last - before) + cubes[2] * (before - knot) / (last - before)
            columns.append(bend / (last - knots[0]) ** 2)
    return np.stack(columns, axis=1)
