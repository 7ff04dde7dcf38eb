"""A comparison, printed for people: what to do first, then the table it rests on."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.base.shown_ids import shown_id
from offsphere.cli.tables.paragraphs import TABLE_WIDTH, echo_items, echo_verdict, paragraph
from offsphere.comparison.breakdown import Breakdown
from offsphere.comparison.list_row import ListRow
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.comparison.units import is_of_pairs, size_of_task, unit_of
from offsphere.comparison.verdict import recommended_choice
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import chance, chance_alone, share, with_interval

SHOWN = 8  # rows, besides the baseline, dot and the chosen one
CHOICES = 6  # scorers of the choices that are named


def print_comparison(result: Comparison, *, every_row: bool = False, verbose: bool = False) -> None:
    """Print what to do, then the best rows, cosine and dot.

    Args:
        result: The comparison.
        every_row: Whether to print all rows.
        verbose: Whether to say also which names rank alike and how often each scorer was chosen.
    """
    every = result.every_row
    rows = [row for rank, row in enumerate(every) if every_row or rank < SHOWN or _always_shown(row, result)]
    typer.secho(paragraph(_title(result)), bold=True)
    typer.echo()
    echo_verdict(finding.sentence for finding in result.findings)
    typer.echo()
    console = Console(width=TABLE_WIDTH, highlight=False, markup=False)
    console.print(_table(result, rows))
    for line in _footnotes(result, rows):
        console.print(paragraph(line), style="dim", soft_wrap=True)
    print_groups(result)
    echo_items("What they do", _phrases(rows))
    if verbose:
        echo_items("Which names rank alike", _alike(rows))
        echo_items("If the tool chooses", _choices(result))
    echo_items("Mind", (f"{note[0].upper()}{note[1:]}." for note in result.notes))


def print_groups(result: Comparison) -> None:
    """Print the rows that matter in each group of queries; nothing where nobody asked for groups."""
    if result.breakdown is not None:
        console = Console(width=TABLE_WIDTH, highlight=False, markup=False)
        console.print()
        console.print(_groups(result.breakdown, result))


def _table(result: Comparison, rows: list[Row | ListRow]) -> Table:
    """The rows under heads that say what each column holds."""
    table = Table(box=None, pad_edge=False)
    table.add_column("scorer", overflow="fold")
    heads = [
        result.metric,
        f"95 % interval\nof {result.metric}",
        f"difference\nfrom {result.baseline}",
        "95 % interval\nof difference",
        "p",
    ]
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, _cells(row)), style="bold" if row is result.chosen else None)
    return table


def _groups(breakdown: Breakdown, result: Comparison) -> Table:
    """The rows that matter in each group; a group is named once."""
    table = Table(box=None, pad_edge=False)
    table.add_column(f"by {shown_id(breakdown.name)}", overflow="fold")
    table.add_column(f"{unit_of(result.task)}", justify="right")
    table.add_column("scorer", overflow="fold")
    for head in (result.metric, f"difference\nfrom {result.baseline}", "95 % interval\nof difference", "p"):
        table.add_column(head, justify="right", no_wrap=True)
    for cell in breakdown.cells:
        gain = cell.gain
        first = [shown_id(cell.label), f"{cell.units:,}"] if gain is None else ["", ""]
        differs = (
            ["", "", ""]
            if gain is None
            else [f"{gain.difference:+.4f}", f"{gain.low:+.4f} {gain.high:+.4f}", chance_alone(gain.p)]
        )
        table.add_row(*map(Text, [*first, cell.scorer, f"{cell.value:.4f}", *differs]))
    return table


def _always_shown(row: Row | ListRow, result: Comparison) -> bool:
    """Tell whether a row was asked for: the baseline, dot and others that were planned, the chosen one, all lists."""
    if not isinstance(row, Row):
        return True
    names = (row.name, *row.same_ranking_as)
    return result.baseline in names or "dot" in names or row.planned or row is result.chosen


def _footnotes(result: Comparison, rows: list[Row | ListRow]) -> list[str]:
    """What one must know to read the table."""
    unit = unit_of(result.task)
    lines = [f"* tuned by cross-validation; the value is of held-out {unit}"] if any(r.tuned for r in rows) else []
    lines.append(_what_p_is(result))
    if result.procedure is not None and recommended_choice(result).by == "procedure":
        lines.append("the p of the verdict is of the choice as a whole, not of a row (--verbose)")
    if result.lists:
        lines.append(
            "† no formula of these vectors: it cannot be saved or exported; p is corrected for the rows of its kind"
        )
    hidden = len(result.every_row) - len(rows)
    return [*lines, *([f"... and {hidden} more rows: --all or --json"] if hidden else [])]


def _what_p_is(result: Comparison) -> str:
    """Tell which p stand alone and which are corrected, and that intervals are those of p."""
    planned = [row.name for row in result.rows if row.planned]
    others = sum(row.p is not None and not row.planned for row in result.rows)
    corrected = f"p is corrected for {others} row{'s' if others > 1 else ''}" if others else ""
    alone = f"that of {' and '.join(planned)}, asked for beforehand, stands alone" if planned else ""
    return "; ".join(filter(None, (corrected, alone, f"an interval of a difference leaves out 0 where p < {ALPHA}")))


def _phrases(rows: list[Row | ListRow]) -> list[str]:
    """Name each scorer and say in plain words what it does, and of lists what they cost."""
    return list(dict.fromkeys(f"{_deployed(row)}: {row.phrase}{_cost(row)}" for row in rows))


def _deployed(row: Row | ListRow) -> str:
    return row.deployed if isinstance(row, Row) else row.name


def _cost(row: Row | ListRow) -> str:
    return f" ({row.cost})" if isinstance(row, ListRow) and row.cost else ""


def _alike(rows: list[Row | ListRow]) -> list[str]:
    """Name what one row stands for."""
    scorers = [row for row in rows if isinstance(row, Row)]
    return [f"{row.name} ranks as {', '.join(row.same_ranking_as)}" for row in scorers if row.same_ranking_as]


def _choices(result: Comparison) -> list[str]:
    """What following the tool's choice brings, and how often each scorer was chosen; nothing where it was not tried."""
    procedure = result.procedure
    if procedure is None:
        return []
    gain = with_interval(procedure.gain, procedure.low, procedure.high)
    often = [f"{name}: chosen in {share(part)}" for name, part in list(procedure.chosen.items())[:CHOICES]]
    times = f"{procedure.repeats} divisions into {procedure.folds} parts"
    return [f"{result.metric} changes by {gain} ({chance(procedure.p)}), over {times}", *often]


def _title(result: Comparison) -> str:
    """Name the task and its size."""
    task = result.task
    split = f" ({task['split']})" if task.get("split") else ""
    return f"{task['name']}{'' if is_of_pairs(task) else split}: {size_of_task(task)}"


def _cells(row: Row | ListRow) -> list[str]:
    """Write the cells of one row."""
    mark = ("*" if row.tuned else "") + ("" if isinstance(row, Row) else " †")
    cells = [f"{_deployed(row)}{mark}", f"{row.value:.4f}", f"{row.low:.4f} {row.high:.4f}"]
    if row.p is None:
        return [*cells, "", "", ""]
    return [
        *cells,
        f"{row.difference:+.4f}",
        f"{row.difference_low:+.4f} {row.difference_high:+.4f}",
        chance_alone(row.p),
    ]
