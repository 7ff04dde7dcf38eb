"""What to store: the smallest form of the recommended scorer that surely costs less than matters."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from offsphere.comparison.stored_row import StoredRow
from offsphere.comparison.verdict import has_enough, is_unreadable, recommended_choice
from offsphere.wording.finding import Certainty, Direction, Finding

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison


def storing_finding(table: Comparison) -> Finding | None:
    """Say as what to store the vectors of the recommended scorer.

    A form with re-ranking is no answer to that, since it keeps the whole vectors too.

    Args:
        table: of the comparison, with stored rows or without.

    Returns:
        Nothing where no form of that scorer was measured, or the numbers can carry no choice.
    """
    if not has_enough(table) or is_unreadable(table):
        return None
    chosen = recommended_choice(table).row
    rows = [row for row in table.stored if row.of is chosen and row.form.oversampling is None]
    rows = [row for row in rows if isfinite(row.costs_at_most)]
    if not rows:
        return None
    safe = [row for row in rows if row.costs_at_most < table.worth]
    row = min(safe, key=_bytes_then_value) if safe else min(rows, key=lambda row: row.costs_at_most)
    claim, direction, certainty = _claim(table, row, safe=bool(safe))
    return Finding(
        topic="storing", claim=claim, numbers=_numbers(table, row, len(rows)), direction=direction, certainty=certainty
    )


def _bytes_then_value(row: StoredRow) -> tuple[int, float]:
    return row.vector_bytes, -row.value


def _claim(table: Comparison, row: StoredRow, *, safe: bool) -> tuple[str, Direction, Certainty]:
    """Tell whether the form costs too little to matter, surely too much, or cannot be told."""
    if safe:
        return "store smaller", "none", "equal"
    if row.loses and row.change_high < -table.worth:
        return "store whole", "down", "sure"
    return "store whole", "none", "unsure"


def _numbers(table: Comparison, row: StoredRow, forms: int) -> dict[str, Any]:
    """Gather everything that a sentence on storing may use."""
    return {
        "metric": table.metric,
        "name": row.of.deployed,
        "form": row.form.name,
        "phrase": row.form.phrase,
        "vector_bytes": row.vector_bytes,
        "whole_bytes": row.whole_bytes,
        "value": row.value,
        "whole_value": row.of.value,
        "change": row.change,
        "change_low": row.change_low,
        "change_high": row.change_high,
        "change_p": row.change_p,
        "costs_at_most": row.costs_at_most,
        "worth": table.worth,
        "forms": forms,
        "rows": len(table.stored),
    }
