"""An ablation as a table for people, and what its variants did while they were trained."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.cli.tables.paragraphs import paragraph
from offsphere.learning.ablation.ablation import Ablation, VariantResult, VariantRow
from offsphere.wording.written_numbers import chance_alone

DYNAMICS = {
    "document_length": "mean\nlength",
    "document_anisotropy": "anisotropy",
    "document_uniformity": "uniformity",
    "alignment": "alignment",
    "negative_variance": "variance of\nnegatives",
    "token_anisotropy": "token\nanisotropy",
    "token_length": "token\nlength",
    "token_self_adjusted": "token self-\nsimilarity",
    "token_intra_adjusted": "similarity\nin a text",
    "token_self_gap": "meaningful less\nfunctional",
}
HEAD = "head"  # of variants that learn length apart
WIDEST = 1_000  # columns of a table, far more than one has


def print_ablation(ablation: Ablation) -> None:
    """Print every variant, best first, on every task; then what of the papers holds."""
    table = _table(_title(ablation), *ablation_cells(ablation))
    console = _as_wide_as(table)
    console.print(table)
    learned_apart = f"{HEAD}: the length of a document is learned by a part of its own"
    apart = any(HEAD in row.name.replace(",", " ").split() for row in ablation.rows)
    for line in (*ablation.footnotes, *([learned_apart] if apart else [])):
        console.print(Text(paragraph(line)), style="dim", soft_wrap=True)
    for note in ablation.notes:
        console.print(Text(paragraph(f"note: {note}")), soft_wrap=True)
    console.print()
    for claim in ablation.findings:
        told = f"{claim.verdict}: {claim.claim} ({claim.paper}). {claim.evidence}"
        console.print(Text(paragraph(told, "", "  ")), soft_wrap=True)
    console.print(Text(paragraph(ablation.conclusion)), soft_wrap=True)


def print_dynamics(ablation: Ablation) -> None:
    """Print what each variant did to the held-out probe: the last row of its dynamics, and what it started from."""
    title = "The probe at the end" + (", of the first seed" if ablation.seeds > 1 else "")
    table = _table(title, *dynamics_cells(ablation))
    _as_wide_as(table).print(table)


def _table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of variants: their names, then numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=None, pad_edge=False)
    for column, head in enumerate(heads):
        table.add_column(head, justify="left" if column == 0 else "right", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))
    return table


def _as_wide_as(table: Table) -> Console:
    """A console that cuts no number of a table, however narrow the terminal is."""
    needed = Console(width=WIDEST).measure(table).maximum
    return Console(width=max(shutil.get_terminal_size((needed, 24)).columns, needed), highlight=False, markup=False)


def dynamics_cells(ablation: Ablation) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the probe: what variants start from, which differs by pooling, then what each comes to."""
    whole = [row for row in ablation.dynamics if row.get("layer") is None]
    first = {row["variant"]: row for row in reversed(whole)}
    last = {row["variant"]: row for row in whole}
    shown = {name: head for name, head in DYNAMICS.items() if any(row.get(name) is not None for row in last.values())}

    def numbers(row: Mapping[str, Any]) -> list[str]:
        return [f"{row[name]:.3f}" for name in shown]

    starts = [[f"{name}, before", *numbers(first[name])] for name in last]
    if len({tuple(start[1:]) for start in starts}) == 1:
        starts = [["before", *starts[0][1:]]]
    return ["variant", *shown.values()], [*starts, *([name, *numbers(row)] for name, row in last.items())]


def ablation_cells(ablation: Ablation) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of an ablation."""
    base = ablation.rows[0].name
    heads = ["variant", ablation.metric, f"95 % interval\nof {ablation.metric}", "spread\nover seeds"]
    heads += [f"difference\nfrom {base}", "95 % interval\nof difference", "p", "temperature", "learning\nrate"]
    for task in ablation.tasks[1:]:
        heads += [f"{task['name']}:\n{ablation.metric}", f"difference\nfrom {base}", "p"]
    return heads, [_cells(row) for row in ablation.ranked]


def _title(ablation: Ablation) -> str:
    return (
        f"{ablation.tasks[0]['name']}: {len(ablation.rows)} variants, {ablation.counts['pairs']:,} pairs, "
        f"{ablation.counts['held_out']:,} held out"
    )


def _cells(row: VariantRow) -> list[str]:
    first, *others = row.results
    cells = [
        row.name,
        f"{first.value:.4f}",
        f"{first.low:.4f} {first.high:.4f}",
        f"{first.spread:.4f}",
        *_difference_cells(first),
    ]
    cells += [f"{row.temperature:g}", f"{row.rate:g}"]
    for result in others:
        difference, _, p = _difference_cells(result)
        cells += [f"{result.value:.4f}", difference, p]
    return cells


def _difference_cells(result: VariantResult) -> list[str]:
    if result.p is None:
        return ["", "", ""]
    interval = f"{result.difference_low:+.4f} {result.difference_high:+.4f}"
    return [f"{result.difference:+.4f}", interval, chance_alone(result.p)]
