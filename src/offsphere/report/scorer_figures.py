"""Figures of the comparison: scorers with intervals, curves over the exponent, differences query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from offsphere.auditing.run import Audit
from offsphere.comparison.list_row import ListRow
from offsphere.comparison.procedure import Procedure
from offsphere.comparison.row import Row
from offsphere.comparison.table import Comparison
from offsphere.comparison.units import unit_of
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, chart_of, far_note, interval_marks, spec_of
from offsphere.statistics.significance import ALPHA, win_tie_loss
from offsphere.wording.choice_words import gains_apart
from offsphere.wording.written_numbers import chance_alone, share

SHOWN = 10  # rows of the forest besides cosine, dot and the recommended one
CHOICES = 6  # scorers of the choices that are named
FLAT = 1e-6  # a curve that moves less
OTHER_SYSTEMS = " A dagger marks other systems: they are no formula of these vectors and cannot be exported."
BARS = 400  # differences that are drawn; more are thinned evenly


def forest(audit: Audit) -> Figure:
    """The best scorers of an audit with their intervals, best first; cosine, dot and the recommended one always."""
    return forest_of_table(audit.table, audit.advice.choice.row, boost=audit.shape.ceiling is not None)


def forest_of_table(table: Comparison, chosen: Row, *, boost: bool = False) -> Figure:
    """The best scorers of a comparison with their intervals, best first; cosine, dot and the chosen one always.

    Args:
        table: The comparison.
        chosen: What is recommended.
        boost: Whether what a boost per document gains stands on the same page.
    """
    rows = _rows_to_show(table, chosen)
    data = interval_data(table, rows, chosen)
    unit = unit_of(table.task)
    chart = interval_chart(table, data)
    caption = (
        f"See which points lie right of the dashed line, which is {table.baseline}: they rank better. Each point is a "
        f"scorer's held-out {table.metric}, its line the 95 % interval. Intervals overlap even where differences are "
        f"certain, since all scorers are judged on the same {unit}: judge by the "
        "interval of the difference in the table, which leaves out 0 exactly where its p is below "
        f"{ALPHA}. {gains_apart(choice=table.procedure is not None, boost=boost)}"
        f"{' A star marks parameters that were tuned.' if any(row.tuned for row in rows) else ''}"
        f"{OTHER_SYSTEMS if table.lists else ''}{far_note(data)}"
    )
    return Figure("forest", "Scorers", caption, spec_of(chart, 26 * len(data) + 20), *comparison_cells(table, rows))


def interval_data(table: Comparison, rows: Sequence[Row | ListRow], chosen: Row) -> list[dict[str, Any]]:
    """What is drawn of each row: its value, its interval, and of which kind it is."""
    baseline = table[table.baseline]
    return [
        {
            "scorer": row.label,
            "value": row.value,
            "low": row.low,
            "high": row.high,
            "kind": _kind(row, chosen, baseline),
        }
        for row in rows
        if np.isfinite(row.value)
    ]


def interval_chart(table: Comparison, data: Sequence[Mapping[str, Any]]) -> Any:
    """Values with their intervals, and a dashed line at the baseline."""
    colours = {"recommended": ACCENT, table.baseline: SECOND, "other": MUTED}
    return interval_marks(data, "scorer", table.metric, table[table.baseline].value, colours)


def comparison_cells(table: Comparison, rows: Sequence[Row | ListRow]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of some compared scorers."""
    heads = [
        "scorer",
        "what it does",
        table.metric,
        "its 95 % interval",
        f"difference from {table.baseline}",
        "95 % interval of the difference",
        "p",
        "p is",
    ]
    cells = [
        [
            row.label,
            row.phrase,
            f"{row.value:.4f}",
            f"{row.low:.4f} to {row.high:.4f}",
            f"{row.difference:+.4f}" if row.p is not None else "",
            f"{row.difference_low:+.4f} to {row.difference_high:+.4f}" if row.p is not None else "",
            chance_alone(row.p) if row.p is not None else "",
            _what_p_is(row),
        ]
        for row in rows
    ]
    return heads, cells


def choice_cells(procedure: Procedure) -> list[list[str]]:
    """The scorers that were chosen, the most frequent first: what each does, and its share of all choices."""
    shown = list(procedure.chosen.items())[:CHOICES]
    rows = [[name, procedure.phrases.get(name, ""), share(part)] for name, part in shown]
    left = sum(procedure.chosen.values()) - sum(part for _, part in shown)
    hidden = len(procedure.chosen) - len(shown)
    return [*rows, *([[f"{hidden} more", "", share(left)]] if hidden else [])]


def exponent_curve_figure(audit: Audit) -> Figure | None:
    """The value against the exponent of the length; nothing where no exponent has a value."""
    if not np.isfinite(audit.curves[-1].values).any():
        return None
    data = [
        {"exponent": g, "value": value, "low": low, "high": high, "vectors": curve.transforms}
        for curve in audit.curves
        for g, value, low, high in zip(
            curve.exponents.tolist(), curve.values.tolist(), curve.low.tolist(), curve.high.tolist(), strict=True
        )
        if np.isfinite(value)
    ]
    chains = [curve.transforms for curve in audit.curves]
    colour = alt.Color("vectors:N", title=None, legend=alt.Legend(orient="top")).scale(
        domain=chains, range=[SECOND, ACCENT] if len(chains) > 1 else [ACCENT]
    )
    base = chart_of(data)
    across = alt.X("exponent:Q", title="exponent g of the length: 0 is dot, 1 is cosine")
    chart = base.mark_area(opacity=0.18).encode(
        x=across, y=alt.Y("low:Q", title=audit.table.metric).scale(zero=False), y2="high:Q", color=colour
    ) + base.mark_line(strokeWidth=2).encode(x=across, y="value:Q", color=colour)
    marks = _marks(audit)
    points = chart_of(marks)
    chart = (
        chart
        + points.mark_point(filled=True, size=90, opacity=1, color=MUTED).encode(x="exponent:Q", y="value:Q")
        + points.mark_text(dy=-12, color=MUTED).encode(x="exponent:Q", y="value:Q", text="name:N")
    )
    best = audit.curves[-1]
    top = int(np.nanargmax(best.values))
    flat = np.nanmax(best.values) - np.nanmin(best.values) < FLAT
    peak = (
        f"Here it is flat ({best.transforms} vectors): length changes nothing"
        if flat
        else f"Here it peaks at g = {best.exponents[top]:g} ({best.transforms} vectors, {audit.table.metric} "
        f"{best.values[top]:.4f})"
    )
    unit = unit_of(audit.table.task)
    caption = (
        "See where the curve is highest: at 1 length is noise, near 0 it is worth something, beyond 1 short vectors "
        "are better than long ones. Left of 0 length is rewarded beyond the dot product, right of 1 it is punished "
        f"beyond cosine. {peak}; the band is the 95 % interval at each exponent. These values are of all {unit}, not "
        "held out: the curve explains, the table above decides."
    )
    heads = ["exponent", *(f"{curve.transforms}: {audit.table.metric}" for curve in audit.curves)]
    rows = [
        [f"{g:g}", *(f"{curve.values[row]:.4f}" for curve in audit.curves)]
        for row, g in enumerate(audit.curves[0].exponents.tolist())
    ]
    return Figure("sweep", "How much length?", caption, spec_of(chart, 260), heads, rows)


def differences(audit: Audit) -> Figure | None:
    """What the recommended scorer gains query by query, sorted; nothing where queries have no values of their own."""
    if audit.differences is None or len(audit.differences) < 2:  # noqa: PLR2004
        return None
    ranked = np.sort(audit.differences)[::-1]
    chosen = np.unique(np.linspace(0, len(ranked) - 1, min(BARS, len(ranked))).round().astype(int))
    first, second = audit.compared
    data = [
        {"query": int(query), "difference": float(ranked[query]), "better": first if ranked[query] > 0 else second}
        for query in chosen
    ]
    chart = (
        chart_of(data)
        .mark_area(interpolate="step", opacity=0.9)
        .encode(
            x=alt.X("query:Q", title="queries, sorted").scale(domain=[0, max(len(ranked) - 1, 1)], nice=False),
            y=alt.Y("difference:Q", title=f"{first} less {second}"),
            color=alt.value(ACCENT),
        )
    )
    tally = win_tie_loss(audit.differences)
    caption = (
        "See whether the gain is a broad hill or a thin spike at the left: a spike rests on a few queries. "
        f"{first} against {second}, query by query ({audit.table.metric}): better on {tally.win:,}, equal on "
        f"{tally.tie:,}, worse on {tally.loss:,}."
    )
    shares = (0, 5, 25, 50, 75, 95, 100)
    heads = ["share of queries", "difference at most"]
    rows = [[f"{share} %", f"{np.quantile(audit.differences, share / 100):+.4f}"] for share in shares]
    return Figure("differences", "Query by query", caption, spec_of(chart, 220), heads, rows)


def _rows_to_show(table: Comparison, recommended: Row) -> Sequence[Row | ListRow]:
    baseline = table[table.baseline]
    return [
        row
        for rank, row in enumerate(table.every_row)
        if rank < SHOWN
        or row in (recommended, baseline)
        or not isinstance(row, Row)
        or "dot" in (row.name, *row.same_ranking_as)
    ]


def _what_p_is(row: Row | ListRow) -> str:
    if row.p is None:
        return ""
    if not isinstance(row, Row):
        return "corrected, for other systems"
    return "alone (planned)" if row.planned else "corrected"


def _kind(row: Row | ListRow, chosen: Row, baseline: Row) -> str:
    return "recommended" if row is chosen else baseline.name if row is baseline else "other"


def _marks(audit: Audit) -> list[dict[str, object]]:
    """Points on the curves: the dot product, cosine and, where it lies on one, the recommended scorer."""
    raw, last = audit.curves[0], audit.curves[-1]
    marks: list[dict[str, object]] = []
    for name, g in (("dot", 0.0), ("cosine", 1.0)):
        (row,) = np.flatnonzero(raw.exponents == g)
        marks.append({"name": name, "exponent": g, "value": float(raw.values[row])})
    scorer = audit.advice.scorer
    exponent = scorer.similarity.parameters.get("document")
    rows = np.flatnonzero(last.exponents == exponent)
    if len(rows) and scorer.is_plain and (scorer.transforms or exponent not in (0.0, 1.0)):
        marks.append({"name": "recommended", "exponent": exponent, "value": float(last.values[rows[0]])})
    return [mark for mark in marks if np.isfinite(mark["value"])]  # type: ignore[call-overload]
