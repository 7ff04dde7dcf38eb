"""Parts of a task that are kept apart: to learn from, to stop by, to judge by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.arrays import Index
from offsphere.base.errors import DataError, ParameterError
from offsphere.data.info import units_of
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.splits import split_task
from offsphere.data.task_vectors import PairVectors, RankingVectors, keys_of_units
from offsphere.learn.data.pairs import EmbeddedTask

TEST_SHARE = 0.3  # of the queries, where no other data is there to judge by
FEWEST = 8  # queries to learn from and stop by


def rows_apart(
    task: RankingTask | PairTask, share: float, seed: int, *, by_document: bool = False
) -> tuple[Index, Index]:
    """Queries (or pairs) to learn from and such to keep; ``by_document`` keeps relevant documents apart too."""
    count = units_of(task)
    pairs = isinstance(task, PairTask)
    if count < FEWEST:
        raise DataError(
            f"{task.name} has {count} {'pairs' if pairs else 'queries'} to learn from; learning and stopping need at "
            f"least {FEWEST}: give more"
        )
    if isinstance(task, PairTask):
        if by_document:
            raise ParameterError(f"{task.name} has pairs, no documents that could be new: leave out new_documents")
        order = np.random.default_rng(seed).permutation(count)
        kept = max(3, int(share * count))
        return np.sort(order[kept:]), np.sort(order[:kept])
    parts = split_task(task, {"train": 1 - share, "kept": share}, seed=seed, by_document=by_document)
    place = {name: row for row, name in enumerate(task.query_ids)}
    learned, aside = (np.array([place[name] for name in part.query_ids], np.int64) for part in parts.values())
    return learned, aside


def part_of(held: EmbeddedTask, rows: Index) -> EmbeddedTask:
    """Some queries (or pairs) of a task, with their vectors."""
    task, vectors = held
    if isinstance(task, PairTask) and isinstance(vectors, PairVectors):
        part = PairTask(task.name, task.gold[rows], split=task.split)
        return part, PairVectors(vectors.left[rows], vectors.right[rows])
    assert isinstance(task, RankingTask)
    assert isinstance(vectors, RankingVectors)
    return task.only(rows), replace(vectors, queries=vectors.queries[rows], query_tokens=None)


def divided(held: EmbeddedTask, seed: int, *, by_document: bool = False) -> tuple[EmbeddedTask, EmbeddedTask, str]:
    """What to learn from and what to judge by, where the data has one split only, and how to say so."""
    rows, kept = rows_apart(held[0], TEST_SHARE, seed, by_document=by_document)
    what = "pairs" if isinstance(held[0], PairTask) else "queries"
    kept_back = f"{TEST_SHARE:.0%} of the {what} were kept from training, and the values are of those"
    note = f"there is no other split to judge by: {kept_back}"
    return part_of(held, rows), part_of(held, kept), note


def in_none_of(held: EmbeddedTask, rows: Index, judged: Sequence[EmbeddedTask]) -> Index:
    """Those rows whose query (or pair) stands in none of the tasks one judges by, under whatever id."""
    own = keys_of_units(held[1])[rows]
    others = [keys_of_units(other[1]) for other in judged]
    return rows[~np.isin(own, np.concatenate(others))] if others else rows
