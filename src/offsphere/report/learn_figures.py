"""Figures of learning: what adapters are worth, the grid of an ablation, and what training does to the geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import altair as alt

from offsphere.learn.ablation.ablation import Ablation, VariantRow
from offsphere.learn.adapters.learn import Learned
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, drawn, interval_marks, spec_of
from offsphere.report.scorer_figures import comparison_cells, interval_chart
from offsphere.scoring.record import Training

TRACKS = (  # name, title, columns by their label, what to see
    (
        "cosines",
        "Positive and negative cosines",
        {"positive": "positive_mean", "negative": "negative_mean"},
        "Training should pull held-out positives up and leave negatives near zero. Where both fall, it only spreads.",
    ),
    (
        "scatter",
        "Variance of negative cosines",
        {"": "negative_variance"},
        "Small batches scatter the negatives; VRNS gathers them (Lee et al. 2025).",
    ),
    (
        "track-lengths",
        "Mean length",
        {"queries": "query_length", "documents": "document_length"},
        "Cosine cannot see length, so under it length drifts; where length is scored it is learned.",
    ),
    (
        "anisotropy",
        "Mean cosine of two vectors of a side",
        {"queries": "query_anisotropy", "documents": "document_anisotropy"},
        "Contrastive training opens a narrow cone (Xiao et al. 2023). Opening it further need not rank better.",
    ),
    (
        "tokens",
        "Tokens of the last layer: mean cosine, raw similarities",
        {
            "anisotropy": "token_anisotropy",
            "self-similarity": "token_self_similarity",
            "within a sentence": "token_intra_similarity",
        },
        "Contrastive learning draws the tokens of a sentence together (Xiao et al. 2023).",
    ),
    (
        "tokens-adjusted",
        "Tokens of the last layer, less their mean cosine",
        {"self-similarity": "token_self_adjusted", "within a sentence": "token_intra_adjusted"},
        "What is left when the cone is taken away.",
    ),
    ("token-lengths", "Mean length of tokens, last layer", {"": "token_length"}, "Before pooling."),
    (
        "effect",
        "Length of relevant documents against others (Cohen's d)",
        {"": "cohen_d"},
        "Away from zero: length has learned to say something about relevance.",
    ),
)
MORE = (
    (
        "uniformity",
        "Uniformity",
        {"queries": "query_uniformity", "documents": "document_uniformity"},
        "How evenly directions fill the sphere: lower is more even (Wang & Isola 2020).",
    ),
    (
        "spread",
        "Alignment, and the variance of positive cosines",
        {"alignment": "alignment", "variance": "positive_variance"},
        "Alignment is the mean squared distance of a positive pair: lower is closer.",
    ),
    (
        "exponents",
        "Exponents",
        {"query": "query_exponent", "document": "document_exponent"},
        "0 keeps a side's length in the score, 1 divides by it; those that are learned move.",
    ),
    ("scale", "Scale", {"": "scale"}, "One over the temperature, as it is applied; calibrated or learned ones move."),
)
TRACKED = 6  # variants of an ablation that are drawn


def learned_forest(found: Learned) -> Figure:
    """Adapters against cosine and dot product."""
    table = found.table
    chart, count = interval_chart(table, table.rows, table.chosen)
    caption = " ".join(["On queries that no training saw.", *(f"{split.sentence}." for split in found.splits)])
    if any(split.seen and split.new for split in found.splits):
        caption += " Whoever adds documents every day should look at the second pair of numbers."
    return Figure("learned", "Adapters", caption, spec_of(chart, 26 * count + 20), *comparison_cells(table, table.rows))


def grid_forest(found: Ablation) -> Figure:
    """Every variant of an ablation."""
    base = found.rows[0]
    data = [
        {
            "variant": row.name,
            "value": row.results[0].value,
            "low": row.results[0].low,
            "high": row.results[0].high,
            "kind": base.name if row is base else row.results[0].verdict,
        }
        for row in found.ranked
    ]
    colours = {"better": ACCENT, base.name: SECOND, "equal": MUTED, "worse": MUTED}
    chart = interval_marks(data, "variant", found.metric, base.results[0].value, colours)
    caption = (
        f"Mean {found.metric} of {found.seeds} seeds on queries that no training saw, with the interval over queries; "
        f"the dashed line is {base.name}. Every variant chose temperature and rate among {found.trials} on "
        f"held-out queries. p is corrected for {len(found.rows) - 1} variants. {found.conclusion}"
    )
    heads, rows = grid_cells(found)
    return Figure("grid", "The grid", caption, spec_of(chart, 18 * len(data) + 20), heads, rows)


def grid_cells(found: Ablation) -> tuple[list[str], list[list[str]]]:
    """The table behind it, all tasks."""
    heads = ["variant", "temperature", "rate", "held out"]
    for task in found.tasks:
        heads += [f"{task['name']}: {found.metric}", "95 % interval", "over seeds", f"less {found.rows[0].name}", "p"]
    return heads, [_grid_row(row) for row in found.ranked]


def _grid_row(row: VariantRow) -> list[str]:
    cells = [row.name, f"{row.temperature:g}", f"{row.rate:g}", f"{row.held_out:.4f}"]
    for result in row.results:
        cells += [f"{result.value:.4f}", f"{result.low:.4f} to {result.high:.4f}", f"{result.spread:.4f}"]
        apart = [f"{result.difference:+.4f}", f"{result.p:.2g}"] if result.p is not None else ["", ""]
        cells += apart
    return cells


def learned_tracks(found: Learned) -> list[Figure]:
    """The dynamics of every adapter's first seed."""
    rows = [
        {"variant": adapter.scorer.name, **row}
        for adapter in found.adapters
        if adapter.record is not None
        for row in adapter.record.dynamics
        if row["seed"] == adapter.record.runs[0].seed
    ]
    return _tracks(rows, "")


def grid_tracks(found: Ablation) -> list[Figure]:
    """The dynamics of the first variants: of a sweep all of them, of a grid the plain outputs."""
    shown = [row.name for row in found.rows if "," not in row.name][:TRACKED]
    return _tracks([row for row in found.dynamics if row["variant"] in shown], "grid-")


def training_tracks(found: Training) -> list[Figure]:
    """The dynamics of an encoder's training."""
    return _tracks([{"variant": "training", **row} for row in found.dynamics if row.get("layer") is None], "train-")


def _tracks(rows: Sequence[Mapping[str, Any]], prefix: str) -> list[Figure]:
    return [
        figure
        for name, title, columns, caption in (*TRACKS, *MORE)
        if (figure := _track(rows, prefix + name, title, columns, caption)) is not None
    ]


def _track(
    rows: Sequence[Mapping[str, Any]], name: str, title: str, columns: Mapping[str, str], caption: str
) -> Figure | None:
    data = [
        {"step": row["step"], "value": row[column], "variant": row["variant"], "what": label or title}
        for row in rows
        for label, column in columns.items()
        if row.get(column) is not None and isfinite(row[column])
    ]
    if not data:
        return None
    variants = list(dict.fromkeys(str(row["variant"]) for row in data))
    colour = alt.Color("variant:N", title=None, legend=alt.Legend(orient="top", columns=3), sort=variants)
    if len(variants) <= 2:  # noqa: PLR2004
        colour = colour.scale(domain=variants, range=[ACCENT, SECOND][: len(variants)])
    dash = alt.StrokeDash("what:N", title=None, legend=alt.Legend(orient="top") if len(columns) > 1 else None)
    chart = (
        drawn(data)
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("step:Q", title="step"),
            y=alt.Y("value:Q", title=None).scale(zero=False),
            color=colour,
            strokeDash=dash,
        )
    )
    ends = {(row["variant"], row["what"]): row for row in data}  # the last of each
    starts = {(row["variant"], row["what"]): row for row in reversed(data)}
    heads = ["variant", "what", "at the start", "at the end"]
    cells = [[*key, f"{starts[key]['value']:.4g}", f"{end['value']:.4g}"] for key, end in ends.items()]
    return Figure(name, title, caption, spec_of(chart, 170), heads, cells)
