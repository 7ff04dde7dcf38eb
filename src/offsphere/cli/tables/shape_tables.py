"""What was measured, as tables for people: what it says first, the numbers after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offsphere.base.shown_ids import shown_id
from offsphere.cli.tables.paragraphs import TABLE_WIDTH, paragraph
from offsphere.geometry.ceiling import Ceiling
from offsphere.geometry.dimensions import Dimensions
from offsphere.geometry.dual import Dual
from offsphere.geometry.fisher import Fisher
from offsphere.geometry.frequency import FrequencyBias
from offsphere.geometry.gradients import Gradients
from offsphere.geometry.hubness import Hubness
from offsphere.geometry.isotropy import Isotropy
from offsphere.geometry.length import LengthSummary
from offsphere.geometry.modalities import Modalities
from offsphere.geometry.negatives import Negatives
from offsphere.geometry.relevance import Relevance
from offsphere.geometry.shape import Geometry
from offsphere.geometry.spread import Spread
from offsphere.statistics.estimate import Estimate
from offsphere.wording.ceiling_words import KINDS
from offsphere.wording.written_numbers import chance_alone, with_interval

Cells = tuple[list[str], list[list[str]]]  # heads and rows

DIMENSION_HEADS = (
    "largest\ndimension",
    "share of\nlargest 1",
    "share of\nlargest 2",
    "share of\nlargest 3",
    "how many\nmake 10 %",
    "how many\nmake 20 %",
    "how many\nmake 50 %",
)
DROPPED = ("1", "2", "3", "10", "100")  # informativity columns
PLAIN = (str, int, float, Estimate)  # values that a cell can hold


def table_console() -> Console:
    """Standard output, as wide as a table may be."""
    return Console(width=TABLE_WIDTH, highlight=False, markup=False)


def print_rows(console: Console, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table under its title: names to the left, numbers to the right."""
    table = Table(box=None, pad_edge=False)
    for column, head in enumerate(heads):
        table.add_column(head, justify="right" if column else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    console.print()
    console.print(Text(paragraph(title), style="bold"), soft_wrap=True)
    console.print(table)


def print_shape(shape: Geometry) -> None:
    """Print the sentences, then the tables of each section; a table without rows is left out."""
    console = table_console()
    console.print(_of(shape.of), style="bold")
    for sentence in shape.sentences:
        console.print(Text(paragraph(sentence, "- ", "  ")), soft_wrap=True)
    for name, why in shape.skipped.items():
        console.print(Text(paragraph(f"{name}: not measured: {why}", "- ", "  ")), style="dim", soft_wrap=True)
    for name, part in shape.parts.items():
        for title, cells in TABLES.get(name, {name: _plain_fields}).items():
            heads, rows = cells(part)
            if rows:
                print_rows(console, title, heads, rows)


def _of(what: Any) -> str:
    """What was measured: the task and its split, and how many vectors of which dimension."""
    shapes = ", ".join(f"{rows:,} {side} x {columns}" for side, (rows, columns) in what["vectors"].items())
    split = f" ({what['split']})" if what.get("split") else ""
    return f"{what['name']}{split}: {shapes}" if "name" in what else shapes


def _lengths(sides: Sequence[LengthSummary]) -> Cells:
    heads = ["side", "vectors", "mean", "standard\ndeviation", "deviation\n/ mean", "least"]
    heads += ["5 %\nbelow", "25 %\nbelow", "median", "75 %\nbelow", "95 %\nbelow", "most"]
    rows = []
    for row in sides:
        spread = [f"{row.quantiles[share]:.3g}" for share in ("0", "0.05", "0.25", "0.5", "0.75", "0.95", "1")]
        rows.append(
            [row.side, f"{row.count:,}", f"{row.mean:.4g}", f"{row.deviation:.3g}", f"{row.variation:.3f}", *spread]
        )
    return heads, rows


def _with_text(sides: Sequence[LengthSummary]) -> Cells:
    heads = ["length of the vector and", "side", "Spearman", "Pearson"]
    rows = []
    for row in sides:
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


def _relevance(relevance: Relevance) -> Cells:
    with_document, with_query = relevance.document_length_and_cosine, relevance.query_length_and_ndcg
    rows = [
        [f"Cohen's d, {relevance.relevant:,} relevant against {relevance.others:,} others", str(relevance.d)],
        *([["  text length regressed out", str(relevance.d_adjusted)]] if relevance.d_adjusted is not None else []),
        *(
            [["  share of length that text length explains", f"{relevance.text_length_explains:.3f}"]]
            if relevance.text_length_explains
            else []
        ),
        ["ROC-AUC of length alone", str(relevance.auc)],
        [f"within {relevance.within.queries} queries, against 100 nearest by cosine: d", str(relevance.within.d)],
        *(
            [["  text length regressed out", str(relevance.within_adjusted.d)]]
            if relevance.within_adjusted is not None
            else []
        ),
        ["  chance that the relevant one is longer", str(relevance.within.chance_longer)],
        *([f"  {group.group} ({group.queries} queries): d", str(group.d)] for group in relevance.groups),
        [
            "document length and cosine, positive pairs (Spearman)",
            _short(with_document.spearman),
        ],
        ["log of both lengths and cosine, positive pairs (Pearson)", str(relevance.log_lengths_and_cosine.pearson)],
        ["query length and ndcg@10 under cosine (Spearman)", _short(with_query.spearman)],
    ]
    return ["", "value [95 % interval]"], rows


def _dual(dual: Dual) -> Cells:
    rows = [["cosine", str(dual.cosine)], ["dot", str(dual.dot)], ["dot - cosine", str(dual.difference)]]
    return ["scorer", dual.metric], rows


def _isotropy(sides: Sequence[Isotropy]) -> Cells:
    heads = ["side", "mean\ncosine", "IsoScore", "effective\nrank"]
    heads += ["variance\nof top 1", "variance\nof top 3", "variance\nof top 10", "partition\nscore", "uniformity"]
    rows = []
    for row in sides:
        shares = [f"{row.variance_shares.get(k, float('nan')):.1%}" for k in ("1", "3", "10")]
        numbers = [f"{row.mean_cosine:.4f}", f"{row.isoscore:.4f}", f"{row.effective_rank:.1f}"]
        rows.append([row.side, *numbers, *shares, str(row.partition), str(row.uniformity)])
        if row.constant_dimensions:
            rows.append([f"{row.side}: {row.constant_dimensions} dimensions are constant"])
    return heads, rows


def _top_dimension(sides: Sequence[Isotropy]) -> Cells:
    heads = ["side", "dimension that\nvaries most", "its share of\nthe variance", "an even\nshare"]
    return heads, [
        [row.side, str(row.top_dimension), f"{row.top_dimension_share:.1%}", f"{1 / row.dimension:.1%}"]
        for row in sides
    ]


def _negatives(negatives: Negatives) -> Cells:
    rows = [
        [f"mean cosine of {negatives.positives:,} positive pairs", f"{negatives.positive_mean:.4f}"],
        ["alignment", f"{negatives.alignment:.4f}"],
        ["mean cosine of negative pairs", f"{negatives.mean:.4f}"],
        ["variance of negative pairs", f"{negatives.variance.value:.5f}"],
        *(
            [
                f"  left by batches of {bound.batch} of {negatives.training_size:,}",
                f"{bound.low:.2g} to {bound.high:.2g}",
            ]
            for bound in negatives.bounds
        ),
    ]
    return ["", "value"], rows


def _dimensions(sides: Sequence[Dimensions]) -> Cells:
    heads = ["side", *DIMENSION_HEADS]
    return heads, [[row.side, *dimension_cells(row)] for row in sides]


def dimension_cells(row: Dimensions) -> list[str]:
    """The largest dimension, the shares of the first, and how many make a part: the cells of ``DIMENSION_HEADS``."""
    shares = [f"{row.cumulative_shares.get(k, float('nan')):.3f}" for k in ("1", "2", "3")]
    needed = [str(row.needed[share] or "-") for share in ("0.1", "0.2", "0.5")]
    return [str(row.order[0]), *shares, *needed]


def _without_dimensions(sides: Sequence[Dimensions]) -> Cells:
    dropped = [k for k in DROPPED if any(k in row.informativity for row in sides)]
    rows = [[row.side, *(f"{row.informativity.get(k, float('nan')):.3f}" for k in dropped)] for row in sides]
    return ["side", *map(without_head, dropped)], rows if dropped else []


def without_head(count: str) -> str:
    """The head of a column of what is left without the largest dimensions."""
    return "without\nthe largest" if count == "1" else f"without\nlargest {count}"


def _hubness(scorers: Sequence[Hubness]) -> Cells:
    heads = ["scorer", "skewness", "Robin Hood\nindex", "Gini\nindex", "anti-hubs\n(in no list)", "hubs"]
    heads += ["worst hubs\n(lists they are in)"]
    rows = []
    for row in scorers:
        worst = ", ".join(f"{shown_id(hub.id)} ({hub.occurrences})" for hub in row.worst[:3])
        shares = [f"{row.robin_hood:.3f}", f"{row.gini:.3f}", f"{row.antihub_share:.1%}"]
        rows.append([row.scorer, f"{row.skewness:.2f}", *shares, str(row.hub_count), worst])
    chance = scorers[0].chance
    shares = [f"{chance['robin_hood']:.3f}", f"{chance['gini']:.3f}", f"{chance['antihub_share']:.1%}"]
    return heads, [*rows, ["by chance", f"{chance['skewness']:.2f}", *shares, "", ""]]


def _spread(spread: Spread) -> Cells:
    heads = ["relevance over documents", "measured", "by chance"]
    rows = [
        ["Gini index", f"{spread.gini:.3f}", f"{spread.gini_by_chance:.3f}"],
        ["documents that no query wants", f"{spread.never_share:.1%}", f"{spread.never_by_chance:.1%}"],
        ["entropy, as a share of an even spread", f"{spread.entropy:.3f}", ""],
        ["judgments for what another query wants too", f"{spread.wanted_again:.1%}", ""],
        ["queries that the most popular document suits", f"{spread.most_wanted:,}", ""],
    ]
    return heads, rows


def _ceiling(ceiling: Ceiling) -> Cells:
    heads = ["what a document is given", f"{ceiling.metric}\nover cosine, held out", "p", "folds that\nuse it"]
    rows = [[KINDS[row.kind], with_interval(*row.gain), chance_alone(row.p), f"{row.used:.0%}"] for row in ceiling.rows]
    return heads, rows


def _fisher(fisher: Fisher) -> Cells:
    heads = [
        "side",
        "normalize",
        "scale",
        "trace",
        "rank",
        "effective\nrank",
        "condition\nnumber",
        "condition\nwith ridge",
    ]
    rows = []
    for row in fisher.spectra:
        numbers = [f"{row.scale:.3g}", f"{row.trace:.3g}", str(row.rank), f"{row.effective_rank:.1f}"]
        rows.append([row.side, row.normalize, *numbers, f"{row.condition:.3g}", f"{row.condition_ridge:.3g}"])
    return heads, rows


def _gradients(sides: Sequence[Gradients]) -> Cells:
    heads = ["side", "mean\ngradient", "median\ngradient", "least\ngradient", "pairs that\nhardly learn"]
    heads += ["since\ntoo long", "since\nopposite", "pairs\nalike already"]
    rows = []
    for row in sides:
        numbers = [f"{row.mean:.3g}", f"{row.median:.3g}", f"{row.least:.3g}"]
        shares = [
            f"{share:.1%}"
            for share in (row.hardly_learn, row.hardly_learn_long, row.hardly_learn_opposite, row.alike_already)
        ]
        rows.append([row.side, *numbers, *shares])
    return heads, rows


def _frequency(sides: Sequence[FrequencyBias]) -> Cells:
    (bias,) = sides
    heads = ["band, rarest\ntokens first", "documents", "tokens\nper million", "mean cosine\nwithin band"]
    heads += ["mean cosine\nwith all", "mean cosine of\npositive pairs (pairs)"]
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


def _short(estimate: Estimate) -> str:
    """An estimate with two digits and its interval; a dash where it is not known."""
    if estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value:+.2f} [{estimate.low:+.2f}, {estimate.high:+.2f}]"


def _plain_fields(part: Any) -> Cells:
    """The words and numbers of each part, a row a part: for a section that registers no table of its own."""
    parts = part if isinstance(part, list) else [part]
    names = [field.name for field in fields(parts[0]) if isinstance(getattr(parts[0], field.name), PLAIN)]
    values = [[getattr(each, name) for name in names] for each in parts]
    rows = [[f"{value:.4g}" if isinstance(value, float) else str(value) for value in row] for row in values]
    return [name.replace("_", " ") for name in names], rows


# the tables of each section, title by title; one that is not here is printed by its fields
def _modalities(part: Modalities) -> Cells:
    first, second = part.kinds
    rows = [
        ["distance of the mean directions", f"{part.gap:.3f}"],
        ["share of all variance that is between the kinds", f"{part.variance_share:.3f}"],
        ["pairs whose document is among the ten nearest", f"{part.found:.3f}"],
    ]
    for kind, certainty in ((first, part.query_certainty), (second, part.document_certainty)):
        if certainty is not None:
            rows.append([f"chance that a found pair has the longer {kind} vector", str(certainty)])
    return ["measure", "value"], rows


TABLES: dict[str, dict[str, Callable[[Any], Cells]]] = {
    "lengths": {"lengths": _lengths, "length against the text": _with_text},
    "relevance": {"length and relevance": _relevance},
    "dual": {"the same vectors by cosine and by dot product": _dual},
    "isotropy": {"isotropy": _isotropy, "variance of a single dimension": _top_dimension},
    "negatives": {"positive and negative similarities": _negatives},
    "dimensions": {
        "dimensions: what the largest make of the mean cosine": _dimensions,
        "dimensions: how closely cosines without the largest follow all cosines (r^2)": _without_dimensions,
    },
    "hubness": {"hubs": _hubness},
    "modalities": {"texts against images": _modalities, "hubs of each kind": lambda part: _hubness(part.hubs)},
    "spread": {"how relevance is spread": _spread},
    "ceiling": {"what numbers about documents alone gain": _ceiling},
    "fisher": {"Fisher information (our construction, not the papers')": _fisher},
    "gradients": {"gradients of cosine on positive pairs": _gradients},
    "frequency": {"frequency bias": _frequency},
}
