"""Parts of a task: units are dealt out at random, and for the same seed in the same way."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index
from offsphere.base.errors import ParameterError
from offsphere.data.judgments import Judgments

DEFAULT_SHARES: Mapping[str, float] = {"train": 0.7, "dev": 0.1, "test": 0.2}


def deal_out(groups: Index, shares: Mapping[str, float], seed: int, name: str) -> NDArray[np.str_]:
    """The part of each unit: groups are dealt out whole, the largest first, to the part that lacks most."""
    if not shares or min(shares.values()) <= 0:
        raise ParameterError(f"shares {dict(shares)}: each must be above zero")
    numbers, counts = np.unique(groups, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(len(numbers))
    order = shuffled[np.argsort(-counts[shuffled], kind="stable")]
    total = sum(shares.values())
    lacking = {part: share / total * len(groups) for part, share in shares.items()}
    part_of = {}
    for group in order:
        part = max(lacking, key=lambda name: lacking[name])
        part_of[numbers[group]] = part
        lacking[part] -= counts[group]
    parts = np.array([part_of[group] for group in groups])
    if any(not (parts == part).any() for part in shares):
        tied = f", since {counts.max()} of {len(groups)} hang together by relevant documents that they share"
        why = tied if counts.max() > 1 else ""
        raise ParameterError(f"{name}: its queries cannot be divided into {', '.join(shares)}{why}")
    return parts


def linked_queries(judgments: Judgments) -> Index:
    """A number for each query, equal for queries that are linked by relevant documents."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    relevant = judgments.grades > 0
    queries, documents = judgments.queries[relevant], judgments.documents[relevant]
    size = judgments.query_count + judgments.document_count
    links = coo_array((np.ones(len(queries)), (queries, documents + judgments.query_count)), shape=(size, size))
    _, labels = connected_components(links, directed=False)
    return np.asarray(labels[: judgments.query_count], np.int64)
