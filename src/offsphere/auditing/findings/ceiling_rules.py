"""What documents alone can tell, and whether today's lengths hold it: stop looking, use it, or train for it."""

from __future__ import annotations

from typing import Any

from offsphere.auditing.findings.case import Case
from offsphere.comparison.verdict import row_named
from offsphere.geometry.ceiling import Ceiling, CeilingRow
from offsphere.geometry.ceiling_options import LENGTH
from offsphere.wording.finding import Certainty, Direction, Finding


def worth_of_documents(case: Case) -> list[Finding]:
    """What numbers about documents alone are worth at most, under the metric of the comparison; else nothing."""
    ceiling = case.shape.ceiling
    if ceiling is None or ceiling.metric != case.table.metric or not case.enough or case.unreadable:
        return []
    claim, direction, certainty = _claim(ceiling, case.table.worth)
    by_dot = case.choice.row is row_named(case.table, "dot")
    numbers = _numbers(ceiling, case.table.worth) | {"by_dot": by_dot}
    return [Finding(topic="ceiling", claim=claim, numbers=numbers, direction=direction, certainty=certainty)]


def _claim(ceiling: Ceiling, worth: float) -> tuple[str, Direction, Certainty]:
    """The claim that the numbers allow: a bound first, then what surely gains, then that nothing can be told."""
    if ceiling.most < worth:
        return "nothing in documents", "none", "equal"
    top, length = ceiling.top, ceiling.row(LENGTH)
    if not top.better:
        return "documents unclear", "none", "unsure"
    if length is None or not length.better:
        return "lengths hold none", "up", "sure"
    if top is length:
        return "lengths hold it", "up", "sure"
    return "lengths hold a part", "up", "sure"


def _numbers(ceiling: Ceiling, worth: float) -> dict[str, Any]:
    top, length = ceiling.top, ceiling.row(LENGTH)
    return {
        "metric": ceiling.metric,
        "queries": ceiling.queries,
        "worth": worth,
        "most": ceiling.most,
        "kind": top.kind,
        **_row("best", top),
        **_row("length", length),
        "nature": _nature(ceiling),
        "known_item": ceiling.spread.known_item,
        "wanted_again": ceiling.spread.wanted_again,
    }


def _row(name: str, row: CeilingRow | None) -> dict[str, Any]:
    value, low, high = row.gain if row is not None else (None, None, None)
    return {name: value, f"{name}_low": low, f"{name}_high": high, f"{name}_p": row.p if row is not None else None}


def _nature(ceiling: Ceiling) -> str | None:
    """Which of the two surely gains, the greater where both do; nothing where neither does."""
    rows = [row for kind in ("prior", "correction") if (row := ceiling.row(kind)) is not None and row.better]
    return max(rows, key=lambda row: row.gain.value).kind if rows else None
