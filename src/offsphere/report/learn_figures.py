"""Figures of learning: what adapters are worth, the grid of an ablation, and what training does to the geometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import altair as alt

from offsphere.learning.ablation.ablation import Ablation, VariantRow
from offsphere.learning.ablation.variants import JOIN
from offsphere.learning.adapters.learn import Learned
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, chart_of, far_note, interval_marks, spec_of
from offsphere.report.scorer_figures import comparison_cells, interval_chart, interval_data
from offsphere.scoring.training_record import Training
from offsphere.wording.written_numbers import chance_alone

TRACKED = 6  # variants of an ablation that are drawn


class Track(NamedTuple):
    """Numbers that are followed while something is trained."""

    name: str
    title: str
    columns: Mapping[str, str]  # of the dynamics, by the label of their line
    caption: str  # what to see


TRACKS = (
    Track(
        "cosines",
        "Positive and negative cosines",
        {"positive": "positive_mean", "negative": "negative_mean"},
        "See the two part: training should pull held-out positives up and leave negatives near zero. Where both "
        "fall, it only spreads.",
    ),
    Track(
        "scatter",
        "Variance of negative cosines",
        {"": "negative_variance"},
        "See whether it falls: small batches scatter the negatives; VRNS gathers them (Lee et al. 2025).",
    ),
    Track(
        "track-lengths",
        "Mean length",
        {"queries": "query_length", "documents": "document_length"},
        "See whether it drifts: cosine cannot see length, so under it length drifts; where it is scored it is learned.",
    ),
    Track(
        "anisotropy",
        "Mean cosine of two vectors of a side",
        {"queries": "query_anisotropy", "documents": "document_anisotropy"},
        "See it fall: contrastive training opens a narrow cone (Xiao et al. 2023). Opening it further need not rank "
        "better.",
    ),
    Track(
        "tokens",
        "Tokens of the last layer: mean cosine, raw similarities",
        {
            "anisotropy": "token_anisotropy",
            "self-similarity": "token_self_similarity",
            "within a sentence": "token_intra_similarity",
        },
        "See it rise within a sentence: contrastive learning draws its tokens together (Xiao et al. 2023).",
    ),
    Track(
        "tokens-adjusted",
        "Tokens of the last layer, less their mean cosine",
        {"self-similarity": "token_self_adjusted", "within a sentence": "token_intra_adjusted"},
        "See what is left when the cone is taken away.",
    ),
    Track(
        "token-classes",
        "Self-similarity of tokens, less their mean cosine, last layer",
        {"functional": "token_self_functional", "meaningful": "token_self_semantic"},
        "See whether the two lines part: contrastive learning lets meaningful words keep their meaning across texts, "
        "and functional ones lose it (Xiao et al. 2023).",
    ),
    Track(
        "token-lengths",
        "Mean length of tokens, last layer",
        {"": "token_length"},
        "See whether tokens grow or shrink before they are pooled.",
    ),
    Track(
        "effect",
        "Length of relevant documents against others (Cohen's d)",
        {"": "cohen_d"},
        "See whether it leaves zero: then length has learned to say something about relevance.",
    ),
    Track(
        "uniformity",
        "Uniformity",
        {"queries": "query_uniformity", "documents": "document_uniformity"},
        "See it fall: the lower, the more evenly directions fill the sphere (Wang & Isola 2020).",
    ),
    Track(
        "spread",
        "Alignment, and the variance of positive cosines",
        {"alignment": "alignment", "variance": "positive_variance"},
        "See it fall: alignment is the mean squared distance of a positive pair, so lower is closer.",
    ),
    Track(
        "exponents",
        "Exponents",
        {"query": "query_exponent", "document": "document_exponent"},
        "See which move: 0 keeps a side's length in the score, 1 divides by it, and those that are learned move.",
    ),
    Track(
        "scale",
        "Scale",
        {"": "scale"},
        "See whether it moves: one over the temperature, as it is applied; calibrated or learned ones do.",
    ),
)


def learned_forest(learned: Learned) -> Figure:
    """Adapters against cosine and dot product, with intervals."""
    table = learned.table
    data = interval_data(table, table.rows, table.chosen)
    see = (
        f"See which points lie right of the dashed line, {table.baseline}: they rank better, on queries that no "
        "training saw."
    )
    caption = " ".join([see, *(f"{split.sentence}." for split in learned.splits)])
    if any(split.seen and split.new for split in learned.splits):
        caption += " Whoever adds documents every day should look at the second pair of numbers."
    spec = spec_of(interval_chart(table, data), 26 * len(data) + 20)
    return Figure("learned", "Adapters", caption + far_note(data), spec, *comparison_cells(table, table.rows))


def grid_forest(ablation: Ablation) -> Figure:
    """Every variant of an ablation, with its interval, against the first."""
    base = ablation.rows[0]
    data = [
        {
            "variant": row.name,
            "value": row.results[0].value,
            "low": row.results[0].low,
            "high": row.results[0].high,
            "kind": base.name if row is base else row.results[0].verdict,
        }
        for row in ablation.ranked
    ]
    colours = {"better": ACCENT, base.name: SECOND, "equal": MUTED, "worse": MUTED}
    chart = interval_marks(data, "variant", ablation.metric, base.results[0].value, colours)
    caption = (
        f"See which variants lie right of the dashed line, which is {base.name}. Mean {ablation.metric} of "
        f"{ablation.seeds} seeds on queries that no training saw, with the interval over queries. Every variant "
        f"chose temperature and rate among {ablation.trials} on "
        f"held-out queries. p is corrected for {len(ablation.rows) - 1} variants. {ablation.conclusion}{far_note(data)}"
    )
    heads, rows = grid_cells(ablation)
    return Figure("grid", "The grid", caption, spec_of(chart, 18 * len(data) + 20), heads, rows)


def grid_cells(ablation: Ablation) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of an ablation: every variant on every task."""
    heads = ["variant", "temperature", "learning rate", f"held-out {ablation.metric}, to choose by"]
    for task in ablation.tasks:
        heads += [
            f"{task['name']}: {ablation.metric}",
            "95 % interval",
            "spread over seeds",
            f"difference from {ablation.rows[0].name}",
            "p",
        ]
    return heads, [_grid_row(row) for row in ablation.ranked]


def _grid_row(row: VariantRow) -> list[str]:
    cells = [row.name, f"{row.temperature:g}", f"{row.rate:g}", f"{row.held_out:.4f}"]
    for result in row.results:
        cells += [f"{result.value:.4f}", f"{result.low:.4f} to {result.high:.4f}", f"{result.spread:.4f}"]
        cells += [f"{result.difference:+.4f}", chance_alone(result.p)] if result.p is not None else ["", ""]
    return cells


def learned_tracks(learned: Learned) -> list[Figure]:
    """What every adapter did to the held-out probe, by its first seed."""
    rows = [
        {"variant": adapter.scorer.name, **row}
        for adapter in learned.adapters
        if adapter.record is not None
        for row in adapter.record.dynamics
        if row["seed"] == adapter.record.runs[0].seed
    ]
    return _tracks(rows, "")


def grid_tracks(ablation: Ablation, prefix: str = "grid-") -> list[Figure]:
    """What the first variants did to the held-out probe: of a sweep or a cross all of them, of a grid plain outputs."""
    names = [row.name for row in ablation.rows]
    shown = ([name for name in names if JOIN not in name] or names)[:TRACKED]
    whole = [row for row in ablation.dynamics if row.get("layer") is None]
    return _tracks([row for row in whole if row["variant"] in shown], prefix)


def training_tracks(training: Training, prefix: str = "train-") -> list[Figure]:
    """What an encoder's training did to the held-out probe."""
    return tracks_of(training.dynamics, prefix)


def tracks_of(rows: Sequence[Mapping[str, Any]], prefix: str = "") -> list[Figure]:
    """What one training did to a probe, by the rows of its dynamics; those of single layers are left out."""
    return _tracks([{"variant": "training", **row} for row in rows if row.get("layer") is None], prefix)


def _tracks(rows: Sequence[Mapping[str, Any]], prefix: str) -> list[Figure]:
    return [figure for track in TRACKS if (figure := _draw(track, rows, prefix)) is not None]


def _draw(track: Track, rows: Sequence[Mapping[str, Any]], prefix: str) -> Figure | None:
    """The figure of one track; nothing where the rows have none of its columns."""
    data = [
        {"step": row["step"], "value": row[column], "variant": row["variant"], "what": label or track.title}
        for row in rows
        for label, column in track.columns.items()
        if row.get(column) is not None and isfinite(row[column])
    ]
    if not data:
        return None
    variants = list(dict.fromkeys(str(row["variant"]) for row in data))
    colour = alt.Color("variant:N", title=None, legend=alt.Legend(orient="top", columns=3), sort=variants)
    if len(variants) <= 2:  # noqa: PLR2004
        colour = colour.scale(domain=variants, range=[ACCENT, SECOND][: len(variants)])
    dash = alt.StrokeDash("what:N", title=None, legend=alt.Legend(orient="top") if len(track.columns) > 1 else None)
    chart = (
        chart_of(data)
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
    return Figure(prefix + track.name, track.title, track.caption, spec_of(chart, 170), heads, cells)
