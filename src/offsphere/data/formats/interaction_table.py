"""A table of interactions as it stands in a file: who, what, how it was rated, and when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.errors import DataError
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.parquet_files import parquet_schema, read_columns
from offsphere.base.reading.tables import first_row_as_it_stands, number, refuse_repeated, table_rows

STEM = "interactions"
SUFFIXES = (".tsv", ".csv", ".parquet")
USERS = ("user", "user_id", "userid", "user-id")
ITEMS = ("item", "item_id", "itemid", "item-id")
RATINGS = ("rating", "rate", "stars", "weight")
TIMES = ("timestamp", "time", "date")
NAMES = {name: column for column in (USERS, ITEMS, RATINGS, TIMES) for name in column}
EXPECTED = "user, item, rating (or none), timestamp (or none)"


class InteractionRow(NamedTuple):
    """One row: the line on which it stands, and its fields as they were read."""

    line: int
    user: Any
    item: Any
    rating: Any = None
    time: Any = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InteractionTable:
    """Interactions by the numbers of users and items, sorted by user; each pair stands there once."""

    path: Path
    user_ids: Sequence[str]
    item_numbers: Mapping[str, int]
    users: Index
    items: Index
    ratings: Array | None
    times: Array | None
    lines: Index  # where each stands in the file
    repeated: int = 0  # interactions that repeat an earlier one
    item_count: int = 0

    def with_items(self, numbers: Index, count: int) -> InteractionTable:
        """The same interactions by other numbers of their items, of which there are so many."""
        return replace(self, items=numbers, item_count=count)

    def only(self, rows: Flags) -> InteractionTable:
        """Some of the interactions."""
        if not rows.any():
            raise DataError(f"{self.path}: none of its items is listed: there is nothing to learn from")
        return replace(
            self,
            users=self.users[rows],
            items=self.items[rows],
            ratings=self.ratings[rows] if self.ratings is not None else None,
            times=self.times[rows] if self.times is not None else None,
            lines=self.lines[rows],
        )


def interaction_file(path: Path) -> Path | None:
    """The table of interactions of a folder, or a file if it is one; nothing where there is none."""
    if path.is_dir():
        files = [path / f"{STEM}{suffix}" for suffix in SUFFIXES if is_there(path / f"{STEM}{suffix}")]
        if len(files) > 1:
            raise DataError(f"{path} has {' and '.join(file.name for file in files)}: keep the one to use")
        return files[0] if files else None
    known = path.suffix.lower() in SUFFIXES and (path.stem == STEM or _names_both(path))
    return path if known else None


def read_interaction_table(path: Path) -> InteractionTable:
    """Read a table with or without a header; without one its columns are user, item, rating, timestamp.

    Raises:
        DataError: A row has no user or no item, or a rating or time that is no number; or there are no rows.
    """
    entries = list(_parquet_entries(path) if path.suffix.lower() == ".parquet" else _text_entries(path))
    if not entries:
        raise DataError(f"{path} has no interactions: expected {EXPECTED}")
    users: dict[str, int] = {}
    items: dict[str, int] = {}
    first: dict[tuple[int, int], int] = {}  # of each pair, the row at which it stands first
    for row, entry in enumerate(entries):
        user = users.setdefault(_id(entry.user, "user", path, entry.line), len(users))
        item = items.setdefault(_id(entry.item, "item", path, entry.line), len(items))
        first.setdefault((user, item), row)
    pairs = np.array(list(first), np.int64)
    rows = np.array(list(first.values()), np.int64)
    order = np.lexsort((rows, pairs[:, 0]))
    kept = [entries[row] for row in rows[order].tolist()]
    return InteractionTable(
        path=path,
        user_ids=list(users),
        item_numbers=items,
        users=pairs[order, 0],
        items=pairs[order, 1],
        ratings=_numbers([entry.rating for entry in kept], kept, path, "rating"),
        times=_numbers([entry.time for entry in kept], kept, path, "timestamp"),
        lines=np.array([entry.line for entry in kept], np.int64),
        repeated=len(entries) - len(first),
        item_count=len(items),
    )


def _text_entries(path: Path) -> Iterator[InteractionRow]:
    """The rows of a TSV or CSV file."""
    header, rows = table_rows(path)
    named = [NAMES.get(name) for name in header]
    if USERS in named and ITEMS in named:
        refuse_repeated(path, header, [*USERS, *ITEMS, *RATINGS, *TIMES])
        columns = [named.index(names) if names in named else None for names in (USERS, ITEMS, RATINGS, TIMES)]
    else:
        if not 2 <= len(header) <= 4:  # noqa: PLR2004
            raise DataError(f"{path} begins with {len(header)} columns of unknown names: expected {EXPECTED}")
        columns = [column if column < len(header) else None for column in range(4)]
        rows = chain([first_row_as_it_stands(path)], rows)  # the header has lost its capitals
    for line, row in rows:
        yield InteractionRow(line, *(row[column].strip() if column is not None else None for column in columns))


def _parquet_entries(path: Path) -> Iterator[InteractionRow]:
    """The rows of a parquet file, which are counted from one."""
    schema, _ = parquet_schema(path)
    named = {NAMES[name.lower()]: name for name in schema.names if name.lower() in NAMES}
    if USERS not in named or ITEMS not in named:
        raise DataError(f"{path} has the columns {', '.join(schema.names) or 'none'}: expected {EXPECTED}")
    columns = read_columns(path, list(named.values()))
    wanted = [columns[named[column]] if column in named else None for column in (USERS, ITEMS, RATINGS, TIMES)]
    for row in range(len(columns[named[USERS]])):
        yield InteractionRow(row + 1, *(column[row] if column is not None else None for column in wanted))


def _names_both(path: Path) -> bool:
    """Whether a table names users and items in its header."""
    try:
        names = parquet_schema(path)[0].names if path.suffix.lower() == ".parquet" else table_rows(path)[0]
    except DataError:
        return False
    columns = {NAMES.get(name.lower()) for name in names}
    return USERS in columns and ITEMS in columns


def _id(value: Any, what: str, path: Path, line: int) -> str:
    """An id as a text; an error where there is none."""
    if value is None or value == "" or isinstance(value, float | bool):
        raise DataError(f"{path}:{line}: the {what} is {value!r}: ids are texts or whole numbers")
    return str(value)


def _numbers(values: Sequence[Any], entries: Sequence[InteractionRow], path: Path, what: str) -> Array | None:
    """A column of numbers; nothing where the table has no such column."""
    if all(value is None for value in values):
        return None
    read = (value.timestamp() if isinstance(value, datetime) else value for value in values)
    return np.array(
        [number(str(value), f"{path}:{entry.line}", what) for value, entry in zip(read, entries, strict=True)]
    )
