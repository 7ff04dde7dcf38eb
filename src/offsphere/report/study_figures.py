"""Figures of a study: tasks and models against scorers, and what predicts the gain of length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from offsphere.auditing.study.meta_analysis import predictor_value
from offsphere.auditing.study.run_study import Study
from offsphere.auditing.study.study_row import MeasuredChange, StudyRow
from offsphere.report.figure import ACCENT, SECOND, Figure, chart_of, spec_of
from offsphere.wording.study_words import PREDICTORS
from offsphere.wording.written_numbers import signed, with_interval

WIDEST_CHANGE = 0.1  # gains and losses beyond it have the full colour
MOST_COLUMNS = 24  # scorers of the heat map: those with the best means, and the dot product
SCATTERED = ("d", "d_within", "length_variation", "ceiling_gain", "skew")


def heat_map(study: Study) -> Figure:
    """Every task and model against every scorer that was compared everywhere: what it gains over cosine."""
    names = [each.name for each in study.meta.scorers if each.name != "cosine"]
    shown = [*names[:MOST_COLUMNS], *(["dot"] if "dot" in names[MOST_COLUMNS:] else [])]
    data = [
        {
            "row": row.label,
            "scorer": name,
            "gain": row.scorers[name]["gain"],
            "text": signed(row.scorers[name]["gain"]),
            "page": row.page,
        }
        for row in study.rows
        for name in shown
    ]
    chart = (
        chart_of(data)
        .mark_rect(cursor="pointer")
        .encode(
            x=alt.X("scorer:N", sort=shown, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=220)),
            y=alt.Y("row:N", sort=[row.label for row in study.rows], title=None, axis=alt.Axis(labelLimit=260)),
            color=alt.Color("gain:Q", title="gain over cosine").scale(
                domain=[-WIDEST_CHANGE, 0, WIDEST_CHANGE], range=["#b2182b", "#f2f2f2", "#2166ac"], clamp=True
            ),
            tooltip=["row:N", "scorer:N", "text:N"],
        )
    )
    caption = (
        "See which columns are blue all the way down. Blue is what a scorer gains against cosine, red what it "
        f"loses, of {WIDEST_CHANGE:g} and more in full colour. "
        "The table below links each row to its own report."
    )
    heads = ["task and model", *shown]
    rows = [[row.label, *(signed(row.scorers[name]["gain"]) for name in shown)] for row in study.rows]
    return Figure("heat", "Tasks and scorers", caption, spec_of(chart, 26 * len(study.rows) + 40), heads, rows)


def scatters(study: Study) -> list[Figure]:
    """What the dot product gains against each of its predictors that enough rows know."""
    return [figure for name in SCATTERED if (figure := _scatter(study, name)) is not None]


def _scatter(study: Study, name: str) -> Figure | None:
    data: list[dict[str, Any]] = [
        {
            "row": row.label,
            "x": predictor_value(row, name),
            "gain": row.dot["gain"],
            "low": row.dot["low"],
            "high": row.dot["high"],
            "sides": "could be exchanged" if row.symmetric else "have roles",
        }
        for row in study.rows
        if row.dot is not None and predictor_value(row, name) is not None
    ]
    if len(data) < 3:  # noqa: PLR2004
        return None
    words = PREDICTORS[name]
    colour = alt.Color("sides:N", title="sides", legend=alt.Legend(orient="top")).scale(
        domain=["have roles", "could be exchanged"], range=[ACCENT, SECOND]
    )
    base = chart_of(data)
    across = alt.X("x:Q", title=words).scale(zero=False)
    chart = base.mark_rule(opacity=0.5).encode(
        x=across, y=alt.Y("low:Q", title="gain of the dot product"), y2="high:Q", color=colour
    ) + base.mark_point(filled=True, size=70).encode(
        x=across, y="gain:Q", color=colour, tooltip=["row:N", "x:Q", "gain:Q"]
    )
    rows = [[each["row"], f"{each['x']:.4f}", with_interval(each["gain"], each["low"], each["high"])] for each in data]
    caption = (
        f"See whether the points rise or fall. Each is a task under a model: {words}, and what the dot product gains "
        "over cosine."
    )
    return Figure(
        f"scatter-{name}", words[0].upper() + words[1:], caption, spec_of(chart, 260), ["row", words, "gain"], rows
    )


def table_cells(rows: Sequence[StudyRow]) -> tuple[list[str], list[tuple[str | None, list[str]]]]:
    """Heads, and for each row the link to its report and its cells."""
    heads = [
        "task",
        "model",
        "metric",
        "cosine",
        "dot over cosine",
        "best",
        "recommended",
        "d",
        "d adjusted",
        "d rivals",
    ]
    heads += [
        "spread of lengths",
        "Gini (chance)",
        "documents alone",
        "curve of length",
        "at most",
        "sides",
        "declared",
    ]
    return heads, [(row.page, _cells(row)) for row in rows]


def _cells(row: StudyRow) -> list[str]:
    best = max(row.scorers.items(), key=lambda each: each[1]["gain"] if each[1]["gain"] is not None else -1)
    return [
        row.task,
        row.model,
        row.metric,
        _plain(row.cosine, 4),
        _change(row.dot),
        f"{best[0]} {signed(best[1]['gain'] or 0)}",
        row.recommended,
        *(_plain(value, 2) for value in (row.d, row.d_adjusted, row.d_within, row.length_variation)),
        f"{_plain(row.gini, 2)} ({_plain(row.gini_by_chance, 2)})" if row.gini is not None else "",
        f"{row.ceiling_kind} {_change(row.ceiling)}" if row.ceiling is not None else "",
        _change(row.ceiling_length),
        signed(row.ceiling_most) if row.ceiling_most is not None else "",
        "one role" if row.symmetric else "two roles",
        row.declared or "",
    ]


def _plain(value: float | None, digits: int) -> str:
    return f"{value:.{digits}f}" if value is not None else ""


def _change(change: MeasuredChange | None) -> str:
    if change is None or change["gain"] is None:
        return ""
    return with_interval(change["gain"], change["low"], change["high"])
