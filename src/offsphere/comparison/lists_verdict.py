"""What other systems say beside the recommended scorer: whether one of them is surely better than it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from offsphere.comparison.verdict import has_enough, is_unreadable, recommended_choice
from offsphere.wording.finding import Certainty, Direction, Finding

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison


def lists_finding(table: Comparison) -> Finding | None:
    """Say how the best of the other systems stands to the scorer that is recommended.

    Args:
        table: of the comparison, with lists of other systems or without.

    Returns:
        Nothing where there are no such lists, or the numbers can carry no judgment.
    """
    rows = [row for row in table.lists if isfinite(row.value)]
    if not rows or not has_enough(table) or is_unreadable(table):
        return None
    row, chosen = max(rows, key=lambda row: row.value), recommended_choice(table)
    direction: Direction = "up" if row.beats_choice else "down" if row.loses_to_choice else "none"
    certainty: Certainty = "unsure" if direction == "none" else "sure"
    numbers = {
        "metric": table.metric,
        "name": row.name,
        "phrase": row.phrase,
        "value": row.value,
        "chosen": chosen.name,
        "chosen_value": row.value - row.over_chosen,
        "gain": row.over_chosen,
        "gain_low": row.over_chosen_low,
        "gain_high": row.over_chosen_high,
        "p": row.p_over_chosen,
        "state": direction,
        "rows": len(table.lists),
    }
    return Finding(topic="lists", claim="other systems", numbers=numbers, direction=direction, certainty=certainty)
