"""The positive pairs of a task: each query with a relevant document, or two texts that people call alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.data.task import Task, TaskVectors
from offsphere.vectors.lengths import lengths

AT_ONCE = 8_192  # pairs whose vectors are held at a time


@dataclass(frozen=True, slots=True, eq=False)
class Positives:
    """Row numbers of both sides of each positive pair, their cosines and lengths; pairs without a direction are out."""

    left: Index
    right: Index
    cosines: Array
    left_lengths: Array
    right_lengths: Array
    without_direction: int = 0

    def __len__(self) -> int:
        return len(self.left)


def positives_of(task: Task, vectors: TaskVectors) -> Positives:
    """All positive pairs of a task."""
    return _measured(*vectors.sides, *task.positives())


def _measured(one: Vectors, other: Vectors, left: Index, right: Index) -> Positives:
    products, own, others = np.empty(len(left)), np.empty(len(left)), np.empty(len(left))
    for start in range(0, len(left), AT_ONCE):
        chosen = slice(start, start + AT_ONCE)
        rows, columns = np.asarray(one[left[chosen]]), np.asarray(other[right[chosen]])
        products[chosen] = np.einsum("nd,nd->n", rows, columns, dtype=np.float64)
        own[chosen], others[chosen] = lengths(rows), lengths(columns)
    kept = (own > 0) & (others > 0)
    left, right, own, others = left[kept], right[kept], own[kept], others[kept]
    cosines = np.clip(products[kept] / (own * others), -1, 1)
    return Positives(left, right, cosines, own, others, int((~kept).sum()))
