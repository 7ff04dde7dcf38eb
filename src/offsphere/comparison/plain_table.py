"""A comparison as plain text, for ``print(table)``: the best rows, those everybody asks for, and the conclusion."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from offsphere.comparison.row import Row
from offsphere.wording.written_numbers import chance_alone

if TYPE_CHECKING:
    from offsphere.comparison.list_row import ListRow
    from offsphere.comparison.table import Comparison

SHOWN = 12  # rows, besides the baseline, dot and the chosen one
WIDTH = 100
LONGEST_NAME = 46


def plain_table(table: Comparison) -> str:
    """Write a comparison in lines of at most 100 characters; all of its rows are in ``table.rows``."""
    header, rows, hidden = shown_cells(table)
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    written = [
        line[0].ljust(widths[0])
        + "".join(f"  {cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    ]
    rest = [f"... and {hidden} more rows"] if hidden else []
    if table.lists:
        rest.append("† no formula of these vectors: it is compared, and cannot be saved or exported")
    if table.stored:
        rest.append(f"... and {len(table.stored)} rows of what storing costs, in table.stored")
    return "\n".join([*(line.rstrip() for line in written), *rest, "", fill(table.conclusion, WIDTH)])


def shown_cells(table: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]], int]:
    """The heads, the cells of the rows that are shown, and how many rows are not."""
    every = table.every_row
    rows = [row for rank, row in enumerate(every) if rank < SHOWN or _always_shown(row, table)]
    header = ("scorer", table.metric, f"over {table.baseline}", "95 % interval of that", "p")
    return header, [_cells(row) for row in rows], len(every) - len(rows)


def _always_shown(row: Row | ListRow, table: Comparison) -> bool:
    """Tell whether a row is one that everybody asks for, or that somebody brought."""
    if not isinstance(row, Row):
        return True
    names = (row.name, *row.same_ranking_as)
    return table.baseline in names or "dot" in names or row is table.chosen


def _cells(row: Row | ListRow) -> tuple[str, ...]:
    """Write the cells of one row; a long name is cut."""
    name = row.label if len(row.label) <= LONGEST_NAME else row.label[: LONGEST_NAME - 3] + "..."
    if row.p is None:
        return name, f"{row.value:.4f}", "", "", ""
    interval = f"{row.difference_low:+.4f} {row.difference_high:+.4f}"
    return name, f"{row.value:.4f}", f"{row.difference:+.4f}", interval, chance_alone(row.p)
