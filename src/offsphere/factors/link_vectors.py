"""Vectors made from the known links of a task: by factorising them, from their spectrum, or by propagating features."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import DataError, ParameterError, UnknownNameError
from offsphere.data.linked_task import LinkedTask
from offsphere.data.task import Task
from offsphere.data.task_kinds import as_linked_task
from offsphere.data.task_vectors import RankingVectors
from offsphere.factors.closed_form import factorize

RANK, LAMBDA, STEPS = 64, 1.0, 2
DEFAULTS: dict[str, tuple[float, ...]] = {
    "factorize": (RANK, LAMBDA),
    "spectral": (RANK,),
    "propagate": (STEPS,),
    "features": (),
}
MOST_STEPS = 100
_NAME = re.compile(r"([a-z]+)(?:\(([^()]*)\))?")


class LinkModel(NamedTuple):
    """What makes vectors of links, and its numbers."""

    kind: str
    numbers: tuple[float, ...]


def is_link_model(name: str) -> bool:
    """Whether a model is one of links: ``factorize``, ``factorize(64, 1)``, ``spectral(64)``, ``propagate(2)``, ..."""
    match = _NAME.fullmatch(name.strip())
    return match is not None and match.group(1) in DEFAULTS


def link_vectors(task: Task, model: str = "factorize", features: Vectors | None = None) -> RankingVectors:
    """Make the vectors of a task of links from the links that are known.

    Args:
        task: Users with items, or nodes with edges, as ``load_task`` reads them from interactions or edges.
        model: ``factorize(64, 1)``: factors of the links, with the weight of the penalty. ``spectral(64)``: of the
            links over the roots of both ends' degrees. ``propagate(2)``: the features of the nodes, averaged over
            neighbours so many times. ``features``: as they are.
        features: A row a node.

    Returns:
        The vectors of those who ask and of the documents.

    Raises:
        UnknownNameError: There is no such model.
        ParameterError: A number of it means nothing.
        DataError: The task has no known links, or there are no features.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> held = osp.hold_out((np.random.default_rng(0).random((60, 12)) < 0.5).astype(float))
        >>> osp.link_vectors(held.task, "factorize(4)")
        RankingVectors(queries (44, 4), documents (12, 4))
    """
    parsed = parse_link_model(model)
    linked = as_linked_task(task)
    if linked is None:
        raise DataError(
            f"{task.name} has no links of which {model} could make vectors: name a model that encodes texts"
        )
    if parsed.kind in ("propagate", "features"):
        steps = int(parsed.numbers[0]) if parsed.numbers else 0
        return _propagated(linked, features, steps)
    links = known_links(linked)
    if parsed.kind == "factorize":
        factors = factorize(links, int(parsed.numbers[0]), parsed.numbers[1])
        return _as_vectors(linked, factors.users(links[linked.asked]), factors.items)
    return _spectral(linked, links, int(parsed.numbers[0]))


def parse_link_model(name: str) -> LinkModel:
    """Read the name of what makes vectors of links; numbers that are left out have their usual values."""
    match = _NAME.fullmatch(name.strip())
    if match is None or match.group(1) not in DEFAULTS:
        raise UnknownNameError(
            "model of links", name, [f"{kind}({', '.join(map(str, d))})" for kind, d in DEFAULTS.items()]
        )
    kind, usual = match.group(1), DEFAULTS[match.group(1)]
    try:
        given = [float(part) for part in (match.group(2) or "").split(",") if part.strip()]
    except ValueError as error:
        raise ParameterError(f"{name}: write numbers, such as {kind}({', '.join(map(str, usual))})") from error
    numbers = (*given, *usual[len(given) :])
    whole = numbers[:1] and numbers[0] == int(numbers[0]) and numbers[0] >= (0 if kind == "propagate" else 1)
    if len(given) > len(usual) or (numbers and not whole) or (kind == "propagate" and numbers[0] > MOST_STEPS):
        raise ParameterError(f"{name}: write {kind}({', '.join(f'{value:g}' for value in usual)}) or the like")
    return LinkModel(kind, numbers)


def known_links(task: LinkedTask) -> sparse.csr_array:
    """The known links as a sparse matrix, sources by documents."""
    known = task.known
    shape = (known.query_count, known.document_count)
    return sparse.csr_array((known.grades, (known.queries, known.documents)), shape=shape)


def _spectral(task: LinkedTask, links: sparse.csr_array, rank: int) -> RankingVectors:
    """Factors of the normalised links; where both sides are one, the leading eigenvectors over positive eigenvalues.

    The mean degree is added to every degree (Qin & Rohe 2013, arXiv:1309.4111): else each part of the graph that hangs
    together has an eigenvalue of one, and which of these directions are the first is anybody's guess. An inner product
    of vectors with themselves cannot express a negative eigenvalue, and factors mix it with a positive one of its size:
    so nodes have the eigenvectors themselves, each times the root of its eigenvalue.
    """
    normalized = over_degrees(links, added=True)
    if not task.symmetric:
        factors = factorize(normalized, rank, 0.0)
        return _as_vectors(task, factors.users(normalized[task.asked]), factors.items)
    count = normalized.shape[0]
    if rank >= count:
        raise ParameterError(f"spectral({rank}): a graph of {count:,} nodes has fewer than {count:,} directions to use")
    start = np.random.default_rng(0).random(count)
    values, directions = eigsh(normalized, rank, which="LA", v0=start, tol=0)
    order = np.argsort(-values, kind="stable")
    order = order[values[order] > 0]
    largest = directions[np.abs(directions).argmax(axis=0), np.arange(len(values))]
    nodes = (directions * np.sign(largest) * np.sqrt(np.maximum(values, 0)))[:, order]
    return _as_vectors(task, nodes[task.asked], nodes)


def _propagated(task: LinkedTask, features: Vectors | None, steps: int) -> RankingVectors:
    """Features averaged over a node and its neighbours, with the roots of both degrees as weights, so many times.

    That is what simple graph convolution does before it learns anything (Wu et al. 2019, arXiv:1902.07153).
    """
    if not task.nodes:
        raise DataError(f"{task.name} has users and items, no nodes with features: use factorize(64), or encode texts")
    if features is None:
        raise DataError(f"{task.name} has no features of nodes: add features.npz or features.npy, a row a node")
    if len(features) != len(task.document_ids):
        raise DataError(f"{task.name} has {len(task.document_ids):,} nodes, and there are {len(features):,} features")
    links = known_links(task)
    there = (links + links.T + sparse.eye_array(links.shape[0], format="csr")) > 0
    mean: Any = over_degrees(sparse.csr_array(there.astype(np.float64)))
    rows = np.asarray(features, np.float64)
    for _ in range(steps):
        rows = mean @ rows
    return _as_vectors(task, rows[task.asked], rows)


def over_degrees(links: sparse.csr_array, *, added: bool = False) -> sparse.csr_array:
    """Each link over the roots of how many links both of its ends have, with the mean added to each where asked for.

    An end without links stays zero.
    """
    out, into = (np.asarray(links.sum(axis=axis)).ravel() for axis in (1, 0))
    if added:
        out, into = out + out.mean(), into + into.mean()
    left, right = (np.divide(1, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0) for degree in (out, into))
    return sparse.csr_array(sparse.diags_array(left) @ links @ sparse.diags_array(right))


def _as_vectors(task: LinkedTask, queries: Array, documents: Array) -> RankingVectors:
    return RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))
