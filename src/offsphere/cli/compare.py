"""``offsphere compare``: which similarity ranks best on this task, by how much, and is that chance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.cli.options import shared_options as options
from offsphere.cli.options.deployed import CollectionOptions, deployed_values, echo_deployed
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.options.other_systems import OtherSystems
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_left_out
from offsphere.cli.steps.plan_steps import SearchPlanOptions, named
from offsphere.cli.steps.reader_steps import ReaderOptions, print_reading
from offsphere.cli.steps.runner_steps import ShardStateOptions
from offsphere.cli.steps.shard_steps import ShardRequest
from offsphere.cli.steps.writable import check_writable

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison


@with_groups
def compare_command(
    data: options.MaybeData = None,
    vectors: options.VectorFolder = None,
    *,
    models: options.ModelOptions,
    deployed: CollectionOptions,
    metric: Annotated[
        str | None,
        typer.Option(help="ndcg@10, mrr@10, recall@100, map@100, pooled-ap@100, spearman, ... [ndcg@10 or spearman]"),
    ] = None,
    split: options.Split = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only these with cosine: 'dot', 'whiten(0.5) + polar(1, 0.75)', or the folder of a saved "
            "scorer or adapter. Repeatable."
        ),
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Folder to save the recommended scorer in.")] = None,
    by: options.By = None,
    readers: ReaderOptions,
    worth: options.Worth = None,
    stored: options.Stored = None,
    others: OtherSystems,
    more: options.More = False,
    reading: options.VerifiedReading,
    shard: options.ShardName = None,
    fitted: Annotated[
        list[Path] | None,
        typer.Option("--fitted", help="What all shards fitted, so that this one can be searched. Repeatable."),
    ] = None,
    state: options.StateFile = None,
    runners: ShardStateOptions,
    plans: SearchPlanOptions,
    folds: options.Folds = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of folds, intervals and tests.")] = 0,
    every_row: Annotated[bool, typer.Option("--all", help="Show every row, not only the first ones.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say also which names rank alike, and how often each scorer was chosen.")
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Compare every similarity, exactly and with held-out values, intervals and corrected tests."""
    from offsphere.comparison.compare_scorers import compare
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.engines.deployed.collection_source import deployment_of
    from offsphere.scoring.names import read_scorer
    from offsphere.scoring.stored.stored_form import parse_stored
    from offsphere.shards.compare_question import CompareOptions
    from offsphere.statistics.metrics import parse_metric

    # what can be wrong in the command itself is said before any file is read
    if metric is not None:
        parse_metric(metric)
    if stored is not None:
        parse_stored(stored)
    scorers = [read_scorer(name) for name in scorer] if scorer else None
    lists = others.sources(models, ignore_missing=reading.ignore_missing)
    request = readers.request()
    if save is not None:
        check_writable(save / "scorer.json")
    alone = {
        "--collection": deployed.collection,
        "--reader": readers.reader,
        "--stored": stored,
        "--run": others.run,
        "--bm25": others.bm25,
        "--fuse": others.fuse,
        "--judge": others.judge,
        "--tokens": others.tokens,
        "--more": more,
    }
    asked = CompareOptions(scorers=scorer, metric=metric, folds=folds, seed=seed, worth=worth, by=by)
    planned = plans.request(runners, as_json=as_json)
    if planned is not None:
        source = EmbeddedSource(data, models.model, vectors) if data is not None else None
        planned.compare(source, split, asked)
        return
    divided = ShardRequest.of(
        shard, fitted, state, {"--on": runners.on, "--model": models.model, **alone, "--save": save, "--json": as_json}
    )
    gathered = runners.request(alone)
    source = deployed.source(named(data), vectors, models, reading)
    if divided is not None:
        divided.compare(source, split, asked)
        return
    if gathered is not None:
        table = gathered.compare(gathered.embedded(source, split), split, asked)
        _show(table, save, every_row, verbose, as_json=as_json)
        return
    with progress_bar("embedding") as progress:
        task, embedded = source.load(split, progress)
    warn_left_out((task, embedded))
    deployment = deployment_of(source, task, embedded, metric)
    with progress_bar("comparing") as progress:
        table = compare(
            task,
            embedded,
            scorers,
            metric=metric,
            folds=folds,
            seed=seed,
            declared=source.made_by(task).get("similarity"),
            deployed=deployment.scorer.name if deployment is not None and deployment.scorer is not None else None,
            worth=worth,
            by=by,
            stored=[stored] if stored is not None else [],
            lists=lists,
            more=more,
            progress=progress,
        )
    read = request.run(task, embedded, scorers, by, seed) if request is not None else None
    beside = {}
    if as_json:
        beside = deployed_values(deployment, table) | ({"reader": read.to_json()} if read is not None else {})
    _show(table, save, every_row, verbose, as_json=as_json, beside=beside)
    if not as_json:
        echo_deployed(deployment, table)
        if read is not None:
            print_reading(read)


def _show(
    table: Comparison,
    save: Path | None,
    every_row: bool,
    verbose: bool,
    *,
    as_json: bool,
    beside: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Save the recommended scorer where it is wanted, and print the table, or it and what stands beside it as JSON."""
    from offsphere.cli.tables.comparison_table import print_comparison
    from offsphere.cli.tables.stored_table import print_stored
    from offsphere.comparison.verdict import recommended_choice

    if save is not None:
        recommended_choice(table).scorer.save(save)
    if as_json:
        typer.echo(json.dumps(table.to_json() | dict(beside), indent=2))
        return
    print_comparison(table, every_row=every_row, verbose=verbose)
    print_stored(table)
    if save is not None:
        typer.echo(f"The scorer is in {save}.")
