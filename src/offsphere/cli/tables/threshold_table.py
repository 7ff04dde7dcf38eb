"""Thresholds, printed for people: what is promised, then a row a scorer with what its threshold really gives."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.cli.tables.paragraphs import TABLE_WIDTH, echo_items, echo_verdict, paragraph
from offsphere.comparison.shown import ThresholdOutcome
from offsphere.comparison.thresholds import Thresholds

HEADS = ("precision\nof what is shown", "recall", "false\nalarms", "queries with\nresults", "shown\na query")
NOTES = (
    "all numbers are of queries that took no part in the choice of their threshold (cross-fitting)",
    "false alarms: the share of queries that are shown something after their relevant documents were taken away",
    "one threshold keeps: average precision of all results in one pool, over that of each query alone",
)


def print_thresholds(thresholds: Thresholds) -> None:
    """Print the promise, the thresholds side by side, and what they give elsewhere where that was tried.

    Args:
        thresholds: The thresholds.
    """
    task = thresholds.task
    title = f"{task['name']}: {task['queries']:,} queries, {task['documents']:,} documents"
    typer.secho(paragraph(title), bold=True)
    typer.echo()
    echo_verdict(_sentences(thresholds))
    typer.echo()
    console = Console(width=TABLE_WIDTH, highlight=False, markup=False)
    kept = [(row.name, row.threshold, row.kept, row.outcome) for row in thresholds.rows]
    console.print(_table(kept, "one threshold\nkeeps"))
    for line in NOTES:
        console.print(paragraph(line), style="dim", soft_wrap=True)
    if thresholds.also is not None:
        typer.echo()
        typer.secho(f"The same thresholds on {thresholds.also['name']}:", bold=True)
        console.print(_table([(row.name, row.threshold, None, row.elsewhere) for row in thresholds.rows], None))
    echo_items("Mind", (f"{note[0].upper()}{note[1:]}." for note in thresholds.notes))


def _sentences(thresholds: Thresholds) -> list[str]:
    """What to do, and what that promises."""
    best = thresholds.best
    promise = f"The promise: {thresholds.goal.promise}."
    if best is None or best.threshold is None:
        return [f"No threshold of these scorers keeps {thresholds.goal.kind} {thresholds.goal.level:g}.", promise]
    return [f"Show what {best.name} scores at least {best.threshold:.4g}.", promise]


def _table(rows: Sequence[tuple[str, float | None, float | None, ThresholdOutcome | None]], last: str | None) -> Table:
    """A row a scorer under heads that say what each column holds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("scorer", overflow="fold")
    for head in ("show\nfrom", *HEADS, *([last] if last is not None else [])):
        table.add_column(head, justify="right", no_wrap=True)
    for name, threshold, kept, outcome in rows:
        cells = [name, "none" if threshold is None else f"{threshold:.4g}", *_numbers(outcome)]
        table.add_row(*map(Text, [*cells, *([f"{kept:.0%}"] if kept is not None else [])]))
    return table


def _numbers(outcome: ThresholdOutcome | None) -> list[str]:
    """The numbers of an outcome, those that are promised with their interval below."""
    if outcome is None:
        return ["-"] * len(HEADS)
    shares = (outcome.precision, outcome.recall, outcome.false_alarms)
    cells = [f"{value:.3f}\n{low:.3f} {high:.3f}" for value, low, high in shares]
    return [*cells, f"{outcome.answered[0]:.1%}", f"{outcome.shown[0]:.1f}"]
