"""Which rows of a task make a probe: a small set of held-out pairs whose geometry is watched while training."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Flags, Index
from offsphere.data.task import Task


class ProbeRows(NamedTuple):
    """Positive pairs in which no query and no document stands twice, and documents that are relevant to nothing."""

    queries: Index  # (pairs,)
    documents: Index  # (pairs,)
    others: Index  # rows of documents; none for pair tasks


def probe_rows(
    task: Task, positives: tuple[Index, Index], most: int, seed: int = 0, wanted: Flags | None = None
) -> ProbeRows:
    """Choose rows at random, the same ones for the same seed.

    Args:
        task: The task whose rows are chosen.
        positives: Rows of the positive pairs to choose from.
        most: How many pairs, and how many of the others, are chosen at most.
        seed: Of the choice.
        wanted: Documents that are relevant to some query that is not of this task, a flag each; none without.
    """
    rng = np.random.default_rng(seed)
    queries, documents = positives
    _, first = np.unique(queries, return_index=True)
    _, once = np.unique(documents[first], return_index=True)
    chosen = rng.permutation(first[once])[:most]
    relevant = task.relevant_to_any()
    if relevant is None:
        return ProbeRows(queries[chosen], documents[chosen], np.zeros(0, np.int64))
    if wanted is not None:
        relevant = relevant | wanted
    others = rng.permutation(np.flatnonzero(~relevant))[:most]
    return ProbeRows(queries[chosen], documents[chosen], others)
