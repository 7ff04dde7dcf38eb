"""The vectors of one shard: all queries, and the documents of some rows, read where they lie."""

from __future__ import annotations

from typing import cast

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors, read_side
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.vectors.parted_rows import PartedRows


def load_rows(source: EmbeddedSource, task: RankingTask, rows: range) -> RankingVectors:
    """Read the vectors of all queries and of some documents; nothing of the other documents is looked at.

    Args:
        source: Where the vectors are.
        task: The whole task.
        rows: Of its documents.

    Returns:
        The vectors of the queries and of these documents, checked.

    Raises:
        DataError: There are no vectors, or damaged ones.
        VectorError: One is missing, or not finite.
    """
    folder = source.folder_of(task)
    cure = f"make them with offsphere embed {source.data} --out {folder}"
    asking, asked = task.sides
    queries = read_side(folder, asking, cure, verify=source.verify).vectors
    documents = read_side(folder, asked, cure, verify=source.verify, only=rows).vectors
    if not len(rows):
        return RankingVectors(queries, documents)
    return task.among_documents(np.arange(rows.start, rows.stop)).vectors(queries, documents)


def fit_shard(source: EmbeddedSource, task: RankingTask, shard: Shard) -> FitState:
    """Read a shard, and fit the blocks that begin in it.

    Args:
        source: Where the vectors are.
        task: The whole task.
        shard: Which part of its documents is fitted.

    Raises:
        DataError: There are no vectors, or damaged ones.
        VectorError: One is missing, or not finite.
    """
    rows, fits = (some(len(task.document_ids)) for some in (shard.rows, shard.fitted_rows))
    documents = load_rows(source, task, range(rows.start, fits.stop if len(fits) else rows.stop)).documents
    own, fitted = (cut_rows(documents, rows.start, some) for some in (rows, fits))
    return FitState.of(task, shard, own, fitted)


def cut_rows(documents: Vectors, first: int, rows: range) -> Vectors:
    """Some rows of vectors of which the first has the number ``first``, read where they lie; none of an empty range."""
    start, stop = (rows.start - first, rows.stop - first) if len(rows) else (0, 0)
    return cast("Vectors", documents.cut(start, stop)) if isinstance(documents, PartedRows) else documents[start:stop]
