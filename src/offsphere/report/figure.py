"""A figure: a chart, what to see in it, and the table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ACCENT, SECOND, MUTED = "@accent", "@second", "@muted"  # the page puts the colours of its theme in their place


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """``spec`` is Vega-Lite, as wide as its place on the page."""

    name: str
    title: str
    caption: str
    spec: Mapping[str, Any]
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def drawn(rows: Sequence[Mapping[str, Any]]) -> Any:
    """An Altair chart of these rows."""
    import altair as alt

    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def spec_of(chart: Any, height: int) -> dict[str, Any]:
    """The specification of an Altair chart that fills the width it is given."""
    found: dict[str, Any] = chart.properties(width="container", height=height).to_dict()
    found.pop("$schema", None)
    return found


def interval_marks(
    rows: Sequence[Mapping[str, Any]], name: str, metric: str, baseline: float, colours: Mapping[str, str]
) -> Any:
    """Points with intervals, one below the other, coloured by their kind, and a dashed line at the baseline."""
    import altair as alt

    kinds = [kind for kind in colours if any(row["kind"] == kind for row in rows)]
    colour = alt.Color("kind:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=kinds, range=[colours[kind] for kind in kinds]
    )
    vertical = alt.Y(f"{name}:N", sort=[str(row[name]) for row in rows], title=None)
    across = alt.X("low:Q", title=metric).scale(zero=False)
    base = drawn(rows)
    return (
        base.mark_rule(strokeWidth=2).encode(x=across, x2="high:Q", y=vertical, color=colour)
        + base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", y=vertical, color=colour)
        + drawn([{"value": baseline}]).mark_rule(strokeDash=[4, 4], color=SECOND).encode(x="value:Q")
    )
