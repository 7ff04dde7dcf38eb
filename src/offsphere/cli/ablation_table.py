"""An ablation as a table for people."""

from __future__ import annotations

import shutil

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.learn.ablation.ablation import Ablation, VariantResult, VariantRow

DYNAMICS = {
    "document_length": "length",
    "document_anisotropy": "anisotropy",
    "document_uniformity": "uniformity",
    "alignment": "alignment",
    "negative_variance": "var(neg)",
    "token_anisotropy": "token anis.",
    "token_length": "token length",
    "token_self_adjusted": "self adj.",
    "token_intra_adjusted": "intra adj.",
}
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


def print_dynamics(found: Ablation) -> None:
    """What each variant did to the probe: the last row of its dynamics."""
    last = {row["variant"]: row for row in found.dynamics}
    shown = {name: head for name, head in DYNAMICS.items() if any(row.get(name) is not None for row in last.values())}
    table = Table(title=Text("The probe at the end", style="bold"), title_justify="left", box=None, pad_edge=False)
    for place, head in enumerate(["variant", *shown.values()]):
        table.add_column(head, justify="left" if place == 0 else "right", no_wrap=True)
    start = next(iter(found.dynamics), None)
    if start is not None:
        table.add_row(Text("before"), *(Text(f"{start[name]:.3f}") for name in shown))
    for name, row in last.items():
        table.add_row(Text(name), *(Text(f"{row[column]:.3f}") for column in shown))
    Console(width=NARROW, highlight=False, markup=False).print(table)


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


def _apart(result: VariantResult) -> list[str]:
    if result.p is None:
        return ["", "", ""]
    around = f"{result.difference_low:+.4f} {result.difference_high:+.4f}"
    return [f"{result.difference:+.4f}", around, f"{result.p:.2g}"]
