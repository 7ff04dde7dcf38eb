"""Whether a task has lists of documents that can be ranked, asked in one place."""

from __future__ import annotations

from offsphere.data.ranking_task import RankingTask
from offsphere.data.task import Task, TaskVectors
from offsphere.data.task_vectors import RankingVectors


def as_ranking(task: Task, vectors: TaskVectors) -> tuple[RankingTask, RankingVectors] | None:
    """The task and its vectors, known to be a ranking; nothing where the task is of another kind.

    Args:
        task: A task of any kind.
        vectors: Its vectors.

    Returns:
        The same two, or nothing where there are no lists: pairs, episodes, a kind that somebody added.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from offsphere.data.rankings import as_ranking
        >>> task = osp.RankingTask.from_judgments({"q": {"d": 1}}, ["d"])
        >>> one = np.ones((1, 2), np.float32)
        >>> as_ranking(task, task.vectors(one, one))[0] is task
        True
        >>> pairs, three = osp.PairTask("sts", np.array([1.0, 2.0, 3.0])), np.ones((3, 2), np.float32)
        >>> as_ranking(pairs, pairs.vectors(three, three)) is None
        True
    """
    if isinstance(task, RankingTask) and isinstance(vectors, RankingVectors):
        return task, vectors
    return None
