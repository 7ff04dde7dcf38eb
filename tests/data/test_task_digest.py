"""A digest of a task changes with everything that the task is."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest

from tests.data.test_task import pair_task, ranking_task


def changed(value):
    """Another value of the same kind; for what has fields, a value for each field that is changed."""
    if is_dataclass(value):
        return [replace(value, **{name: other}) for name, other in changes_of(value)]
    if value is None:
        return ["something"]
    if isinstance(value, str):
        return [f"{value} else"]
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, np.ndarray):
        return [value + 1, value + np.arange(len(value)), np.append(value, value[:1]), value.astype(np.float32)]
    return [[*value[:-1], "another"], [*value[1:], value[0]], list(value)[:-1], [*value, ""]]


def changes_of(record):
    """Every field of a record with another value of it."""
    return [(field.name, other) for field in fields(record) for other in changed(getattr(record, field.name))]


def without_checks(task, name, value):
    """The task with another value of a field, even one that it would refuse."""
    other = copy(task)
    object.__setattr__(other, name, value)
    return other


@pytest.mark.parametrize("make", [ranking_task, pair_task])
def test_the_digest_of_a_task_changes_with_every_field_it_has(make):
    task = make()
    assert task.digest() == make().digest()
    others = [(name, without_checks(task, name, value).digest()) for name, value in changes_of(task)]
    assert {name for name, _ in others} == {field.name for field in fields(task)}
    assert [name for name, digest in others if digest == task.digest()] == []
    assert len({digest for _, digest in others}) == len(others)


def test_the_digest_tells_where_one_text_ends_and_where_a_list_does():
    task = pair_task()
    texts = [["ab", "c", "", ""], ["a", "bc", "", ""], ["abc", "", "", ""], None]
    assert len({replace(task, left_texts=left, right_texts=["x"] * 4).digest() for left in texts}) == len(texts)
    assert replace(task, left_texts=None).digest() != replace(task, right_texts=None).digest()
