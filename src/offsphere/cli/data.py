"""``offsphere data``: make a task from what is at hand, or say what a task holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

data_app = typer.Typer(help="Make a task from what is at hand, or say what a task holds.", no_args_is_help=True)


@data_app.command("docstrings")
def docstrings_command(
    out: Annotated[Path, typer.Option(help="Where to write the task, as a BEIR folder.")],
    package: Annotated[
        list[str] | None, typer.Option(help="An installed package, or stdlib. Repeatable. [stdlib, numpy, scipy]")
    ] = None,
) -> None:
    """Make a ranking task from the docstrings of installed Python packages: real text, no download."""
    from offsphere.data.formats.docstrings import DEFAULT_PACKAGES, write_docstrings

    counts = write_docstrings(out, package or DEFAULT_PACKAGES)
    told = ", ".join(f"{count:,} {split}" for split, count in counts.items())
    typer.echo(f"{out}: {told} queries; the judgments are made, not human")


@data_app.command("info")
def info_command(
    data: Annotated[str, typer.Argument(help="A task, as offsphere compare takes it.")],
    split: Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")] = None,
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Say what a task holds."""
    from offsphere.data import load_task

    found = load_task(data, split, ignore_missing=ignore_missing, vectors=data).info()
    if as_json:
        typer.echo(json.dumps(found, indent=2))
        return
    width = max(len(name) for name in found)
    for name, value in found.items():
        if value is not None:
            shown = f"{value:,}" if isinstance(value, int) else f"{value:.1f}" if isinstance(value, float) else value
            typer.echo(f"{name.replace('_', ' '):<{width}}  {shown}")


@data_app.command("export")
def export_command(
    store: Annotated[Path, typer.Argument(help="A store, such as vectors/documents.")],
    target: Annotated[
        str,
        typer.Argument(help=".npy, .npz, .parquet, .safetensors, .faiss, qdrant:FOLDER:NAME or lancedb:FOLDER:NAME"),
    ],
) -> None:
    """Write a store's vectors and ids to a file or into a local collection, lengths kept."""
    from offsphere.data.store import open_store
    from offsphere.engines.exchange import export_store

    held = open_store(store)
    export_store(held, target)
    typer.echo(f"{target}: {held.manifest.rows:,} x {held.manifest.dimension}")


@data_app.command("import")
def import_command(
    source: Annotated[
        str,
        typer.Argument(help=".npy, .npz, .parquet, .safetensors, .faiss, qdrant:FOLDER:NAME or lancedb:FOLDER:NAME"),
    ],
    store: Annotated[Path, typer.Argument(help="The store to make, such as vectors/documents.")],
    model: Annotated[str, typer.Option(help="What made the vectors.")] = "imported",
) -> None:
    """Make a store from vectors that exist already."""
    from offsphere.engines.exchange import import_vectors

    held = import_vectors(source, store, model=model)
    typer.echo(f"{store}: {held.manifest.rows:,} x {held.manifest.dimension}")
