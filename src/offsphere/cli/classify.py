"""``offsphere classify``: which classes of pictures can be told from their vectors, with lengths and without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from offsphere.base.reading.tables import text_lines
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.tables.paragraphs import echo_paragraph


@with_groups
def classify_command(
    data: Annotated[
        str, typer.Argument(help="Pictures in a folder for each class, arrays with labels (.npz, idx), or a hub name.")
    ],
    model: Annotated[str, typer.Option(help=f"A model that takes pictures. {options.MODEL_HELP}")],
    *,
    running: options.RuntimeOptions,
    out: Annotated[Path | None, typer.Option(help="Where to keep the vectors. Default: the user's cache.")] = None,
    split: Annotated[str | None, typer.Option(help="What is judged. [test]")] = None,
    train_split: Annotated[str, typer.Option(help="What is learned from.")] = "train",
    names: Annotated[
        Path | None, typer.Option(help="A file with the names of the classes in words, one a line, in their order.")
    ] = None,
    template: Annotated[
        list[str] | None, typer.Option(help="What the model is told of a class. Repeatable. ['a photo of a {}']")
    ] = None,
    neighbours: Annotated[int, typer.Option(min=1, help="How many nearest items vote.")] = 20,
    most: Annotated[int, typer.Option(min=2, help="Items that are learned from at most, drawn at random.")] = 10_000,
    ignore_broken: options.IgnoreBroken = False,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of what is drawn.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Tell classes by nearest neighbours, by a linear probe, and from their names alone."""
    from offsphere.comparison.classification import classify
    from offsphere.encode.embedded_labels import TEMPLATE, embed_labels

    with progress_bar("embedding") as progress:
        parts = embed_labels(
            data,
            model,
            split=split,
            train_split=train_split,
            out=out,
            classes=[line for _, line in text_lines(names)] if names is not None else None,
            templates=template or [TEMPLATE],
            most=most,
            ignore_broken=ignore_broken,
            runtime=running.runtime,
            seed=seed,
            progress=progress,
        )
    for note in dict.fromkeys([*parts.train.notes, *parts.test.notes]):
        typer.echo(f"warning: {note}", err=True)
    result = classify(parts, neighbours=neighbours)
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=2))
        return
    echo_paragraph(
        f"{result.name}: {result.classes} classes, learned from {result.learned:,}, judged by {result.judged:,}"
    )
    for row in result.rows:
        typer.echo(f"{row.method:<22}  {row.vectors:<11}  {row.accuracy}")
