"""The positive pairs of a task: each query with a relevant document, or two texts that people call alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.data.task import Task, TaskVectors
from offsphere.vectors.lengths import lengths

AT_ONCE = 8_192  # pairs whose vectors are read at a time


@dataclass(frozen=True, slots=True, eq=False)
class Positives:
    """Row numbers of both sides of each positive pair, their cosines and lengths; pairs without a direction are out.

    Vectors of two widths have no cosines: these are not numbers then.
    """

    left: Index
    right: Index
    cosines: Array
    left_lengths: Array
    right_lengths: Array
    without_direction: int = 0

    def __len__(self) -> int:
        return len(self.left)


def positives_of(task: Task, vectors: TaskVectors) -> Positives:
    """All positive pairs of a task, with the cosine and the lengths of each."""
    (first, second), (left, right) = vectors.sides, task.positives()
    products, left_lengths, right_lengths = np.full(len(left), np.nan), np.empty(len(left)), np.empty(len(left))
    for start in range(0, len(left), AT_ONCE):
        chosen = slice(start, start + AT_ONCE)
        left_rows, right_rows = np.asarray(first[left[chosen]]), np.asarray(second[right[chosen]])
        if left_rows.shape[1] == right_rows.shape[1]:
            products[chosen] = np.einsum("nd,nd->n", left_rows, right_rows, dtype=np.float64)
        left_lengths[chosen], right_lengths[chosen] = lengths(left_rows), lengths(right_rows)
    kept = (left_lengths > 0) & (right_lengths > 0)
    left_lengths, right_lengths = left_lengths[kept], right_lengths[kept]
    return Positives(
        left[kept],
        right[kept],
        np.clip(products[kept] / (left_lengths * right_lengths), -1, 1),
        left_lengths,
        right_lengths,
        int((~kept).sum()),
    )
