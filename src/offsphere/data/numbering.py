"""From ids, by which people name queries and documents, to row numbers, by which everything is computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from offsphere.base.errors import DataError
from offsphere.data.id_column import IdColumn
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment, Judgments, check_grade

BREAKING = frozenset("\t\n\r\0")  # what no id may hold: judgments and lists of ids have one a field, or one a line


def row_numbers(listed: ItemList, side: str, wanted: Iterable[str] | None = None) -> dict[str, int]:
    """The row of each id; an error where one is no text, stands there twice, is empty, or could not be in a table.

    Args:
        listed: The ids.
        side: What they are ids of, for errors.
        wanted: Those whose rows will be asked for, where not all are: the others of a column of ids are left out.
    """
    if isinstance(listed.ids, IdColumn):
        _check_column(listed.ids, listed.source, side)
        return listed.ids.rows_of(wanted) if wanted is not None else _rows_of_all(listed.ids)
    try:
        signs = set("".join(listed.ids))
    except TypeError as error:
        raise _no_text(listed, side) from error
    rows = _rows_of_all(listed.ids)
    if len(rows) < len(listed.ids):
        name, times = Counter(listed.ids).most_common(1)[0]
        raise _repeated(name, times, listed.source, side)
    if "" in rows:
        raise _empty(rows[""], listed.source, side)
    if BREAKING & signs:
        name = next(name for name in rows if BREAKING & set(name))
        raise _breaking(name, listed.source, side)
    return rows


def _rows_of_all(ids: Iterable[str]) -> dict[str, int]:
    return {name: row for row, name in enumerate(ids)}


def _check_column(ids: IdColumn, source: str, side: str) -> None:
    """Refuse a column in which an id stands twice, is empty, or could not be in a table."""
    repeated, empty, broken = ids.repeated(), ids.first_empty(), ids.first_with(BREAKING)
    if repeated is not None:
        raise _repeated(*repeated, source, side)
    if empty is not None:
        raise _empty(empty, source, side)
    if broken is not None:
        raise _breaking(broken, source, side)


def _repeated(name: str, times: int, source: str, side: str) -> DataError:
    return DataError(f"{source}: {side} id {name!r} stands there {times} times: ids must not repeat")


def _empty(row: int, source: str, side: str) -> DataError:
    return DataError(f"{source}: the {side} in row {row} has an empty id: give it one")


def _breaking(name: str, source: str, side: str) -> DataError:
    return DataError(f"{source}: {side} id {name!r} holds a tab or a line end: no table could name it")


def _no_text(listed: ItemList, side: str) -> DataError:
    """The error for ids of which one is a number, a flag, a list or nothing."""
    row, name = next((row, name) for row, name in enumerate(listed.ids) if not isinstance(name, str))
    return DataError(
        f"{listed.source}: the {side} id in row {row} is {name!r}, of type {type(name).__name__}: ids are texts"
    )


def number_judgments(
    judged: Iterable[Judgment], query_rows: Mapping[str, int], document_rows: Mapping[str, int], counts: tuple[int, int]
) -> tuple[Judgments, list[Judgment]]:
    """The judgments by row numbers, and those whose query or document is not listed.

    A pair may be judged twice if both agree. ``counts`` are those of all queries and of all documents.
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
    return Judgments.of(pairs[:, 0], pairs[:, 1], values, *counts), missing
