"""An ablation as a table for people."""

from __future__ import annotations

import shutil

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.learn.ablation import Ablation, Result, VariantRow

NARROW, ANOTHER = 124, 32  # columns the table needs, and for each task out of the domain


def print_ablation(found: Ablation) -> None:
    """Every variant, best first, on every task; then what of the papers holds."""
    needed = NARROW + ANOTHER * (len(found.tasks) - 1)
    console = Console(width=max(shutil.get_terminal_size((needed, 24)).columns, needed), highlight=False, markup=False)
    heads, rows = ablation_cells(found)
    table = Table(title=Text(_title(found), style="bold"), title_justify="left", box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))
    console.print(table)
    for line in found.footnotes:
        console.print(line, style="dim")
    for note in found.notes:
        console.print(f"note: {note}")
    console.print()
    for claim in found.findings:
        console.print(f"{claim.verdict}: {claim.claim} ({claim.paper}). {claim.evidence}", soft_wrap=True)
    console.print(found.conclusion, soft_wrap=True)


def ablation_cells(found: Ablation) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table."""
    base = found.rows[0].name
    heads = ["variant", found.metric, "95 % interval", "seeds", f"- {base}", "95 % interval", "p", "t", "rate"]
    for task in found.tasks[1:]:
        heads += [str(task["name"]), f"- {base}", "p"]
    return heads, [_cells(row) for row in found.ranked]


def _title(found: Ablation) -> str:
    return (
        f"{found.tasks[0]['name']}: {len(found.rows)} variants, {found.counts['pairs']:,} pairs, "
        f"{found.counts['held_out']:,} held out"
    )


def _cells(row: VariantRow) -> list[str]:
    first, *others = row.results
    cells = [row.name, f"{first.value:.4f}", f"{first.low:.4f} {first.high:.4f}", f"{first.spread:.4f}", *_apart(first)]
    cells += [f"{row.temperature:g}", f"{row.rate:g}"]
    for result in others:
        difference, _, p = _apart(result)
        cells += [f"{result.value:.4f}", difference, p]
    return cells


def _apart(result: Result) -> list[str]:
    if result.p is None:
        return ["", "", ""]
    around = f"{result.difference_low:+.4f} {result.difference_high:+.4f}"
    return [f"{result.difference:+.4f}", around, f"{result.p:.2g}"]
