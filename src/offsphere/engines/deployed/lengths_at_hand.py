"""Lengths that a collection lost, where vectors of the same documents still have them: what these are worth."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import VectorError
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.verdict import has_enough, is_unreadable, row_named
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors, find_side, read_side
from offsphere.statistics.significance import ALPHA
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import are_equal, lengths

LOOKED_AT = 2_000  # documents
SAME_DIRECTION = 0.99  # the mean cosine of a document's vectors here and there; few bits turn them a little


class LengthsAtHand(NamedTuple):
    """What the dot product gains over cosine by vectors that still have the lengths, with its interval and p."""

    folder: str
    metric: str
    gain: float
    low: float
    high: float
    p: float | None

    @property
    def helps(self) -> bool:
        """Whether the dot product is surely better."""
        return self.p is not None and self.p < ALPHA and self.gain > 0


def lengths_at_hand(
    task: RankingTask, vectors: RankingVectors, folder: Path, metric: str | None = None, *, verify: bool = True
) -> LengthsAtHand | None:
    """Compare the dot product with cosine by vectors in a folder, for a collection that lost its lengths.

    Args:
        task: Among the documents that the collection has.
        vectors: Its queries, and the documents as the collection has them.
        folder: Perhaps has vectors of the documents too.
        metric: By which they are compared; the task's usual one without.
        verify: Whether a store is compared with its digests.

    Returns:
        What lengths are worth; nothing where the folder has no vectors of these documents, or not of that model, or
        such that have no lengths either, and where the task is too small to tell.
    """
    side = task.sides[1]
    if find_side(folder, side) is None:
        return None
    with suppress(VectorError):  # some documents are not among them
        documents = read_side(folder, side, "", verify=verify).vectors
        if not _are_the_same(documents, vectors.documents) or _have_one_length(documents):
            return None
        table = compare(task, task.vectors(vectors.queries, documents), ["dot"], metric=metric)
        row = row_named(table, "dot")
        if row is not None and has_enough(table) and not is_unreadable(table):
            low, high = row.difference_low, row.difference_high
            return LengthsAtHand(str(folder), table.metric, row.difference, low, high, row.p)
    return None


def _are_the_same(first: Vectors, second: Vectors) -> bool:
    """Whether vectors point where others do, whatever their lengths."""
    if first.shape != second.shape:
        return False
    left, right = (np.asarray(rows[:LOOKED_AT], np.float64) for rows in (first, second))
    sizes = np.linalg.norm(left, axis=1) * np.linalg.norm(right, axis=1)
    there = sizes > 0
    cosines = (left[there] * right[there]).sum(axis=1) / sizes[there]
    return bool(there.any() and cosines.mean() > SAME_DIRECTION)


def _have_one_length(vectors: Vectors) -> bool:
    """Whether all are as long."""
    return are_equal(np.concatenate([lengths(block) for block in Blocks.of(vectors)]))
