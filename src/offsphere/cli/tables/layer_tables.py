"""Layers of a transformer as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from rich.console import Console
from rich.text import Text

from offsphere.cli.tables.paragraphs import paragraph
from offsphere.cli.tables.shape_tables import DIMENSION_HEADS, dimension_cells, print_rows, table_console
from offsphere.geometry.change import SelfSimilarityChange
from offsphere.geometry.dimensions import Dimensions
from offsphere.geometry.layer_study import LayerStudy
from offsphere.geometry.layers import Layers
from offsphere.statistics.correlation import Correlation


def print_layer_study(study: LayerStudy) -> None:
    """Print the layers of a model, then what changed between models."""
    print_layers(study.layers, study.side)
    print_changes(study.changes, study.agreement)


def print_layers(layers: Layers, side: str) -> None:
    """Print a table for the tokens, two with special ones, and those in which our definitions stand beside others'."""
    console = table_console()
    read = f"{layers.texts:,} {side} texts, {layers.token_count:,} tokens"
    title = f"{layers.model}: {read}, {layers.compared:,} distinct ones in two texts or more"
    console.print(Text(paragraph(title), style="bold"), soft_wrap=True)
    console.print(Text(paragraph(layers.sentence, "- ", "  ")), soft_wrap=True)
    _print_tokens(console, layers)
    _print_special(console, layers)
    _print_definitions(console, layers)
    _print_dimensions(console, layers)


def _print_tokens(console: Console, layers: Layers) -> None:
    """Ordinary tokens in every layer."""
    heads = [
        "layer",
        "anisotropy",
        "mean\nlength",
        "self-\nsimilarity",
        "less\nanisotropy",
        "similarity\nin a text",
        "less\nanisotropy",
        "self-similarity and\nfrequency (Spearman)",
    ]
    rows = []
    for row in layers.layers:
        numbers = [row.anisotropy, row.mean_length, row.self_similarity, row.self_adjusted]
        numbers += [row.intra_similarity, row.intra_adjusted]
        rows.append([*_cells(row.layer, numbers), str(row.count_and_self_similarity.spearman)])
    print_rows(console, "tokens, without special ones", heads, rows)


def _print_special(console: Console, layers: Layers) -> None:
    """Special tokens among the others, and alone."""
    heads = ["layer", "anisotropy", "mean\nlength", "self-\nsimilarity", "similarity\nin a text"]
    rows = []
    for row in layers.layers:
        whole = row.with_special
        numbers = [whole.anisotropy, whole.mean_length, whole.self_similarity, whole.intra_similarity]
        rows.append(_cells(row.layer, numbers))
    print_rows(console, "tokens, special ones among them", heads, rows)
    heads = ["layer"]
    for token in layers.layers[0].special:
        heads += [f"{token.token}\nlength", "self-\nsimilarity", "less\nanisotropy"]
    rows = []
    for row in layers.layers:
        numbers = []
        for token in row.special:
            numbers += [token.mean_length, token.self_similarity, token.adjusted]
        rows.append(_cells(row.layer, numbers))
    if len(heads) > 1:
        print_rows(console, "special tokens alone", heads, rows)


def _print_definitions(console: Console, layers: Layers) -> None:
    """Self-similarity as we define it, beside that of Xiao et al."""
    often = f"at least\n{layers.at_least} times"
    heads = ["layer", "two texts\nor more", "less\nanisotropy", often, "less\nanisotropy", "as dimensions\ndivide it"]
    rows = []
    for row in layers.layers:
        ours = [row.self_similarity, row.self_adjusted]
        theirs = [row.frequent.self_similarity, row.frequent.self_adjusted, row.frequent.with_itself]
        rows.append(_cells(row.layer, [*ours, *theirs]))
    frequent = layers.layers[0].frequent
    title = (
        f"self-similarity by definition: ours, over the {layers.compared:,} tokens in two texts or more; that of Xiao "
        f"et al., over the {frequent.tokens:,} of them that occur at least {layers.at_least} times; and what their "
        f"dimensions divide, over {frequent.tokens_with_special:,}, special ones among them, each occurrence compared "
        "with itself, too"
    )
    print_rows(console, title, heads, rows)


def _print_dimensions(console: Console, layers: Layers) -> None:
    """What dimensions make of the anisotropy and of self-similarity, and what cosines are without them."""
    kinds: dict[str, list[Dimensions | None]] = {
        "anisotropy (ours; without special tokens)": [row.anisotropy_dimensions for row in layers.layers],
        f"self-similarity (Xiao et al.; tokens that occur at least {layers.at_least} times, special ones among them)": [
            row.frequent.dimensions for row in layers.layers
        ],
    }
    for name, each in kinds.items():
        known = [(str(number), row) for number, row in enumerate(each) if row is not None]
        rows = [[number, *dimension_cells(row)] for number, row in known]
        if not known:
            continue
        print_rows(console, f"dimensions of {name}: what the largest make of it", ["layer", *DIMENSION_HEADS], rows)
        _, first = known[0]
        rows = [[number, *(f"{value:.3f}" for value in row.informativity.values())] for number, row in known]
        title = (
            f"dimensions of {name}: how closely cosines of {first.informative_rows:,} tokens follow all cosines (r^2), "
            "without so many of the largest dimensions"
        )
        print_rows(console, title, ["layer", *first.informativity], rows)


def _cells(layer: int, numbers: Sequence[float]) -> list[str]:
    """A row of a table: the layer, then numbers, or a dash where there is none."""
    return [str(layer), *("-" if isnan(number) else f"{number:.4f}" for number in numbers)]


def print_changes(changes: Sequence[SelfSimilarityChange], agreement: Correlation | None) -> None:
    """Print what changed between models, and whether the same tokens changed in both pairs."""
    console = table_console()
    for change in changes:
        console.print()
        console.print(Text(paragraph(change.sentence)), soft_wrap=True)
        for way, entries in (("rose", change.risen), ("fell", change.fallen)):
            tokens = ", ".join(f"{token} {value:+.3f}" for token, value in entries) or "none"
            console.print(Text(paragraph(f"{way} most: {tokens}", "  ", "    ")), soft_wrap=True)
    if agreement is not None:
        console.print()
        told = (
            f"the two changes correlate over {agreement.rows:,} tokens: Pearson {agreement.pearson}, "
            f"Spearman {agreement.spearman}"
        )
        console.print(Text(paragraph(told)), soft_wrap=True)
