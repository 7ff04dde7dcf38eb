"""``offsphere recipes``: the named recipes, and what each does with length."""

from __future__ import annotations

import json

import typer

from offsphere.cli.options import shared_options as options
from offsphere.cli.tables.paragraphs import TABLE_WIDTH, paragraph

SHOWN = {
    "recipe": "recipe",
    "similarity": "similarity\nin training",
    "temperature": "temperature",
    "views": "positive\npairs",
    "negatives": "negatives\nfrom",
    "length": "what becomes\nof length",
}


def recipes_command(as_json: options.AsJson = False) -> None:
    """Print the named recipes: similarity, symmetry, temperature, negatives, and what becomes of length."""
    from offsphere.base.plain import plain
    from offsphere.learning.encoders.named_recipes import RECIPES

    rows = [
        {
            "recipe": name,
            "similarity": named.recipe.similarity,
            "symmetry": named.recipe.symmetry,
            "temperature": named.temperature,
            "views": named.recipe.views,
            "negatives": named.negatives,
            "length": named.length,
            "says": named.says,
            "paper": named.paper,
            "fields": plain(named.recipe.config()),
        }
        for name, named in RECIPES.items()
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in SHOWN.values():
        table.add_column(head, no_wrap=head == SHOWN["similarity"])
    for row in rows:
        table.add_row(*(str(row[name]) for name in SHOWN))
    Console(width=TABLE_WIDTH, highlight=False, markup=False).print(table)
    typer.echo()
    for row in rows:
        typer.echo(paragraph(f"{row['recipe']}, {row['symmetry']}: {row['says']} ({row['paper']})", "", "  "))
    typer.echo()
    typer.echo(
        paragraph("Use one with offsphere train DATA --model M --recipe NAME; any field can be changed with --set.")
    )
