"""Figures of the comparison: scorers with intervals, the exponent sweep, differences query by query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from offsphere.audit.run import Audit
from offsphere.comparison.table import Comparison, Row
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, drawn, interval_marks, spec_of
from offsphere.statistics.significance import win_tie_loss

SHOWN = 10  # rows of the forest besides cosine, dot and the recommended one
BARS = 400  # differences that are drawn; more are thinned evenly


def forest(found: Audit) -> Figure:
    """Values with intervals, best first."""
    table = found.table
    rows = _shown(found)
    chart, count = interval_chart(table, rows, found.advice.choice.row)
    caption = (
        f"Each point is a scorer's held-out {table.metric}, its line the 95 % interval; the dashed line is "
        f"{table.baseline}. Intervals overlap even where differences are certain, since all scorers are judged on the "
        "same queries: p in the table is of the difference, corrected for all rows."
    )
    return Figure("forest", "Scorers", caption, spec_of(chart, 26 * count + 20), *comparison_cells(table, rows))


def interval_chart(table: Comparison, rows: Sequence[Row], chosen: Row) -> tuple[Any, int]:
    """Values with their intervals and a dashed line at the baseline, and how many are drawn."""
    baseline = table[table.baseline]
    data = [
        {
            "scorer": row.deployed,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "kind": _kind(row, chosen, baseline),
        }
        for row in rows
        if np.isfinite(row.value)
    ]
    colours = {"recommended": ACCENT, table.baseline: SECOND, "other": MUTED}
    return interval_marks(data, "scorer", table.metric, baseline.value, colours), len(data)


def comparison_cells(table: Comparison, rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Heads and cells of the table behind it."""
    heads = ["scorer", table.metric, "95 % interval", f"less {table.baseline}", "95 % interval", "p"]
    cells = [
        [
            row.label,
            f"{row.value:.4f}",
            f"{row.low:.4f} to {row.high:.4f}",
            f"{row.difference:+.4f}" if row.p is not None else "",
            f"{row.difference_low:+.4f} to {row.difference_high:+.4f}" if row.p is not None else "",
            f"{row.p:.2g}" if row.p is not None else "",
        ]
        for row in rows
    ]
    return heads, cells


def sweep(found: Audit) -> Figure | None:
    """The value against the exponent of the length."""
    if not np.isfinite(found.sweeps[-1].values).any():
        return None
    data = [
        {"exponent": g, "value": value, "low": low, "high": high, "vectors": one.transforms}
        for one in found.sweeps
        for g, value, low, high in zip(
            one.exponents.tolist(), one.values.tolist(), one.low.tolist(), one.high.tolist(), strict=True
        )
        if np.isfinite(value)
    ]
    chains = [one.transforms for one in found.sweeps]
    colour = alt.Color("vectors:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=chains, range=[SECOND, ACCENT] if len(chains) > 1 else [ACCENT]
    )
    base = drawn(data)
    across = alt.X("exponent:Q", title="exponent g of the length: 0 is dot, 1 is cosine")
    chart = base.mark_area(opacity=0.18).encode(
        x=across, y=alt.Y("low:Q", title=found.table.metric).scale(zero=False), y2="high:Q", color=colour
    ) + base.mark_line(strokeWidth=2).encode(x=across, y="value:Q", color=colour)
    marks = _marks(found)
    points = drawn(marks)
    chart = (
        chart
        + points.mark_point(filled=True, size=90, opacity=1, color=MUTED).encode(x="exponent:Q", y="value:Q")
        + points.mark_text(dy=-12, color=MUTED).encode(x="exponent:Q", y="value:Q", text="name:N")
    )
    best = found.sweeps[-1]
    top = int(np.nanargmax(best.values))
    caption = (
        "Left of 0 length is rewarded beyond the dot product, right of 1 it is punished beyond cosine. A curve that is "
        f"highest at 1 says that length is noise. Here it peaks at g = {best.exponents[top]:g} ({best.transforms} "
        f"vectors, {found.table.metric} {best.values[top]:.4f}); the band is the 95 % interval at each exponent. These "
        "values are of all queries, not held out: the curve explains, the table above decides."
    )
    heads = ["exponent", *(f"{one.transforms}: {found.table.metric}" for one in found.sweeps)]
    rows = [
        [f"{g:g}", *(f"{one.values[place]:.4f}" for one in found.sweeps)]
        for place, g in enumerate(found.sweeps[0].exponents.tolist())
    ]
    return Figure("sweep", "How much length?", caption, spec_of(chart, 260), heads, rows)


def differences(found: Audit) -> Figure | None:
    """Query by query, sorted."""
    if found.differences is None or len(found.differences) < 2:  # noqa: PLR2004
        return None
    ranked = np.sort(found.differences)[::-1]
    chosen = np.unique(np.linspace(0, len(ranked) - 1, min(BARS, len(ranked))).round().astype(int))
    first, second = found.compared
    data = [
        {"query": int(place), "difference": float(ranked[place]), "better": first if ranked[place] > 0 else second}
        for place in chosen
    ]
    chart = (
        drawn(data)
        .mark_area(interpolate="step", opacity=0.9)
        .encode(
            x=alt.X("query:Q", title="queries, sorted").scale(domain=[0, max(len(ranked) - 1, 1)], nice=False),
            y=alt.Y("difference:Q", title=f"{first} less {second}"),
            color=alt.value(ACCENT),
        )
    )
    tally = win_tie_loss(found.differences)
    caption = (
        f"{first} against {second}, query by query ({found.table.metric}): better on {tally.win:,}, equal on "
        f"{tally.tie:,}, worse on {tally.loss:,}. A gain that rests on a few queries shows as a thin spike at the left."
    )
    shares = (0, 5, 25, 50, 75, 95, 100)
    heads = ["share of queries", "difference at most"]
    rows = [[f"{share} %", f"{np.quantile(found.differences, share / 100):+.4f}"] for share in shares]
    return Figure("differences", "Query by query", caption, spec_of(chart, 220), heads, rows)


def _shown(found: Audit) -> Sequence[Row]:
    table = found.table
    always = {id(found.advice.choice.row), id(table[table.baseline])}
    return [
        row
        for place, row in enumerate(table.rows)
        if place < SHOWN or id(row) in always or "dot" in (row.name, *row.same_ranking_as)
    ]


def _kind(row: Row, chosen: Row, baseline: Row) -> str:
    return "recommended" if row is chosen else baseline.name if row is baseline else "other"


def _marks(found: Audit) -> list[dict[str, object]]:
    """The dot product, cosine and, where it is one of the curve, the recommended scorer."""
    raw, last = found.sweeps[0], found.sweeps[-1]
    marks: list[dict[str, object]] = []
    for name, g in (("dot", 0.0), ("cosine", 1.0)):
        place = int(np.flatnonzero(raw.exponents == g)[0])
        marks.append({"name": name, "exponent": g, "value": float(raw.values[place])})
    scorer = found.advice.scorer
    exponent = scorer.similarity.parameters.get("document")
    places = np.flatnonzero(last.exponents == exponent)
    if len(places) and scorer.is_plain and (scorer.transforms or exponent not in (0.0, 1.0)):
        marks.append({"name": "recommended", "exponent": exponent, "value": float(last.values[places[0]])})
    return [mark for mark in marks if np.isfinite(mark["value"])]  # type: ignore[call-overload]
