"""What was measured, as tables for people: what it says first, the numbers after."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.geometry.dual import Dual
from offsphere.geometry.fisher import Fisher
from offsphere.geometry.frequency import FrequencyBias
from offsphere.geometry.hubness import Hubness
from offsphere.geometry.length import LengthSummary
from offsphere.geometry.negatives import Negatives
from offsphere.geometry.relevance import Relevance
from offsphere.geometry.shape import SECTIONS, Geometry
from offsphere.statistics.correlation import Correlation
from offsphere.statistics.estimate import Estimate

Shown = tuple[list[str], list[list[str]]]  # heads and rows

NARROW = 110  # columns the tables need
TITLES = {
    "lengths": "lengths",
    "relevance": "length and relevance",
    "dual": "the same vectors by cosine and by dot product",
    "isotropy": "isotropy",
    "negatives": "positive and negative similarities",
    "dimensions": "dimensions: shares of the mean cosine, and r^2 of cosines without the first k dimensions",
    "hubness": "hubs",
    "fisher": "Fisher information (our construction, not the papers')",
    "gradients": "gradients of cosine on positive pairs",
    "frequency": "frequency bias",
}
DROPPED = ("1", "2", "3", "10", "100")  # informativity columns


def wide_console() -> Console:
    """Standard output, at least as wide as the tables."""
    return Console(width=max(shutil.get_terminal_size((NARROW, 24)).columns, NARROW), highlight=False, markup=False)


def print_rows(console: Console, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table: names to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False)
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print()
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(table)


def print_shape(shape: Geometry) -> None:
    """The sentences, then a table a section."""
    console = wide_console()
    console.print(_of(shape.of), style="bold")
    for sentence in shape.sentences:
        console.print(Text(f"- {sentence}"), soft_wrap=True)
    for name, why in shape.skipped.items():
        console.print(Text(f"- {name}: not measured: {why}"), style="dim", soft_wrap=True)
    for name in SECTIONS:
        found = getattr(shape, name)
        if found is not None and found != ():
            heads, rows = _TABLES[name](found)
            print_rows(console, TITLES[name], heads, rows)
        if name == "lengths" and any(row.with_characters is not None for row in shape.lengths):
            print_rows(console, "length against the text", *_with_text(shape.lengths))


def _of(what: Any) -> str:
    shapes = ", ".join(f"{rows:,} {side} x {columns}" for side, (rows, columns) in what["vectors"].items())
    split = f" ({what['split']})" if what.get("split") else ""
    return f"{what['name']}{split}: {shapes}" if "name" in what else shapes


def _lengths(found: Sequence[LengthSummary]) -> Shown:
    heads = ["side", "vectors", "mean", "sd", "CV", "min", "5 %", "25 %", "median", "75 %", "95 %", "max"]
    rows = []
    for row in found:
        spread = [f"{row.quantiles[share]:.3g}" for share in ("0", "0.05", "0.25", "0.5", "0.75", "0.95", "1")]
        rows.append(
            [row.side, f"{row.count:,}", f"{row.mean:.4g}", f"{row.deviation:.3g}", f"{row.variation:.3f}", *spread]
        )
    return heads, rows


def _with_text(found: Sequence[LengthSummary]) -> Shown:
    heads = ["length of the vector and", "side", "Spearman", "Pearson"]
    rows = []
    for row in found:
        columns = {
            "characters": row.with_characters,
            f"{row.counted}": row.with_tokens,
            f"mean log frequency of {row.frequency_of}": row.with_frequency,
        }
        rows += [
            [f"{name} of the text", row.side, _short(part.spearman), _short(part.pearson)]
            for name, part in columns.items()
            if part is not None
        ]
    return heads, rows


def _relevance(found: Relevance) -> Shown:
    rows = [
        [f"Cohen's d, {found.relevant:,} relevant against {found.others:,} others", str(found.d)],
        *([["  text length regressed out", str(found.d_adjusted)]] if found.d_adjusted is not None else []),
        *(
            [["  share of length that text length explains", f"{found.text_length_explains:.3f}"]]
            if found.text_length_explains
            else []
        ),
        ["ROC-AUC of length alone", str(found.auc)],
        [f"within {found.within.queries} queries, against 100 nearest by cosine: d", str(found.within.d)],
        *([["  text length regressed out", str(found.within_adjusted.d)]] if found.within_adjusted is not None else []),
        ["  chance that the relevant one is longer", str(found.within.chance_longer)],
        *([f"  {group.group} ({group.queries} queries): d", str(group.d)] for group in found.groups),
        ["document length and cosine, positive pairs (Spearman)", _rank(found.document_length_and_cosine)],
        ["log of both lengths and cosine, positive pairs (Pearson)", str(found.log_lengths_and_cosine.pearson)],
        ["query length and ndcg@10 under cosine (Spearman)", _rank(found.query_length_and_ndcg)],
    ]
    return ["", "value [95 % interval]"], rows


def _dual(found: Dual) -> Shown:
    rows = [["cosine", str(found.cosine)], ["dot", str(found.dot)], ["dot - cosine", str(found.difference)]]
    return ["scorer", found.metric], rows


def _isotropy(found: Sequence[Any]) -> Shown:
    heads = ["side", "mean cosine", "IsoScore", "effective rank", "top 1", "top 3", "top 10", "partition", "uniformity"]
    rows = []
    for row in found:
        shares = [f"{row.variance_shares.get(k, float('nan')):.1%}" for k in ("1", "3", "10")]
        numbers = [f"{row.mean_cosine:.4f}", f"{row.isoscore:.4f}", f"{row.effective_rank:.1f}"]
        rows.append([row.side, *numbers, *shares, str(row.partition), str(row.uniformity)])
        if row.constant_dimensions:
            rows.append([f"{row.side}: {row.constant_dimensions} dimensions are constant"])
    return heads, rows


def _negatives(found: Negatives) -> Shown:
    rows = [
        [f"mean cosine of {found.positives:,} positive pairs", f"{found.positive_mean:.4f}"],
        ["alignment", f"{found.alignment:.4f}"],
        ["mean cosine of negative pairs", f"{found.mean:.4f}"],
        ["variance of negative pairs", f"{found.variance.value:.5f}"],
        *(
            [f"  left by batches of {bound.batch} of {found.training_size:,}", f"{bound.low:.2g} to {bound.high:.2g}"]
            for bound in found.bounds
        ),
    ]
    return ["", "value"], rows


def _dimensions(found: Sequence[Any]) -> Shown:
    dropped = [k for k in DROPPED if any(k in row.informativity for row in found)]
    heads = ["side", "largest", "top 1", "top 2", "top 3", "10 %", "20 %", "50 %", *(f"r^2 - {k}" for k in dropped)]
    rows = []
    for row in found:
        shares = [f"{row.cumulative_shares.get(k, float('nan')):.3f}" for k in ("1", "2", "3")]
        needed = [str(row.needed[share] or "-") for share in ("0.1", "0.2", "0.5")]
        left = [f"{row.informativity.get(k, float('nan')):.3f}" for k in dropped]
        rows.append([row.side, str(row.order[0]), *shares, *needed, *left])
    return heads, rows


def _hubness(found: Sequence[Hubness]) -> Shown:
    heads = ["scorer", "skewness", "Robin Hood", "Gini", "anti-hubs", "hubs", "worst hubs (lists)"]
    rows = []
    for row in found:
        worst = ", ".join(f"{hub.id} ({hub.occurrences})" for hub in row.worst[:3])
        shares = [f"{row.robin_hood:.3f}", f"{row.gini:.3f}", f"{row.antihub_share:.1%}"]
        rows.append([row.scorer, f"{row.skewness:.2f}", *shares, str(row.hub_count), worst])
    chance = found[0].chance
    shares = [f"{chance['robin_hood']:.3f}", f"{chance['gini']:.3f}", f"{chance['antihub_share']:.1%}"]
    return heads, [*rows, ["by chance", f"{chance['skewness']:.2f}", *shares, "", ""]]


def _fisher(found: Fisher) -> Shown:
    heads = ["side", "normalize", "scale", "trace", "rank", "effective rank", "condition", "with ridge"]
    rows = []
    for row in found.spectra:
        numbers = [f"{row.scale:.3g}", f"{row.trace:.3g}", str(row.rank), f"{row.effective_rank:.1f}"]
        rows.append([row.side, row.normalize, *numbers, f"{row.condition:.3g}", f"{row.condition_ridge:.3g}"])
    return heads, rows


def _gradients(found: Sequence[Any]) -> Shown:
    heads = ["side", "mean", "median", "least", "hardly learn", "long", "opposite", "alike already"]
    rows = []
    for row in found:
        numbers = [f"{row.mean:.3g}", f"{row.median:.3g}", f"{row.least:.3g}"]
        shares = [
            f"{share:.1%}"
            for share in (row.hardly_learn, row.hardly_learn_long, row.hardly_learn_opposite, row.alike_already)
        ]
        rows.append([row.side, *numbers, *shares])
    return heads, rows


def _frequency(found: Sequence[FrequencyBias]) -> Shown:
    (bias,) = found
    heads = ["band, rarest first", "documents", "per million", "within band", "with all", "positive pairs"]
    rows = [
        [
            f"{number + 1}",
            f"{band.documents:,}",
            f"{band.frequency:.3g}",
            f"{band.within:.3f}",
            f"{band.with_all:.3f}",
            f"{band.positive} ({band.positives})" if band.positives else "-",
        ]
        for number, band in enumerate(bias.bands)
    ]
    return heads, rows


def _rank(found: Correlation | None) -> str:
    return _short(found.spearman) if found is not None else "-"


def _short(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return "-"
    return f"{found.value:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


_TABLES: dict[str, Callable[[Any], Shown]] = {
    "lengths": _lengths,
    "relevance": _relevance,
    "dual": _dual,
    "isotropy": _isotropy,
    "negatives": _negatives,
    "dimensions": _dimensions,
    "hubness": _hubness,
    "fisher": _fisher,
    "gradients": _gradients,
    "frequency": _frequency,
}
