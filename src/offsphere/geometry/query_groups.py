"""Groups of queries, read from a file: a line each, query id, tab, name of the group."""

from __future__ import annotations

from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.base.reading.tables import text_lines

COLUMNS = 2


def read_groups(path: Path) -> dict[str, str]:
    """The group of each query, by the query's id."""
    if not path.is_file():
        raise DataError(f"{path} is not a file of groups")
    groups: dict[str, str] = {}
    for number, line in text_lines(path):
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != COLUMNS or not all(parts):
            raise DataError(f"{path}, line {number}: expected a query id, a tab and a group, got {line.strip()!r}")
        if groups.setdefault(parts[0], parts[1]) != parts[1]:
            raise DataError(f"{path}, line {number}: query {parts[0]!r} is in two groups: keep one")
    return groups
