"""A comparison, printed as a table for people."""

from __future__ import annotations

import shutil

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison

SHOWN = 12  # rows, besides cosine and dot
NARROW = 110  # columns the table needs


def print_comparison(result: Comparison, *, every_row: bool = False) -> None:
    """Print the best rows, cosine and dot, and the conclusion; every row where that is asked for."""
    console = Console(width=max(shutil.get_terminal_size((NARROW, 24)).columns, NARROW), highlight=False, markup=False)
    rows = [row for rank, row in enumerate(result.rows) if every_row or rank < SHOWN or _always_shown(row, result)]
    table = Table(title=Text(_title(result), style="bold"), title_justify="left", box=None, pad_edge=False)
    for column, justify in (("scorer", "left"), (result.metric, "right"), ("95 % interval", "right")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    table.add_column(f"- {result.baseline}", justify="right")
    table.add_column("95 % interval", justify="right")
    table.add_column("p", justify="right")
    for row in rows:
        table.add_row(*map(Text, _cells(row)), style="bold" if row is result.chosen else None)
    console.print(table)
    if any(row.tuned for row in rows):
        console.print("* tuned by cross-validation; the value is of held-out queries", style="dim")
    console.print(_what_p_is(result), style="dim")
    hidden = len(result.rows) - len(rows)
    if hidden:
        console.print(f"... and {hidden} more rows: --all or --json", style="dim")
    for row in rows:
        if row.same_ranking_as:
            console.print(f"{row.name} ranks as {', '.join(row.same_ranking_as)}", style="dim")
    for note in result.notes:
        console.print(f"note: {note}")
    console.print()
    console.print(result.conclusion, soft_wrap=True)


def _always_shown(row: Row, result: Comparison) -> bool:
    """Tell whether a row is one that everybody asks for: the baseline, the dot product, the chosen one."""
    names = (row.name, *row.same_ranking_as)
    return result.baseline in names or "dot" in names or row is result.chosen


def _what_p_is(result: Comparison) -> str:
    """Tell which p stand alone and which are corrected."""
    planned = [row.name for row in result.rows if row.planned]
    others = sum(row.p is not None and not row.planned for row in result.rows)
    corrected = f"p is corrected for {others} rows" if others else ""
    alone = f"that of {' and '.join(planned)}, asked for beforehand, stands alone" if planned else ""
    return "; ".join(filter(None, ("an interval is for its row alone", corrected, alone)))


def _title(result: Comparison) -> str:
    """Name the task and its size."""
    task = result.task
    split = f" ({task['split']})" if task.get("split") else ""
    if task["kind"] == "pairs":
        return f"{task['name']}: {task['pairs']:,} pairs"
    return f"{task['name']}{split}: {task['queries']:,} queries, {task['documents']:,} documents"


def _cells(row: Row) -> list[str]:
    """Write the cells of one row."""
    cells = [row.label, f"{row.value:.4f}", f"{row.low:.4f} {row.high:.4f}"]
    if row.p is None:
        return [*cells, "", "", ""]
    return [*cells, f"{row.difference:+.4f}", f"{row.difference_low:+.4f} {row.difference_high:+.4f}", f"{row.p:.2g}"]
