"""Train, dev and test parts of a ranking task, by query, at random but the same for the same seed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import ParameterError
from offsphere.data.ranking_task import RankingTask

DEFAULT_SHARES: Mapping[str, float] = {"train": 0.7, "dev": 0.1, "test": 0.2}


def split_task(
    task: RankingTask, shares: Mapping[str, float] = DEFAULT_SHARES, *, seed: int = 0, by_document: bool = False
) -> dict[str, RankingTask]:
    """Parts of the task's queries. ``by_document`` keeps queries that share a relevant document in one part.

    So no document that is relevant to a query one learns from is relevant to a query one judges with. Groups of queries
    are dealt out whole, the largest first, to the part that lacks most.
    """
    if not shares or min(shares.values()) <= 0:
        raise ParameterError(f"shares {dict(shares)}: each must be above zero")
    groups = _groups(task) if by_document else np.arange(len(task.query_ids))
    names, counts = np.unique(groups, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(names))
    order = shuffled[np.argsort(-counts[shuffled], kind="stable")]
    total = sum(shares.values())
    lacking = {part: share / total * len(groups) for part, share in shares.items()}
    part_of = {}
    for place in order:
        part = max(lacking, key=lambda name: lacking[name])
        part_of[names[place]] = part
        lacking[part] -= counts[place]
    parts = np.array([part_of[group] for group in groups])
    missing = [part for part in shares if not (parts == part).any()]
    if missing:
        tied = f", since {counts.max()} of {len(groups)} hang together by relevant documents that they share"
        why = tied if by_document else ""
        raise ParameterError(f"{task.name}: its queries cannot be divided into {', '.join(shares)}{why}")
    return {part: task.only(np.flatnonzero(parts == part), part) for part in shares}


def _groups(task: RankingTask) -> Index:
    """A number for each query, equal for queries that are linked by relevant documents."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    relevant = task.judgments.grades > 0
    queries, documents = task.judgments.queries[relevant], task.judgments.documents[relevant]
    size = len(task.query_ids) + len(task.document_ids)
    links = coo_array((np.ones(len(queries)), (queries, documents + len(task.query_ids))), shape=(size, size))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels[: len(task.query_ids)], np.int64)
