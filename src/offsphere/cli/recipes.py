"""``offsphere recipes``: the named recipes, and what each does with length."""

from __future__ import annotations

import json

import typer

from offsphere.cli import options


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
    shown = ("recipe", "similarity", "symmetry", "temperature", "views", "negatives", "length")
    for name in shown:
        table.add_column(name, no_wrap=True)
    for row in rows:
        table.add_row(*(str(row[name]) for name in shown))
    console = Console(width=max(160, Console().width), highlight=False, markup=False)
    console.print(table)
    console.print()
    for row in rows:
        console.print(f"{row['recipe']}: {row['says']} ({row['paper']})", soft_wrap=True)
    console.print("Use one with offsphere train DATA --model M --recipe NAME; any field can be changed with --set.")
