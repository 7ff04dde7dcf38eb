"""Parts of a task that are kept apart: to learn from, to stop by, to judge by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError
from offsphere.data.task import EmbeddedTask, Task

TEST_SHARE = 0.3  # of the queries, where no other data is there to judge by
FEWEST = 8  # queries to learn from and stop by


def rows_apart(task: Task, share: float, seed: int, *, by_document: bool = False) -> tuple[Index, Index]:
    """Queries (or pairs) to learn from and such to keep; ``by_document`` keeps relevant documents apart too."""
    if task.units < FEWEST:
        raise DataError(
            f"{task.name} has {task.units} {task.unit} to learn from; learning and stopping need at least {FEWEST}: "
            "give more"
        )
    return task.rows_apart(share, seed, by_document=by_document)


def part_of(held: EmbeddedTask, rows: Index) -> EmbeddedTask:
    """Some queries (or pairs) of a task, with their vectors."""
    task, vectors = held
    return task.only(rows), vectors.only(rows)


def divided(held: EmbeddedTask, seed: int, *, by_document: bool = False) -> tuple[EmbeddedTask, EmbeddedTask, str]:
    """What to learn from and what to judge by, where the data has one split only, and how to say so."""
    rows, kept = rows_apart(held[0], TEST_SHARE, seed, by_document=by_document)
    kept_back = f"{TEST_SHARE:.0%} of the {held[0].unit} were kept from training, and the values are of those"
    note = f"there is no other split to judge by: {kept_back}"
    return part_of(held, rows), part_of(held, kept), note


def in_none_of(held: EmbeddedTask, rows: Index, judged: Sequence[EmbeddedTask]) -> Index:
    """Those rows whose query (or pair) stands in none of the tasks one judges by, under whatever id."""
    own = held[1].unit_keys()[rows]
    others = [other[1].unit_keys() for other in judged]
    return rows[~np.isin(own, np.concatenate(others))] if others else rows
