"""Of which kind a task is, asked in one place: whoever needs lists of documents, links or answers asks here.

Everything else asks the face that all tasks have (``data/task.py``), so that a new kind is added in files of its own.
"""

from __future__ import annotations

from offsphere.data.answered_task import AnsweredTask
from offsphere.data.linked_task import LinkedTask
from offsphere.data.pair_task import PairTask
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
        >>> from offsphere.data.task_kinds import as_ranking
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


def as_ranking_task(task: Task) -> RankingTask | None:
    """The task, known to have lists of documents; nothing where it has none, or another kind of lists."""
    return task if isinstance(task, RankingTask) else None


def as_linked_task(task: Task) -> LinkedTask | None:
    """The task, known to have links: of users to items, or of nodes to nodes; nothing where it has none."""
    return task if isinstance(task, LinkedTask) else None


def as_answered_task(task: Task) -> AnsweredTask | None:
    """The task, known to have answers to its questions; nothing where it has none."""
    return task if isinstance(task, AnsweredTask) else None


def has_lists_or_pairs(task: Task) -> bool:
    """Whether other systems can be a row beside its scorers: they give lists of documents, or scores of pairs."""
    return isinstance(task, RankingTask | PairTask)
