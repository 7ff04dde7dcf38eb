"""Documents worth a look: those found by everything, those never found, the longest and the shortest vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.short_repr import short_repr
from offsphere.comparison.query_rows import table_texts
from offsphere.data.image import Image
from offsphere.data.items import image_in_row
from offsphere.data.task import Task
from offsphere.geometry.shape import Geometry

ENDS = 10  # of the longest, and of the shortest


class NotableDocument(NamedTuple):
    """A document with what tells why it stands here."""

    id: str
    text: str
    length: float
    relevant: bool  # to some query
    lists: int | None  # of the nearest that it is in, where that was counted
    image: Image | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NotableDocuments:
    """Documents worth a look, in four groups.

    Attributes:
        scorer: The scorer whose lists were counted; empty where there were none.
        k: How long these lists are.
        queries: How many lists there are.
        hubs: Those in most lists.
        never: Some in no list, those that are relevant to a query first.
        longest: Those with the longest vectors, the longest first.
        shortest: Those with the shortest vectors, the shortest first.
    """

    scorer: str
    k: int
    queries: int
    hubs: Sequence[NotableDocument]
    never: Sequence[NotableDocument]
    longest: Sequence[NotableDocument]
    shortest: Sequence[NotableDocument]

    __repr__ = short_repr


def notable_documents(task: Task, shape: Geometry, searched: Array, scorer: str) -> NotableDocuments:
    """Find the documents worth a look.

    Args:
        task: What the documents are.
        shape: Whose section on hubs says what is in how many lists.
        searched: The lengths of the searched side's vectors.
        scorer: The scorer whose lists are wanted; those of the first that was looked at where it was not.

    Returns:
        At most ten of each group.
    """
    named = {row.scorer: row for row in shape.hubness}
    counted = named.get(scorer) or (shape.hubness[0] if shape.hubness else None)
    order = np.argsort(-searched, kind="stable")
    count = min(ENDS, len(order) // 2)
    occurrences = {hub.id: hub.occurrences for hub in counted.worst if hub.occurrences} if counted is not None else {}
    never = dict.fromkeys(counted.never, 0) if counted is not None else {}
    return NotableDocuments(
        scorer=counted.scorer if counted is not None else "",
        k=counted.k if counted is not None else 0,
        queries=counted.queries if counted is not None else 0,
        hubs=_by_id(task, searched, occurrences),
        never=_by_id(task, searched, never),
        longest=_by_row(task, searched, order[:count].tolist(), {}),
        shortest=_by_row(task, searched, order[::-1][:count].tolist(), {}),
    )


def _by_id(task: Task, searched: Array, lists: dict[str, int]) -> list[NotableDocument]:
    """Look documents up by what they are called, in the order given."""
    ids = _ids(task, len(searched))
    rows = {name: row for row, name in enumerate(ids) if name in lists}
    known = [rows[name] for name in lists if name in rows]
    return _by_row(task, searched, known, {rows[name]: count for name, count in lists.items() if name in rows})


def _by_row(task: Task, searched: Array, rows: Sequence[int], lists: dict[int, int]) -> list[NotableDocument]:
    """Describe the documents of some rows."""
    relevant = task.relevant_to_any()
    ids = _ids(task, len(searched))
    items = task.sides[1].items
    texts = table_texts(items, np.array(rows, np.int64))
    return [
        NotableDocument(
            ids[row],
            text,
            float(searched[row]),
            bool(relevant is not None and relevant[row]),
            lists.get(row),
            image_in_row(items, row),
        )
        for row, text in zip(rows, texts, strict=True)
    ]


def _ids(task: Task, count: int) -> Sequence[str]:
    """What the documents are called: by their ids, or by their row where there are none."""
    return task.sides[1].ids or [str(row) for row in range(count)]
