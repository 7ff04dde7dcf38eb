"""The vectors of shards: all queries, and the documents of some rows, read where they lie."""

from __future__ import annotations

import numpy as np

from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import OpenSide, RankingVectors, read_side
from offsphere.encode.embedded_task import EmbeddedSource
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.vectors.parted_rows import cut_rows


class ShardedVectors:
    """The vectors of a task, opened once; the documents of one shard after the other are read, each once.

    Args:
        source: Where the vectors are.
        task: The whole task.

    Raises:
        DataError: There are no vectors, or damaged ones.
        VectorError: A file cannot be read, or a vector is missing.
    """

    def __init__(self, source: EmbeddedSource, task: RankingTask) -> None:
        folder = source.folder_of(task)
        cure = f"make them with offsphere embed {source.data} --out {folder}"
        asking, asked = task.sides
        self.task = task
        self.queries = read_side(folder, asking, cure, verify=source.verify).vectors
        self.documents = OpenSide(folder, asked, cure, verify=source.verify)

    def load(self, rows: range) -> RankingVectors:
        """Read the vectors of some documents; nothing of the other documents is looked at.

        Args:
            rows: Of the task's documents.

        Returns:
            The vectors of the queries and of these documents, checked.

        Raises:
            DataError: A vector is damaged.
            VectorError: One is not finite.
        """
        documents = self.documents.rows(rows)
        if not len(rows):
            return RankingVectors(self.queries, documents)
        return self.task.among_documents(np.arange(rows.start, rows.stop)).vectors(self.queries, documents)


def fit_shard(opened: ShardedVectors, shard: Shard) -> FitState:
    """Read a shard, and fit the blocks that begin in it.

    Args:
        opened: The vectors of the task.
        shard: Which part of its documents is fitted.

    Raises:
        DataError: A vector is damaged.
        VectorError: One is not finite.
    """
    rows, fits = (some(len(opened.task.document_ids)) for some in (shard.rows, shard.fitted_rows))
    documents = opened.load(range(rows.start, fits.stop if len(fits) else rows.stop)).documents
    own, fitted = (
        cut_rows(documents, some.start - rows.start, some.stop - rows.start) if some else documents[:0]
        for some in (rows, fits)
    )
    return FitState.of(opened.task, shard, own, fitted)
