"""The figure of a comparison broken down by groups of queries: for whom does a scorer help, and for whom not?"""

from __future__ import annotations

from offsphere.auditing.run import Audit
from offsphere.base.shown_ids import shown_id
from offsphere.comparison.breakdown import Breakdown
from offsphere.comparison.table import Comparison
from offsphere.comparison.units import unit_of
from offsphere.report.figure import ACCENT, MUTED, Figure, interval_marks, spec_of
from offsphere.statistics.significance import ALPHA
from offsphere.wording.written_numbers import CHANCE, chance_alone, with_interval


def gains_by_group(audit: Audit) -> Figure | None:
    """What each row that matters gains over the baseline in each group; nothing where nobody asked for groups."""
    table = audit.table
    breakdown = table.breakdown
    if breakdown is None or not any(cell.gain is not None for cell in breakdown.cells):
        return None
    name = shown_id(breakdown.name)
    data = [
        {
            "where": f"{shown_id(cell.label)}: {cell.scorer}",
            "value": cell.gain.difference,
            "low": cell.gain.low,
            "high": cell.gain.high,
            "kind": "surely differs" if cell.gain.p < ALPHA else CHANCE,
        }
        for cell in breakdown.cells
        if cell.gain is not None
    ]
    chart = interval_marks(
        data, "where", f"{table.metric} over {table.baseline}", 0.0, {"surely differs": ACCENT, CHANCE: MUTED}
    )
    caption = (
        f"A point is what a row gains in {table.metric} over {table.baseline} among the {unit_of(table.task)} of one "
        f"{name}, its line the 95 % interval of that point alone; p is corrected for all groups and rows "
        "together. The recommendation above is of all of them: a group that goes the other way is a reason to ask it "
        "apart."
    )
    height = 26 * len(data) + 20
    return Figure("groups", f"By {name}", caption, spec_of(chart, height), *group_cells(table, breakdown))


def group_cells(table: Comparison, breakdown: Breakdown) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of groups.

    Args:
        table: The comparison that was broken down.
        breakdown: Its groups.

    Returns:
        A row for each group and scorer, the largest group first, the baseline first in each.
    """
    heads = [
        shown_id(breakdown.name),
        unit_of(table.task),
        "scorer",
        table.metric,
        f"difference from {table.baseline}",
        "p",
    ]
    rows = [
        [
            shown_id(cell.label),
            f"{cell.units:,}",
            cell.scorer,
            f"{cell.value:.4f}",
            with_interval(*cell.gain[:3]) if cell.gain is not None else "",
            chance_alone(cell.gain.p) if cell.gain is not None else "",
        ]
        for cell in breakdown.cells
    ]
    return heads, rows
