"""The figure of where to cut: what each threshold gives, and the one that keeps the promise."""

from __future__ import annotations

import altair as alt
import numpy as np

from offsphere.comparison.shown import ThresholdOutcome
from offsphere.comparison.thresholds import Thresholds
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, chart_of, spec_of

COLUMNS = {"precision": 1, "recall": 2, "false alarms": 3}  # of a curve
HEADS = ["scorer", "show from", "precision", "recall", "false alarms", "queries with results", "one threshold keeps"]


def cut_curves(thresholds: Thresholds) -> Figure:
    """Precision against recall as the threshold falls, a line a scorer, with a point where the promise is kept."""
    lines, points = [], []
    for row in thresholds.rows:
        known = [values for values in row.curve.tolist() if np.isfinite(values).all()]
        lines += [{"scorer": row.name, "recall": values[2], "precision": values[1]} for values in known]
        if row.threshold is not None and known:
            nearest = min(known, key=lambda values: abs(values[0] - row.threshold))
            text = f"from {row.threshold:.3g}"
            points.append({"scorer": row.name, "recall": nearest[2], "precision": nearest[1], "text": text})
    names = [row.name for row in thresholds.rows]
    colour = alt.Color("scorer:N", title=None, sort=names, legend=alt.Legend(orient="top", columns=3))
    if len(names) <= 3:  # noqa: PLR2004
        colour = colour.scale(domain=names, range=[ACCENT, SECOND, MUTED][: len(names)])
    across, up = alt.X("recall:Q", title="recall"), alt.Y("precision:Q", title="precision of what is shown")
    chart = chart_of(lines).mark_line(strokeWidth=2).encode(x=across, y=up, color=colour, order="recall:Q")
    marks = chart_of(points).encode(x="recall:Q", y="precision:Q", color=colour)
    chart = chart + marks.mark_point(filled=True, size=90, opacity=1) + marks.mark_text(dy=-12).encode(text="text:N")
    caption = (
        "See what is lost as more is shown: when the threshold falls, less of it is right. A point is the threshold "
        f"that keeps this promise: {thresholds.goal.promise}. The numbers below are of queries that took no "
        "part in the choice."
    )
    return Figure("cut", "Where to cut", caption, spec_of(chart, 260), *cut_cells(thresholds))


def cut_cells(thresholds: Thresholds) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of thresholds."""
    heads = [*HEADS, *([f"on {thresholds.also['name']}: precision", "recall"] if thresholds.also is not None else [])]
    rows = []
    for row in thresholds.rows:
        shown = "none" if row.threshold is None else f"{row.threshold:.4g}"
        cells = [row.name, shown, *outcome_cells(row.outcome), f"{row.kept:.0%}"]
        if thresholds.also is not None:
            cells += outcome_cells(row.elsewhere)[:2]
        rows.append(cells)
    return heads, rows


def outcome_cells(outcome: ThresholdOutcome | None) -> list[str]:
    """Precision, recall, false alarms and answered queries, each with its interval; dashes where there is nothing."""
    if outcome is None:
        return ["-"] * 4
    numbers = (outcome.precision, outcome.recall, outcome.false_alarms, outcome.answered)
    return [f"{value:.3f} [{low:.3f}, {high:.3f}]" for value, low, high in numbers]
