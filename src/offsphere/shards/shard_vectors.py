"""The vectors of shards: those of all queries, and where the documents lie, of which a shard reads its own rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.short_repr import short_repr
from offsphere.data.located_side import LocatedSide, OpenSide
from offsphere.data.task import Task
from offsphere.data.task_vectors import read_side
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.finite import rows_without_length
from offsphere.vectors.parted_rows import cut_rows


class LocatedTask(NamedTuple):
    """All that work on the shards of a task needs: found once by the ids of all documents, and then without any."""

    task: DividedTask
    queries: Vectors
    documents: LocatedSide
    declared: str | None  # the similarity that the model of the vectors is to be scored with

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)

    @classmethod
    def find(cls, source: EmbeddedSource, whole: Task, metric: str | None = None) -> LocatedTask:
        """Find where the vectors of a task lie, and read those of the queries.

        Args:
            source: Where the vectors are.
            whole: The task.
            metric: Under which it is compared; the usual one unless named.

        Raises:
            DataError: There are no vectors, or damaged ones.
            ParameterError: The metric or the task needs all documents at once.
            VectorError: A file cannot be read, or a vector is missing or not finite.
        """
        task = DividedTask.of(whole, metric)
        folder = source.folder_of(whole)
        cure = f"make them with offsphere embed {source.data} --out {folder}"
        asking, asked = whole.sides
        names = asking.ids or ()
        queries = as_vectors(read_side(folder, asking, cure, verify=source.verify).vectors, "query vectors")
        rows_without_length(queries, asking.name, lambda row: f"{names[row]!r} (row {row})")
        return cls(
            task,
            np.array(queries),  # no map, which would not be sent
            LocatedSide.find(folder, asked, cure, verify=source.verify),
            source.made_by(whole).get("similarity"),
        )


def load_shard(opened: OpenSide, rows: range) -> Vectors:
    """Read the vectors of some documents; nothing of the others is looked at.

    Args:
        opened: The vectors of all documents.
        rows: Which of them.

    Raises:
        DataError: A vector is damaged.
        VectorError: One is not finite.
    """
    return as_vectors(opened.rows(rows), "document vectors")


def fit_shard(task: DividedTask, opened: OpenSide, shard: Shard) -> FitState:
    """Read a shard, and fit the blocks that begin in it.

    Args:
        task: By the rows of all documents.
        opened: The vectors of all documents.
        shard: Which part of them is fitted.

    Raises:
        DataError: A vector is damaged.
        VectorError: One is not finite.
    """
    rows, fits = (some(task.documents) for some in (shard.rows, shard.fitted_rows))
    documents = load_shard(opened, range(rows.start, fits.stop if len(fits) else rows.stop))
    own, fitted = (
        cut_rows(documents, some.start - rows.start, some.stop - rows.start) if some else documents[:0]
        for some in (rows, fits)
    )
    return FitState.of(task, shard, own, fitted)
