"""``offsphere embed``: texts to vectors that keep their length, in a store that survives a kill."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_of_tasks
from offsphere.cli.steps.plan_steps import PlanOptions
from offsphere.cli.steps.runner_steps import RunnerOptions

if TYPE_CHECKING:
    from offsphere.data.store import Manifest
    from offsphere.data.task import Task
    from offsphere.encode.encoder import Encoder
    from offsphere.encode.served_plan import ServedPlan


@with_groups
def embed_command(
    data: Annotated[
        str,
        typer.Argument(
            help="A BEIR folder, a folder with corpus.jsonl alone, TREC files, an STS table, or a hub name."
        ),
    ],
    model: Annotated[str, typer.Option(help=options.MODEL_HELP)] = "wordllama",
    query_model: options.QueryModel = None,
    *,
    running: options.RuntimeOptions,
    out: Annotated[Path | None, typer.Option(help="Where to keep the vectors. Default: the user's cache.")] = None,
    split: Annotated[
        str | None, typer.Option(help="Embed this split alone: test, dev, train, ... [all that DATA has]")
    ] = None,
    keep_normalize: Annotated[
        bool, typer.Option("--keep-normalize", help="Leave the model's Normalize stages in: all lengths will be one.")
    ] = False,
    dtype: Annotated[str, typer.Option(help="float32, or float16 for half the size.")] = "float32",
    price: Annotated[
        float | None,
        typer.Option(min=0, help="What an API takes for a million tokens: tells what this will cost before it starts."),
    ] = None,
    reading: options.ReadingOptions,
    shard: Annotated[
        str | None,
        typer.Option("--shard", help="Embed one of n shards of the documents, such as 2/7; 1/7 also has the queries."),
    ] = None,
    runners: RunnerOptions,
    plans: PlanOptions,
) -> None:
    """Encode a task's texts. A killed run goes on where it stopped; nothing is encoded twice."""
    from offsphere.data import load_task
    from offsphere.data.store import read_manifest
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.encode.embedding import default_folder, embed, items_by_store
    from offsphere.encode.served_plan import served_plans
    from offsphere.encode.shard_embedding import embed_shard, items_of_shard
    from offsphere.encode.sources import load_encoder
    from offsphere.shards.shard import Shard

    run: dict[str, Any] = {"keep_normalize": keep_normalize, "runtime": running.runtime}
    alone = {"--shard": shard, "--price": price}
    source = EmbeddedSource(
        data,
        model,
        out,
        query_model=query_model,
        runtime=running.runtime,
        **reading.for_texts,
    )
    planned = plans.request(runners)
    if planned is not None:
        planned.embed(source, split, dtype)
        return
    gathered = runners.request(alone)
    if gathered is not None:
        _echo_stores(gathered.embed(source, out, split, dtype, keep_normalize=keep_normalize))
        return
    task = load_task(data, split, **reading.for_texts)
    warn_of_tasks(task)
    encoder = load_encoder(model, **run)
    asking = load_encoder(query_model, **run) if query_model is not None else None
    names = [each.description.model for each in (asking, encoder) if each is not None]
    folder = out if out is not None else default_folder(task.name, *names)
    part = Shard.read(shard) if shard is not None else None
    parts = items_of_shard(task, part.number, part.count) if part is not None else items_by_store(task)
    _echo_plans(served_plans(task, encoder, asking, folder, parts), price)
    if part is not None:
        with progress_bar("embedding") as progress:
            stores = embed_shard(
                task, encoder, folder, part.number, part.count, query_encoder=asking, dtype=dtype, progress=progress
            )
        _echo_stores(store.folder for store in stores)
        _echo_notes(encoder, asking)
        return
    with progress_bar("embedding") as progress:
        embed(task, encoder, folder, query_model=asking, dtype=dtype, progress=progress)
    names = list(items_by_store(task))
    if split is None:  # what learns from another split looks for its vectors here
        names += _embed_other_splits(
            data, task, encoder, folder, query_encoder=asking, dtype=dtype, **reading.for_texts
        )
    for name in names:
        manifest = read_manifest(folder / name)
        _echo_manifest(folder / name, manifest)
    if manifest.normalization_removed:
        typer.echo(f"taken out of the model so that lengths are kept: {', '.join(manifest.normalization_removed)}")
    if manifest.similarity is not None:
        typer.echo(f"the model declares: {manifest.similarity}")
    _echo_notes(encoder, asking)


def _embed_other_splits(data: str, task: Task, encoder: Encoder, folder: Path, **how: Any) -> list[str]:
    """Embed what the other splits ask; the names of their stores. Of a split that is left out it says why."""
    from offsphere.encode.split_embedding import embed_other_splits

    with progress_bar("embedding other splits") as progress:
        others = list(embed_other_splits(data, task, encoder, folder, progress=progress, **how))
    for other in others:
        if other.left_out:
            typer.echo(f"warning: the split {other.name} is left out: {other.left_out}", err=True)
    return [other.name for other in others if not other.left_out]


def _echo_plans(plans: Mapping[str, ServedPlan], price: float | None) -> None:
    """Say what an API will be asked, and what that costs."""
    for side, plan in plans.items():
        typer.echo(f"{side}: {plan.sentence(price)}", err=True)


def _echo_stores(stores: Iterable[Path]) -> None:
    """Say what is in each of several stores."""
    from offsphere.data.store import read_manifest

    for store in stores:
        _echo_manifest(store, read_manifest(store))


def _echo_manifest(store: Path, manifest: Manifest) -> None:
    """Say what is in a store, and warn of texts that are empty."""
    shape = f"{manifest.rows:,} x {manifest.dimension} {manifest.dtype}"
    typer.echo(f"{store}: {shape} by {manifest.model}")
    if manifest.empty:
        typer.echo(f"warning: {manifest.empty} texts of {store.name} are empty; they are kept", err=True)


def _echo_notes(encoder: Encoder, asking: Encoder | None) -> None:
    """Warn of what one must know of the vectors that an API gave."""
    from offsphere.encode.served_plan import served_notes

    for note in served_notes(encoder, asking):
        typer.echo(f"warning: {note}", err=True)
