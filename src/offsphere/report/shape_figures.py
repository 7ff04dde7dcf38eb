"""Figures of the geometry: lengths, text length, spectrum, dimensions, hubs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import altair as alt
import numpy as np

from offsphere.auditing.run import Audit
from offsphere.base.arrays import Array, Index
from offsphere.base.shown_ids import shown_id
from offsphere.geometry.relevance import Relevance
from offsphere.geometry.shape import Geometry
from offsphere.report.figure import ACCENT, MUTED, SECOND, Figure, chart_of, spec_of

BINS = 40
SIDES_CAPTION = "See whether both sides have lengths of one kind: of the vectors of each side, as shares of it."
COMPONENTS = 120  # of the spectrum that are drawn
DIMENSIONS = 20  # that are drawn


def figures_of_shape(shape: Geometry) -> list[Figure]:
    """What can be drawn of the geometry alone, without judgments: lengths, spectrum, dimensions, hubs."""
    lengths = _histogram(_of_sides(shape), SIDES_CAPTION) if shape.lengths else None
    figures = [lengths, spectrum(shape), contributions(shape), hub_figure(shape)]
    return [figure for figure in figures if figure is not None]


def _of_sides(shape: Geometry) -> dict[str, tuple[Index, Array]]:
    """The counts and edges of each side's lengths."""
    return {side.side: (side.histogram_counts, side.histogram_edges) for side in shape.lengths}


def length_histogram(audit: Audit) -> Figure | None:
    """Lengths of relevant documents against those of all others; of pairs, the lengths of both sides."""
    sides = audit.shape.lengths
    relevance = audit.shape.relevance
    if audit.relevant_lengths is not None:
        relevant, others = audit.relevant_lengths
        groups = {"relevant": relevant, "other": others}
        caption = (
            "See whether the two groups stand apart: if length carried relevance, they would. Lengths of documents "
            "that are relevant to some query, and of all others, each group as shares of "
            f"itself.{_effect_note(relevance)}"
        )
        if relevance is None or relevance.made_and_covering or not len(others) or not len(relevant):
            groups = {"documents": np.concatenate(audit.relevant_lengths)}
            caption = "See how widely lengths are spread: of the vectors of all documents, as shares of them."
            if not len(others):
                caption += " Every one is relevant to some query, so there is nothing to compare them with."
            if relevance is not None and relevance.made_and_covering:
                caption += f" They are not divided by relevance: {relevance.made_and_covering}."
        edges = np.histogram_bin_edges(np.concatenate(audit.relevant_lengths), BINS)
        counted = {name: (np.histogram(values, edges)[0], edges) for name, values in groups.items()}
    elif sides:
        counted = _of_sides(audit.shape)
        caption = SIDES_CAPTION
    else:
        return None
    if sides and sides[-1].normalised:
        caption = (
            "See one bar: all lengths are one and the same, since the vectors were normalised before they came here."
        )
    return _histogram(counted, caption)


def _histogram(counted: Mapping[str, tuple[Index, Array]], caption: str) -> Figure:
    """Shares of each group over lengths, from counts and the edges between them."""
    cells = [
        (name, float(low), float(high), int(count), int(count) / max(int(counts.sum()), 1))
        for name, (counts, edges) in counted.items()
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    data = [{"from": low, "to": high, "share": share, "group": name} for name, low, high, _, share in cells]
    chart = (
        chart_of(data)
        .mark_bar(opacity=0.55, binSpacing=0)
        .encode(
            x=alt.X("from:Q", bin="binned", title="length of the vector"),
            x2="to:Q",
            y=alt.Y("share:Q", title="share of the group", axis=alt.Axis(format="%")).stack(None),
            color=alt.Color("group:N", title=None, legend=alt.Legend(orient="top") if len(counted) > 1 else None).scale(
                domain=list(counted), range=[ACCENT, SECOND][: len(counted)]
            ),
        )
    )
    heads = ["group", "length from", "to", "count", "share"]
    rows = [
        [name, f"{low:.3g}", f"{high:.3g}", f"{count:,}", f"{share:.1%}"] for name, low, high, count, share in cells
    ]
    return Figure("lengths", "Lengths", caption, spec_of(chart, 240), heads, rows)


def _effect_note(relevance: Relevance | None) -> str:
    """How far the two groups stand apart, where that was measured over the whole corpus."""
    known = relevance is not None and relevance.d.low is not None
    return f" Cohen's d = {relevance.d}." if relevance is not None and known else ""


def text_length(audit: Audit) -> Figure | None:
    """Vector length against text length, as counts in a grid."""
    if audit.text_lengths is None or not audit.shape.lengths or audit.shape.lengths[-1].with_characters is None:
        return None
    side = audit.shape.lengths[-1]
    assert side.with_characters is not None
    characters, lengths = np.maximum(audit.text_lengths[:, 0], 1), audit.text_lengths[:, 1]
    counts, across, up = np.histogram2d(np.log10(characters), lengths, bins=(36, 28))
    right = 10**across
    data = [
        {"x": right[i], "x2": right[i + 1], "y": up[j], "y2": up[j + 1], "count": int(counts[i, j])}
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]
    chart = (
        chart_of(data)
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title="characters of the text", bin="binned").scale(type="log"),
            x2="x2:Q",
            y=alt.Y("y:Q", title="length of the vector", bin="binned"),
            y2="y2:Q",
            opacity=alt.Opacity("count:Q", title="texts", legend=None).scale(type="sqrt", range=[0.15, 1]),
            color=alt.value(ACCENT),
        )
    )
    caption = (
        "See whether the cells slope: a slope means that length is in part text length in disguise. Each cell is a "
        f"number of {side.side} texts; darker is more. Spearman's correlation {side.with_characters.spearman}."
    )
    bands = np.quantile(characters, np.linspace(0, 1, 11))
    heads, rows = ["characters from", "to", "median length of the vector"], []
    for low, high in pairwise(bands):
        inside = lengths[(characters >= low) & (characters <= high)]
        rows.append([f"{low:,.0f}", f"{high:,.0f}", f"{np.median(inside):.3g}" if len(inside) else ""])
    return Figure("text-length", "Length and text length", caption, spec_of(chart, 260), heads, rows)


def spectrum(shape: Geometry) -> Figure | None:
    """Shares of the variance, component by component."""
    if not shape.isotropy:
        return None
    side = shape.isotropy[-1]
    shares = side.spectrum / max(side.spectrum.sum(), 1e-300)
    kept = [(component, float(share)) for component, share in enumerate(shares[:COMPONENTS], 1) if share > 0]
    data = [{"component": component, "share": share} for component, share in kept]
    chart = (
        chart_of(data)
        .mark_line(point=alt.OverlayMarkDef(size=14), strokeWidth=1.5)
        .encode(
            x=alt.X("component:Q", title="principal component"),
            y=alt.Y("share:Q", title="share of the variance", axis=alt.Axis(format="%")).scale(type="log"),
            color=alt.value(ACCENT),
        )
    )
    caption = (
        "See how steeply it starts: a steep start means that a few directions carry most of the variance, which "
        f"whitening evens out. {side.side.capitalize()} vectors: {side.effective_rank:.0f} of {side.dimension} "
        f"dimensions are in use (effective rank); IsoScore {side.isoscore:.3f}, mean cosine of two {side.side}s "
        f"{side.mean_cosine:.3f}."
    )
    rows = [[str(component), f"{share:.3%}"] for component, share in kept[:20]]
    return Figure("spectrum", "Spectrum", caption, spec_of(chart, 220), ["component", "share of the variance"], rows)


def contributions(shape: Geometry) -> Figure | None:
    """What the first dimensions add to the mean cosine."""
    if not shape.dimensions:
        return None
    side = shape.dimensions[-1]
    shares = side.contributions[:DIMENSIONS]
    names = [str(dimension) for dimension in side.order[:DIMENSIONS].tolist()]
    data = [{"dimension": name, "part": float(part)} for name, part in zip(names, shares, strict=True)]
    chart = (
        chart_of(data)
        .mark_bar()
        .encode(
            x=alt.X("dimension:N", sort=names, title="dimension, largest first"),
            y=alt.Y("part:Q", title="part of the mean cosine"),
            color=alt.value(ACCENT),
        )
    )
    share = side.cumulative_shares["1"]
    first = f"The first makes {share:.0%}. " if np.isfinite(share) else ""
    caption = (
        "See whether one bar stands far above all others: that is a rogue dimension. The mean cosine of two "
        f"{side.side}s is {side.mean_cosine:.3f}; a bar is what one dimension adds to it. {first}"
    )
    rows = [[name, f"{part:.5f}"] for name, part in zip(names, shares, strict=True)]
    heads = ["dimension", "part of the mean cosine"]
    return Figure("dimensions", "Dimensions", caption, spec_of(chart, 220), heads, rows)


def hub_figure(shape: Geometry) -> Figure | None:
    """How many documents are among the nearest of how many queries."""
    if not shape.hubness:
        return None
    data = [
        {"lists": lists, "documents": int(count), "scorer": row.scorer}
        for row in shape.hubness
        for lists, count in enumerate(row.documents_in_lists.tolist())
        if count
    ]
    names = [row.scorer for row in shape.hubness]
    colours = dict(zip(("cosine", "dot"), (SECOND, MUTED), strict=True))
    chart = (
        chart_of(data)
        .mark_point(filled=True, size=40, opacity=0.8)
        .encode(
            x=alt.X("lists:Q", title=f"lists of the {shape.hubness[0].k} nearest that a document is in").scale(
                type="symlog"
            ),
            y=alt.Y("documents:Q", title="documents").scale(type="log"),
            color=alt.Color("scorer:N", title=None, legend=alt.Legend(orient="top")).scale(
                domain=names, range=[colours.get(name, ACCENT) for name in names]
            ),
        )
    )
    first = shape.hubness[0]
    caption = (
        "See how far right the points reach: the further right, the worse the hub. They count how many documents are "
        f"among the {first.k} nearest of how many queries; the point at 0 is what is never found: "
        f"{first.antihub_share:.0%} under {first.scorer}, by chance "
        f"{first.chance['antihub_share']:.0%}."
    )
    heads = [
        "scorer",
        "skewness of the counts",
        "hubs",
        "anti-hubs (never found)",
        "worst hubs (lists they are in)",
    ]
    rows = [
        [
            row.scorer,
            f"{row.skewness:.2f}",
            str(row.hub_count),
            f"{row.antihub_share:.1%}",
            ", ".join(f"{shown_id(hub.id)} ({hub.occurrences})" for hub in row.worst[:5]),
        ]
        for row in shape.hubness
    ]
    return Figure("hubs", "Hubs", caption, spec_of(chart, 240), heads, rows)
