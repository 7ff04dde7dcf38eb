"""From ids, by which people name queries and documents, to row numbers, by which everything is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from offsphere.base.errors import DataError
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment, Judgments, check_grade

BREAKING = frozenset("\t\n\r\0")  # what no id may hold: judgments and lists of ids have one a field, or one a line


def row_numbers(listed: ItemList, side: str) -> dict[str, int]:
    """The row of each id; an error where one is no text, stands there twice, is empty, or could not be in a table."""
    try:
        signs = set("".join(listed.ids))
    except TypeError as error:
        raise _no_text(listed, side) from error
    rows = {name: row for row, name in enumerate(listed.ids)}
    if len(rows) < len(listed.ids):
        name, times = Counter(listed.ids).most_common(1)[0]
        raise DataError(f"{listed.source}: {side} id {name!r} stands there {times} times: ids must not repeat")
    if "" in rows:
        raise DataError(f"{listed.source}: the {side} in row {rows['']} has an empty id: give it one")
    if BREAKING & signs:
        name = next(name for name in rows if BREAKING & set(name))
        raise DataError(f"{listed.source}: {side} id {name!r} holds a tab or a line end: no table could name it")
    return rows


def _no_text(listed: ItemList, side: str) -> DataError:
    """The error for ids of which one is a number, a flag, a list or nothing."""
    row, name = next((row, name) for row, name in enumerate(listed.ids) if not isinstance(name, str))
    return DataError(
        f"{listed.source}: the {side} id in row {row} is {name!r}, of type {type(name).__name__}: ids are texts"
    )


def number_judgments(
    judged: Iterable[Judgment], query_rows: Mapping[str, int], document_rows: Mapping[str, int]
) -> tuple[Judgments, list[Judgment]]:
    """The judgments by row numbers, and those whose query or document is not listed.

    A pair may be judged twice if both agree.
    """
    grades: dict[tuple[int, int], float] = {}
    missing = []
    for judgment in judged:
        query, document = query_rows.get(judgment.query), document_rows.get(judgment.document)
        if query is None or document is None:
            missing.append(judgment)
            continue
        check_grade(judgment)
        before = grades.setdefault((query, document), judgment.grade)
        if before != judgment.grade:
            raise DataError(
                f"{judgment.where or 'judgments'}: query {judgment.query!r}, document {judgment.document!r}: judged "
                f"{before:g} and {judgment.grade:g}: keep one"
            )
    pairs = np.array(list(grades), np.int64).reshape(-1, 2)
    values = np.array(list(grades.values()), np.float64)
    return Judgments.of(pairs[:, 0], pairs[:, 1], values, len(query_rows), len(document_rows)), missing
