"""Layers of a transformer as tables for people."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from offsphere.cli.paragraphs import paragraph
from offsphere.cli.shape_tables import DIMENSION_HEADS, dimension_cells, print_rows, table_console
from offsphere.geometry.change import SelfSimilarityChange
from offsphere.geometry.layer_study import LayerStudy
from offsphere.geometry.layers import Layers
from offsphere.statistics.correlation import Correlation


def print_study(study: LayerStudy) -> None:
    """Print the layers of a model, then what changed between models."""
    print_layers(study.layers, study.side)
    print_changes(study.changes, study.agreement)


def print_layers(layers: Layers, side: str) -> None:
    """Print a table for the tokens, two with special ones, and two for the dimensions."""
    console = table_console()
    read = f"{layers.texts:,} {side} texts, {layers.token_count:,} tokens"
    title = f"{layers.model}: {read}, {layers.compared:,} distinct ones in two texts or more"
    console.print(Text(paragraph(title), style="bold"), soft_wrap=True)
    console.print(Text(paragraph(layers.sentence, "- ", "  ")), soft_wrap=True)
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
        rows.append(
            [str(row.layer), *(f"{number:.4f}" for number in numbers), str(row.count_and_self_similarity.spearman)]
        )
    print_rows(console, "tokens, without special ones", heads, rows)
    heads = ["layer", "anisotropy", "mean\nlength", "self-\nsimilarity", "similarity\nin a text"]
    rows = []
    for row in layers.layers:
        whole = row.with_special
        numbers = [whole.anisotropy, whole.mean_length, whole.self_similarity, whole.intra_similarity]
        rows.append([str(row.layer), *(f"{number:.4f}" for number in numbers)])
    print_rows(console, "tokens, special ones among them", heads, rows)
    heads = ["layer"]
    for token in layers.layers[0].special:
        heads += [f"{token.token}\nlength", "self-\nsimilarity", "less\nanisotropy"]
    rows = []
    for row in layers.layers:
        rows.append([str(row.layer)])
        for token in row.special:
            rows[-1] += [f"{number:.4f}" for number in (token.mean_length, token.self_similarity, token.adjusted)]
    if len(heads) > 1:
        print_rows(console, "special tokens alone", heads, rows)
    rows = [[str(row.layer), *dimension_cells(row.dimensions)] for row in layers.layers]
    print_rows(console, "dimensions: what the largest make of the anisotropy", ["layer", *DIMENSION_HEADS], rows)
    dropped = list(layers.layers[0].dimensions.informativity)
    rows = [
        [str(row.layer), *(f"{value:.3f}" for value in row.dimensions.informativity.values())] for row in layers.layers
    ]
    probes = layers.layers[0].dimensions.informative_rows
    without = "without so many of the largest dimensions"
    title = f"dimensions: how closely cosines of {probes:,} tokens follow all cosines (r^2), {without}"
    print_rows(console, title, ["layer", *dropped], rows)


def print_changes(changes: Sequence[SelfSimilarityChange], agreement: Correlation | None) -> None:
    """Print what changed between models, and whether the same tokens changed in both pairs."""
    console = table_console()
    for change in changes:
        console.print()
        console.print(Text(change.sentence), soft_wrap=True)
        for way, entries in (("rose", change.risen), ("fell", change.fallen)):
            tokens = ", ".join(f"{token} {value:+.3f}" for token, value in entries) or "none"
            console.print(Text(f"  {way} most: {tokens}"), soft_wrap=True)
    if agreement is not None:
        console.print()
        console.print(
            Text(
                f"the two changes correlate over {agreement.rows:,} tokens: Pearson {agreement.pearson}, "
                f"Spearman {agreement.spearman}"
            ),
            soft_wrap=True,
        )
