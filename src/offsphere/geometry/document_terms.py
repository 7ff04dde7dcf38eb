"""Numbers about a document alone, learned from judgments: a factor on its cosine, and something added to it.

A ranking by ``cosine(q, d) * exp(u(d)) + b(d)`` holds everything that a length, a popularity or a correction for hubs
can do. Terms are fitted by maximum likelihood of the wanted documents among their rivals (a softmax over each query's
list, with a scale that is fitted too), and shrunk towards nothing by a ridge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from offsphere.base.arrays import Array, Index
from offsphere.geometry.rival_lists import RivalLists

START = 20.0  # the scale of a cosine before it is fitted
STEPS = 30  # of the optimiser: what is learned after them is noise
KNOTS = (0.05, 0.35, 0.65, 0.95)  # quantiles at which a curve of length may bend (Harrell 2015)
HALF = 0.5  # of a query: what a document that nobody wanted counts as
CURVE_RIDGE = 0.1
CLIPPED = (-5.0, 5.0)  # logarithms of factors


@dataclass(frozen=True, slots=True, eq=False)
class DocumentTerms:
    """What is known about each document alone, on the scale of a cosine."""

    factors: Array | None  # on the cosine; nothing stands for one
    biases: Array  # added to it
    power: float = 0.0  # of its length, by which the cosine is multiplied too


def free_biases(lists: RivalLists, documents: int, ridge: float) -> DocumentTerms:
    """Fit a bias of its own for each document; those that are in no list have none."""
    listed, columns = _listed(lists)
    scale, _, fitted = _fit(lists, columns, None, np.ones(len(listed)), ridge)
    biases = np.zeros(documents)
    biases[listed] = fitted / scale
    return DocumentTerms(None, biases)


def free_weights(lists: RivalLists, documents: int, ridge: float) -> DocumentTerms:
    """Fit a factor of its own for each document; for those that are in no list it is one."""
    listed, columns = _listed(lists)
    _, logs, _ = _fit(lists, columns, np.ones(len(listed)), None, ridge)
    factors = np.ones(documents)
    factors[listed] = np.exp(np.clip(logs, *CLIPPED))
    return DocumentTerms(factors, np.zeros(documents))


def popularity(lists: RivalLists, wanted: Index) -> DocumentTerms:
    """Fit how much it counts that other queries want a document: a prior, which never counts against it.

    Where each document is wanted once, those that were wanted already will not be again. That is how the judgments were
    drawn, and nothing that anybody could use: it is not learned.

    Args:
        lists: Of the queries that are learned from.
        wanted: How many of these queries want each document.
    """
    counts = np.where(lists.present, wanted[lists.documents] - lists.wanted, -1)  # those of the *other* queries
    feature = _log_count(np.arange(counts.max(initial=0) + 1))
    spread = feature[counts[lists.present]].std()
    if not spread:
        return DocumentTerms(None, np.zeros(len(wanted)))
    scale, _, share = _fit(lists, counts, None, feature[:, None] / spread, CURVE_RIDGE)
    return DocumentTerms(None, max(float(share[0] / spread), 0.0) / scale * _log_count(wanted))


def curve_of_length(lists: RivalLists, lengths: Array) -> DocumentTerms:
    """Fit a smooth function of length, as a factor and as a bias at once.

    Both are restricted cubic splines of the logarithm of the length, straight beyond the outer knots: the dot product
    and every power of length are among them.

    Args:
        lists: Of the queries that are learned from.
        lengths: Of all documents.
    """
    basis = _spline(lengths)
    scale, logs, biases = _fit(lists, lists.documents, basis, basis, CURVE_RIDGE)
    return DocumentTerms(np.exp(np.clip(basis @ logs, *CLIPPED)), basis @ biases / scale)


def _log_count(counts: Index) -> Array:
    return np.log1p(counts / HALF)


def _listed(lists: RivalLists) -> tuple[Index, Index]:
    """The documents that are in some list, and for each entry its number among them; -1 where there is none."""
    listed, numbers = np.unique(lists.documents[lists.present], return_inverse=True)
    columns = np.full(lists.documents.shape, -1)
    columns[lists.present] = numbers
    return listed, columns


def _fit(
    lists: RivalLists, columns: Index, on_logs: Array | None, on_biases: Array | None, ridge: float
) -> tuple[float, Array, Array]:
    """Maximise the likelihood of what is wanted; the scale, and the parameters of log factors and of biases.

    Args:
        lists: What is learned from.
        columns: Which column of the terms each entry of a list has; -1 for none.
        on_logs: What the logarithms of the factors are made of: (columns, parameters), or (columns,) where each column
            has a parameter of its own; nothing where all factors are one.
        on_biases: The same of the biases; nothing where all are zero.
        ridge: By which parameters are shrunk.
    """
    from offsphere.geometry.likelihood_kernels import likelihood  # compiled when it is first needed

    targets = lists.wanted / np.maximum(lists.wanted.sum(axis=1, keepdims=True), 1)
    given = [design for design in (on_logs, on_biases) if design is not None]
    parts = [0 if design is None else design.shape[-1] for design in (on_logs, on_biases)]
    terms, gradients = np.empty((2, len(given[0]))), np.empty((2, len(given[0])))

    def loss(parameters: Array) -> tuple[float, Array]:
        scale, rest = np.exp(parameters[0]), parameters[1:]
        terms[0] = np.exp(np.clip(_to_columns(on_logs, rest[: parts[0]]), *CLIPPED))
        terms[1] = _to_columns(on_biases, rest[parts[0] :])
        gradients[:] = 0.0
        value, on_scale = likelihood(lists.cosines, columns, lists.stands_for, targets, scale, terms, *gradients)
        back = [_to_parameters(design, part) for design, part in zip((on_logs, on_biases), gradients, strict=True)]
        gradient = np.concatenate([[on_scale], *back])
        gradient[1:] += ridge * rest
        return value + ridge / 2 * float(rest @ rest), gradient

    start = np.concatenate([[np.log(START)], np.zeros(sum(parts))])
    best = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return float(np.exp(best[0])), best[1 : 1 + parts[0]], best[1 + parts[0] :]


def _to_columns(design: Array | None, parameters: Array) -> Array:
    """What parameters make of each column."""
    if design is None:
        return np.zeros(1)
    return parameters if design.ndim == 1 else np.asarray(design @ parameters)


def _to_parameters(design: Array | None, gradient: Array) -> Array:
    """The derivative by the parameters, from that by the columns."""
    if design is None:
        return np.zeros(0)
    return gradient if design.ndim == 1 else np.asarray(design.T @ gradient)


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
