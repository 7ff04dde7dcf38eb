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
