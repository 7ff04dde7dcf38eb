"""A figure: a chart, what to see in it, and the table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ACCENT, SECOND, MUTED = "@accent", "@second", "@muted"  # the page puts the colours of its theme there


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
    """Points with intervals, one below the other, coloured by their kind, and a dashed line at the baseline."""
    import altair as alt

    kinds = [kind for kind in colours if any(row["kind"] == kind for row in rows)]
    colour = alt.Color("kind:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=kinds, range=[colours[kind] for kind in kinds]
    )
    vertical = alt.Y(f"{name}:N", sort=[str(row[name]) for row in rows], title=None)
    across = alt.X("low:Q", title=metric).scale(zero=False)
    base = chart_of(rows)
    return (
        base.mark_rule(strokeWidth=2).encode(x=across, x2="high:Q", y=vertical, color=colour)
        + base.mark_point(filled=True, size=70, opacity=1).encode(x="value:Q", y=vertical, color=colour)
        + chart_of([{"value": baseline}]).mark_rule(strokeDash=[4, 4], color=SECOND).encode(x="value:Q")
    )
