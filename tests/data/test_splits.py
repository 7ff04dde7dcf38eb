"""Parts of a task."""

from __future__ import annotations

from itertools import combinations

import pytest

from offsphere.base.errors import ParameterError
from offsphere.data import RankingTask


def linked_task():
    judged = {f"q{n}": {f"d{n // 3}": 1, f"d{100 + n}": 1} for n in range(90)}
    return RankingTask.from_judgments(judged, [f"d{n}" for n in range(200)])


@pytest.mark.parametrize("by_document", [False, True])
def test_splits_part_the_queries(by_document):
    task = linked_task()
    parts = task.parts(seed=3, by_document=by_document)
    names = [set(part.query_ids) for part in parts.values()]
    assert set().union(*names) == set(task.query_ids)
    assert sum(map(len, names)) == 90
    assert [len(part) for part in names] == [63, 9, 18]
    assert [part.query_ids for part in task.parts(seed=3, by_document=by_document).values()] == [
        part.query_ids for part in parts.values()
    ]
    relevant = [set(part.judgments.documents.tolist()) for part in parts.values()]
    leaks = any(first & second for first, second in combinations(relevant, 2))
    assert leaks == (not by_document)


def test_impossible_splits_are_refused():
    with pytest.raises(ParameterError, match="each must be above zero"):
        linked_task().parts({"train": 1.0, "test": 0.0})
    linked = RankingTask.from_judgments({"a": {"d": 1}, "b": {"d": 1}}, ["d"])
    with pytest.raises(ParameterError, match="hang together by relevant documents"):
        linked.parts({"train": 1, "test": 1}, by_document=True)
