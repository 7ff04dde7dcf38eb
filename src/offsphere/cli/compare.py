"""``offsphere compare``: which similarity ranks best on this task, by how much, and is that chance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.cli import options, plan_steps, reader_steps, runner_steps
from offsphere.cli.deployed import CollectionFields, deployed_values, deployment_of, echo_deployed, source_of
from offsphere.cli.left_out import warn_left_out
from offsphere.cli.other_systems import sources_of, token_rows_of
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.shard_steps import ShardRequest
from offsphere.cli.writable import check_writable

if TYPE_CHECKING:
    from offsphere.comparison.table import Comparison


def compare_command(
    data: options.MaybeData = None,
    vectors: options.Vectors = None,
    model: options.Model = None,
    query_model: options.QueryModel = None,
    backend: options.Backend = "torch",
    model_dtype: options.ModelDtype = None,
    processes: options.Processes = 1,
    collection: options.Collection = None,
    id_field: options.IdField = None,
    vector_column: options.VectorColumn = None,
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
    reader: reader_steps.Name = None,
    reader_model: reader_steps.Model = None,
    passages: reader_steps.Passages = 5,
    reader_workers: reader_steps.Workers = 4,
    worth: options.Worth = None,
    stored: options.Stored = None,
    run: options.Run = None,
    bm25: options.WithBm25 = False,
    fuse: options.Fuse = None,
    judge: options.JudgedBy = None,
    judge_top: options.JudgedTop = 50,
    tokens: options.Tokens = None,
    token_model: options.TokenModel = None,
    layer: options.TokenLayer = "last",
    token_top: options.TokenTop = 100,
    more: options.More = False,
    ignore_missing: options.IgnoreMissing = False,
    ignore_broken: options.IgnoreBroken = False,
    reverse: options.Reverse = False,
    no_verify: options.NoVerify = False,
    shard: options.Shard = None,
    fitted: Annotated[
        list[Path] | None,
        typer.Option("--fitted", help="What all shards fitted, so that this one can be searched. Repeatable."),
    ] = None,
    state: options.StateFile = None,
    on: runner_steps.On = None,
    workers: runner_steps.Workers = None,
    cpus: runner_steps.Cpus = None,
    gpus: runner_steps.Gpus = None,
    object_store: runner_steps.ObjectStore = None,
    shards: runner_steps.Shards = None,
    states: runner_steps.States = None,
    plan: plan_steps.Wanted = False,
    documents: plan_steps.Documents = None,
    dimension: plan_steps.Dimension = None,
    queries: plan_steps.Queries = None,
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
    from offsphere.encode.runtime import Runtime
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
    judged = (judge, judge_top) if judge is not None else None
    lists = sources_of(run, bm25=bm25, fuse=fuse, judge=judged, ignore_missing=ignore_missing)
    lists += token_rows_of(tokens, token_model or model, layer, token_top)
    request = reader_steps.ReaderRequest.of(reader, reader_model, passages, reader_workers)
    if save is not None:
        check_writable(save / "scorer.json")
    alone = {
        "--collection": collection,
        "--reader": reader,
        "--stored": stored,
        "--run": run,
        "--bm25": bm25,
        "--fuse": fuse,
        "--judge": judge,
        "--tokens": tokens,
        "--more": more,
    }
    named = CompareOptions(scorers=scorer, metric=metric, folds=folds, seed=seed, worth=worth, by=by)
    planned = plan_steps.PlanRequest.of(plan, documents, dimension, queries, workers, cpus, shards, as_json=as_json)
    if planned is not None:
        source = EmbeddedSource(data, model, vectors) if data is not None else None
        planned.compare(source, split, named)
        return
    divided = ShardRequest.of(
        shard, fitted, state, {"--on": on, "--model": model, **alone, "--save": save, "--json": as_json}
    )
    gathered = runner_steps.RunnerRequest.of(on, workers, cpus, gpus, object_store, shards, states, alone)
    source = source_of(
        plan_steps.named(data),
        model,
        vectors,
        ignore_missing=ignore_missing,
        verify=not no_verify,
        fields=CollectionFields(collection, id_field, vector_column),
        query_model=query_model,
        ignore_broken=ignore_broken,
        reverse=reverse,
        runtime=Runtime(backend, model_dtype, processes),
    )
    if divided is not None:
        divided.compare(source, split, named)
        return
    if gathered is not None:
        table = gathered.compare(gathered.embedded(source, split), split, named)
        _show(table, save, every_row, verbose, as_json=as_json)
        return
    with progress_bar("embedding") as progress:
        task, embedded = source.load(split, progress)
    warn_left_out((task, embedded))
    deployment = deployment_of(source, task, embedded)
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
            reader_steps.print_reading(read)


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
    from offsphere.cli.comparison_table import print_comparison
    from offsphere.cli.stored_table import print_stored
    from offsphere.comparison.choice import choose

    if save is not None:
        choose(table).scorer.save(save)
    if as_json:
        typer.echo(json.dumps(table.to_json() | dict(beside), indent=2))
        return
    print_comparison(table, every_row=every_row, verbose=verbose)
    print_stored(table)
    if save is not None:
        typer.echo(f"The scorer is in {save}.")
