"""A figure: a chart, what to see in it, and the table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ACCENT, SECOND, MUTED = "@accent", "@second", "@muted"  # the page puts the colours of its theme there

MAY_BE_FAR = ("other", "equal", "worse")  # kinds of rows
FAR = 0.5  # of the width of all others, between them and what is not drawn on their scale
MARGIN = 0.12  # of the width, to write the value of what is far


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """A chart as a Vega-Lite ``spec``, what to see in it, and the table behind it; it fills the width it is given."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def chart_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    """An empty Altair chart over some rows of data, to which marks are added."""
    import altair as alt

    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def spec_of(chart: Any, height: int) -> dict[str, Any]:
    """The specification of an Altair chart that fills the width it is given."""
    spec: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    spec.pop("$schema", None)
    return spec


def interval_marks(
    rows: Sequence[Mapping[str, Any]], name: str, metric: str, baseline: float, colours: Mapping[str, str]
) -> Any:
    """Points with intervals, one below the other, coloured by their kind, and a dashed line at the baseline.

    What lies so far off that all else would be pressed together is named at the edge with its value.
    """
    import altair as alt

    kinds = [kind for kind in colours if any(row["kind"] == kind for row in rows)]
    colour = alt.Color("kind:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=kinds, range=[colours[kind] for kind in kinds]
    )
    vertical = alt.Y(f"{name}:N", sort=[str(row[name]) for row in rows], title=None)
    far = far_rows(rows)
    near = [row for row in rows if row not in far]
    scale: dict[str, Any] = {"zero": False}
    if far:
        low, high = min(row["low"] for row in near), max(row["high"] for row in near)
        left = low - (high - low) * MARGIN
        scale |= {"domain": [left, high + (high - low) * MARGIN / 4], "nice": False}
    across = alt.X("low:Q", title=metric).scale(**scale)
    base = chart_of(near)
    chart = (
        base.mark_rule(strokeWidth=2).encode(x=across, x2="high:Q", y=vertical, color=colour)
        + base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", y=vertical, color=colour)
        + chart_of([{"value": baseline}]).mark_rule(strokeDash=[4, 4], color=SECOND).encode(x="value:Q")
    )
    if not far:
        return chart
    edge = [{name: row[name], "edge": left, "kind": row["kind"], "text": f"\u25c2 {row['value']:.4f}"} for row in far]
    return chart + chart_of(edge).mark_text(align="left", dx=2).encode(
        x="edge:Q", y=vertical, text="text:N", color=colour
    )


def far_rows(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows that lie so far below all others that these would be pressed together if they were drawn on one scale.

    Args:
        rows: With ``value``, ``low``, ``high`` and ``kind``; what is better, or what others are held against, is never
            far.

    Returns:
        Those rows, which are no more than half of all.
    """
    near = [row for row in rows if row["kind"] not in MAY_BE_FAR]
    far: list[Mapping[str, Any]] = []
    for row in sorted((row for row in rows if row["kind"] in MAY_BE_FAR), key=lambda row: -row["value"]):
        drawn = near or [row]
        low, high = min(each["low"] for each in drawn), max(each["high"] for each in drawn)
        (far if row["high"] < low - FAR * (high - low) else near).append(row)
    return far if 2 * len(far) <= len(rows) else []


def far_note(rows: Sequence[Mapping[str, Any]]) -> str:
    """A sentence on the rows that are named at the edge; empty where there are none."""
    return " What is named at the left edge lies far below all this." if far_rows(rows) else ""
