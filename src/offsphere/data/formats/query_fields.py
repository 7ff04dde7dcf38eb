"""What lines of ``queries.jsonl`` say besides an id and a text: answers, and fields that group the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import json_lines
from offsphere.data.grouping import MOST_LABELS, Grouping

KNOWN = ("_id", "id", "text", "title", "answers", "answer", "metadata")


class QueryFields(NamedTuple):
    """The answers to each query, where the data has some, and its groupings, a label a query."""

    answers: Sequence[Sequence[str]] | None
    groups: Sequence[Grouping]


def read_query_fields(path: Path) -> QueryFields:
    """Read the answers and groups of all queries, in their order.

    Raises:
        DataError: A query has no answer where others have some, or its answers are no texts.
    """
    entries = list(json_lines(path))
    answered = any("answers" in entry or "answer" in entry for _, entry in entries)
    answers = [_answers(entry, f"{path}:{line}") for line, entry in entries] if answered else None
    return QueryFields(answers, _groups([entry for _, entry in entries]))


def _answers(entry: Mapping[str, Any], where: str) -> list[str]:
    """The answers of one line: a list of texts, or one text."""
    given = entry.get("answers", entry.get("answer"))
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(answer, str) for answer in listed):
        raise DataError(f"{where}: the answers are {given!r}: expected a list of texts")
    if not any(answer.strip() for answer in listed):
        raise DataError(f"{where}: the list of answers is empty: give at least one answer, or leave the query out")
    return [answer for answer in listed if answer.strip()]


def _groups(entries: Sequence[Mapping[str, Any]]) -> list[Grouping]:
    """Fields that every query has and that name a few groups: with more labels than that they name the queries."""
    if not entries:
        return []
    names = [name for name in entries[0] if name not in KNOWN]
    groups = []
    for name in names:
        values = [entry.get(name) for entry in entries]
        if all(isinstance(value, str | int) and not isinstance(value, bool) for value in values):
            labels = [str(value) for value in values]
            if 1 < len({*labels}) <= MOST_LABELS:
                groups.append(Grouping(name, labels))
    return groups
