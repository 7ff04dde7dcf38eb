"""What storing costs, printed for people: each scorer on each stored form beside itself on whole vectors."""

from __future__ import annotations

from itertools import groupby

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.cli.tables.paragraphs import TABLE_WIDTH, echo_items, paragraph
from offsphere.comparison.row import Row
from offsphere.comparison.stored_row import StoredRow
from offsphere.comparison.table import Comparison
from offsphere.wording.written_numbers import chance_alone, signed


def print_stored(result: Comparison) -> None:
    """Print what each stored form costs; nothing where none was asked for.

    Args:
        result: The comparison, with its stored rows.
    """
    if not result.stored:
        return
    typer.echo()
    typer.secho("What storing costs:", bold=True)
    console = Console(width=TABLE_WIDTH, highlight=False, markup=False)
    console.print(_table(result))
    for line in _footnotes(result):
        console.print(paragraph(line), style="dim", soft_wrap=True)
    forms = dict.fromkeys(row.form for row in result.stored)
    echo_items("What is stored", (f"{form.name}: {form.phrase}" for form in forms))


def _table(result: Comparison) -> Table:
    """The rows, those of one scorer below each other, under heads that say what each column holds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("scorer", overflow="fold")
    table.add_column("stored as", overflow="fold")
    heads = ("bytes", result.metric, "change from\nfloat32", "95 % interval\nof change", "p")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for whole, rows in groupby(result.stored, key=lambda row: row.of):
        stored = list(rows)
        table.add_row(*map(Text, _whole_cells(whole, stored[0].whole_bytes)))
        for row in stored:
            table.add_row(*map(Text, _cells(row)))
    return table


def _whole_cells(row: Row, whole_bytes: int) -> list[str]:
    """Write the cells of a scorer on whole vectors, which the rows below it are held against."""
    return [
        f"{row.deployed}*" if row.tuned else row.name,
        "float32",
        f"{whole_bytes:,}",
        f"{row.value:.4f}",
        "",
        "",
        "",
    ]


def _cells(row: StoredRow) -> list[str]:
    """Write the cells of one stored form; whose it is stands above."""
    interval = f"{signed(row.change_low)} {signed(row.change_high)}"
    cells = ["", row.form.name, f"{row.vector_bytes:,}", f"{row.value:.4f}", signed(row.change), interval]
    return [*cells, chance_alone(row.change_p)]


def _footnotes(result: Comparison) -> list[str]:
    """What one must know to read the table."""
    rows = result.stored
    others = f", corrected for {len(rows)} stored rows" if len(rows) > 1 else ""
    lines = [f"p is of the change from the same scorer on whole vectors{others}"]
    if any(row.form.oversampling is not None for row in rows):
        lines.append("re-ranking reads whole vectors too, which must be kept somewhere")
    return lines
