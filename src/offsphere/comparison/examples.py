"""Queries whose first results change most between two scorers, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.table import Row
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.search import search
from offsphere.vectors.lengths import lengths

QUERIES, SHOWN = 5, 5
LONGEST = 280  # characters of a text that are shown


class RankedDocument(NamedTuple):
    """A document in a list."""

    id: str
    text: str
    length: float
    grade: float


class Example(NamedTuple):
    """A query, its value under both scorers, and its first results under both."""

    id: str
    text: str
    length: float
    first_value: float
    second_value: float
    shared: int  # documents that are in both lists
    first: Sequence[RankedDocument]
    second: Sequence[RankedDocument]


def changed_queries(task: RankingTask, vectors: RankingVectors, first: Row, second: Row) -> list[Example]:
    """Those whose value changes most, then those whose lists share least; the two directions take turns."""
    if first.values is None or second.values is None:
        return []
    gains = first.values - second.values
    order = np.argsort(-np.abs(gains), kind="stable")
    chosen = _in_turns(order[gains[order] > 0], order[gains[order] < 0])[:QUERIES]
    if not len(chosen):
        return []
    queries = np.asarray(vectors.queries[chosen])
    found = search(queries, vectors.documents, [first.scorer, second.scorer], SHOWN)
    own = lengths(queries)
    judgments = task.judgments.only(chosen)
    lists = [
        [
            _results(task, vectors, row, grades)
            for row, grades in zip(top.documents, judgments.gains(top.documents), strict=True)
        ]
        for top in found
    ]
    return [
        Example(
            task.query_ids[number],
            _shown(task.query_texts[number]) if task.query_texts is not None else "",
            float(own[place]),
            float(first.values[number]),
            float(second.values[number]),
            len({result.id for result in lists[0][place]} & {result.id for result in lists[1][place]}),
            lists[0][place],
            lists[1][place],
        )
        for place, number in enumerate(chosen.tolist())
    ]


def _results(task: RankingTask, vectors: RankingVectors, documents: Index, grades: Array) -> list[RankedDocument]:
    own = lengths(np.asarray(vectors.documents[documents]))
    texts = task.document_texts
    return [
        RankedDocument(
            task.document_ids[row], _shown(texts[row]) if texts is not None else "", float(length), float(grade)
        )
        for row, length, grade in zip(documents.tolist(), own, grades, strict=True)
    ]


def _in_turns(one: Index, other: Index) -> Index:
    """The first of one, the first of the other, the second of one, ..."""
    turns = np.concatenate([np.arange(len(one)) * 2, np.arange(len(other)) * 2 + 1])
    return np.concatenate([one, other])[np.argsort(turns, kind="stable")]


def _shown(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " ..."
