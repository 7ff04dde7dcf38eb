"""One order everywhere: a task, then its vectors or a model. A call that has them the other way round is told so."""

from __future__ import annotations

from typing import Any

from offsphere.base.errors import ParameterError
from offsphere.data.task import TaskVectors


def is_task(thing: Any) -> bool:
    """Tell whether something has the face of a task, as far as one can see from outside."""
    return hasattr(thing, "evaluator") and hasattr(thing, "sides") and hasattr(thing, "units")


def check_order(call: str, task: Any, vectors: Any) -> None:
    """Refuse a call whose task is no task, or whose vectors are not those of a task.

    Args:
        call: the name of the function that was called.
        task: what was given as the task.
        vectors: what was given as its vectors.

    Raises:
        ParameterError: where the two are exchanged, or one of them is something else.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> task = osp.RankingTask.from_judgments({"q1": {"d1": 1}}, ["d1", "d2"])
        >>> vectors = osp.RankingVectors.of(task, [[1, 0]], [[1, 0], [0, 1]])
        >>> osp.compare(vectors, task)
        Traceback (most recent call last):
            ...
        offsphere.base.errors.ParameterError: compare: the vectors come first here; write compare(task, vectors)
    """
    _check_task(f"{call}(task, vectors)", task, vectors, "vectors come")
    if not isinstance(vectors, TaskVectors):
        raise ParameterError(
            f"{call}(task, vectors): the vectors of {task.name} are of type {type(vectors).__name__}; give them as "
            "osp.embed, osp.load_vectors or task.vectors(first, second) make them"
        )


def check_task_and_model(call: str, task: Any, model: Any) -> None:
    """Refuse a call whose task is no task, such as one that has the model first.

    Args:
        call: the name of the function that was called.
        task: what was given as the task.
        model: what was given as the model.

    Raises:
        ParameterError: where the two are exchanged, or the task is something else.
    """
    _check_task(f"{call}(task, model)", task, model, "model comes")


def check_embedded(call: str, what: str, embedded: Any) -> None:
    """Refuse what is given as a task with its vectors and is no such pair.

    Args:
        call: the name of the function that was called.
        what: the name of its argument.
        embedded: what was given.

    Raises:
        ParameterError: where it is no pair, or the pair is the wrong way round.
    """
    if not isinstance(embedded, tuple | list) or len(embedded) != 2:  # noqa: PLR2004
        raise ParameterError(
            f"{call}: {what} is a pair (task, vectors), not a {type(embedded).__name__}: write {call}((task, vectors))"
        )
    task, vectors = embedded
    if not is_task(task) and is_task(vectors):
        raise ParameterError(f"{call}: {what} is the wrong way round: write (task, vectors)")
    check_order(call, task, vectors)


def _check_task(call: str, task: Any, second: Any, comes: str) -> None:
    """Refuse what is no task; ``call`` is how the call is written, ``comes`` what must not come first in it."""
    if is_task(task):
        return
    if is_task(second):
        raise ParameterError(f"{call.partition('(')[0]}: the {comes} first here; write {call}")
    raise ParameterError(f"{call}: the task is of type {type(task).__name__}; give one as osp.load_task makes it")
