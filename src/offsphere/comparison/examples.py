"""Queries whose first results change most between two scorers, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.short_repr import short_repr
from offsphere.comparison.row import Row
from offsphere.data.image import Image
from offsphere.data.items import Item, image_in_row, text_of_item
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.statistics.metrics import parse_metric
from offsphere.vectors.lengths import lengths

QUERIES, SHOWN = 5, 5
LONGEST = 280  # characters of a text that are shown


class RankedDocument(NamedTuple):
    """A document in a list of results, with what one needs to judge whether it belongs there."""

    id: str
    text: str
    length: float
    grade: float
    image: Image | None = None


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
    image: Image | None = None

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


def changed_queries(
    task: RankingTask, vectors: RankingVectors, first: Row, second: Row, *, memo: Memo | None = None
) -> list[Example]:
    """Find the queries whose value changes most between two scorers; gains and losses take turns.

    Args:
        task: what the queries and documents are.
        vectors: of the task.
        first: the row of one scorer.
        second: the row of the scorer it is held against.
        memo: keeps what was searched.

    Returns:
        At most five queries with their first results under both; none where the metric has no value a query.
    """
    if first.values is None or second.values is None:
        return []
    gains = first.values - second.values
    order = np.argsort(-np.abs(gains), kind="stable")
    chosen = _in_turns(order[gains[order] > 0], order[gains[order] < 0])[:QUERIES]
    if not len(chosen):
        return []
    queries = np.asarray(vectors.queries[chosen])
    query_lengths = lengths(queries)
    part = task.only(chosen)
    of_part = replace(vectors, queries=queries, query_tokens=None)
    asking = part.evaluator(of_part, parse_metric("ndcg@10"), chosen, memo=memo)
    first_lists, second_lists = (
        [
            _results(task, vectors, row[row >= 0], grades[row >= 0])
            for row, grades in zip(top.documents, part.judgments.gains(top.documents), strict=True)
        ]
        for top in asking.lists([first.scorer, second.scorer], SHOWN)
    )
    return [
        Example(
            id=task.query_ids[number],
            text=_shorten(task.query_texts[number]) if task.query_texts is not None else "",
            length=float(query_lengths[row]),
            first_value=float(first.values[number]),
            second_value=float(second.values[number]),
            shared=len({result.id for result in first_lists[row]} & {result.id for result in second_lists[row]}),
            first=first_lists[row],
            second=second_lists[row],
            image=image_in_row(task.query_texts, number),
        )
        for row, number in enumerate(chosen.tolist())
    ]


def _results(task: RankingTask, vectors: RankingVectors, documents: Index, grades: Array) -> list[RankedDocument]:
    """Look up the documents of one list of results; it is shorter where a query may get fewer."""
    grades, documents = grades[documents >= 0], documents[documents >= 0]
    document_lengths = lengths(np.asarray(vectors.documents[documents]))
    texts = task.document_texts
    return [
        RankedDocument(
            task.document_ids[row],
            _shorten(texts[row]) if texts is not None else "",
            float(length),
            float(grade),
            image_in_row(texts, row),
        )
        for row, length, grade in zip(documents.tolist(), document_lengths, grades, strict=True)
    ]


def _in_turns(left: Index, right: Index) -> Index:
    """Take the first of the left, the first of the right, the second of the left, ..."""
    turns = np.concatenate([np.arange(len(left)) * 2, np.arange(len(right)) * 2 + 1])
    return np.concatenate([left, right])[np.argsort(turns, kind="stable")]


def _shorten(item: Item) -> str:
    """What is shown of an item: a text, cut where it is too long, or the name of an image."""
    text = text_of_item(item)
    return text if len(text) <= LONGEST else text[:LONGEST].rstrip() + " ..."
