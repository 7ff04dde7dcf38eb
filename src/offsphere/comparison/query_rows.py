"""Queries as rows of a table: what each asks, and its value under two scorers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.short_repr import short_repr
from offsphere.comparison.row import Row
from offsphere.data.items import Item, text_of_item
from offsphere.data.ranking_task import RankingTask

MOST_ROWS = 3_000
LONGEST = 140  # characters of a text that a table shows


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Some queries of a task, with what a table shows of them."""

    rows: Index
    ids: Sequence[str]
    texts: Sequence[str]
    first: Array  # the value of each query under one scorer; not a number where the metric has none a query
    second: Array  # under the other

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)


def query_rows(task: RankingTask, first: Row, second: Row, held: Index) -> QueryRows:
    """List queries: those that are held in their order, then all others by how much they change, up to a few thousand.

    Args:
        task: What the queries are.
        first: The row of one scorer.
        second: The row of the scorer it is held against.
        held: Rows of the queries that come first.

    Returns:
        The queries.
    """
    nothing = np.full(task.units, np.nan)
    values = [nothing if row.values is None else row.values for row in (first, second)]
    order = np.argsort(-np.abs(values[0] - values[1]), kind="stable")
    others = order[~np.isin(order, held)]
    rows = np.concatenate([held, others[: max(0, MOST_ROWS - len(held))]])
    return QueryRows(
        rows,
        [task.query_ids[row] for row in rows.tolist()],
        table_texts(task.query_texts, rows),
        values[0][rows],
        values[1][rows],
    )


def table_texts(items: Sequence[Item] | None, rows: Index) -> list[str]:
    """What a table shows of some items: their texts on one line, cut where too long; nothing where there are none."""
    if items is None:
        return [""] * len(rows)
    return [_on_one_line(text_of_item(items[row])) for row in rows.tolist()]


def _on_one_line(text: str) -> str:
    """Cut a long text after a word; one that has no spaces is cut anywhere."""
    text = " ".join(text[: 4 * LONGEST].split())
    return text if len(text) <= LONGEST else (text[:LONGEST].rpartition(" ")[0] or text[:LONGEST]) + " ..."
