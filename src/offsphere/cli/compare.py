"""``offsphere compare``: which similarity ranks best on this task, by how much, and is that luck."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from offsphere.cli.embed import MODEL_HELP
from offsphere.cli.loading import load_all
from offsphere.cli.progress import progress_bar
from offsphere.data.task import Task, TaskVectors

NAMED_AT_MOST = 5  # empty vectors in a warning


def compare_command(
    data: Annotated[
        str,
        typer.Argument(
            help="A BEIR folder, a folder with corpus.jsonl alone, TREC files, an STS table, qrels, or a hub name."
        ),
    ],
    vectors: Annotated[
        Path | None,
        typer.Option(help="Folder with queries.* and documents.* (pairs: left.*, right.*). Default: DATA itself."),
    ] = None,
    model: Annotated[str | None, typer.Option(help=f"Embed with this model. {MODEL_HELP}")] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="ndcg@10, mrr@10, recall@100, map@100, pooled-ap@100, spearman, ... [ndcg@10 or spearman]"),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Which judgments: test, dev, train, ...")] = None,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare only these with cosine: 'dot', 'whiten(0.5) + polar(1, 0.75)', or the folder of a saved "
            "scorer or adapter. Repeatable."
        ),
    ] = None,
    ignore_missing: Annotated[
        bool, typer.Option("--ignore-missing", help="Go on without judgments for unknown queries or documents.")
    ] = False,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation that tunes free parameters.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds, intervals and tests.")] = 0,
    every_row: Annotated[bool, typer.Option("--all", help="Show every row, not only the first ones.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Compare every similarity, exactly and with held-out values, intervals and corrected tests."""
    from offsphere.comparison.compare_scorers import compare
    from offsphere.scoring.names import read_scorer
    from offsphere.statistics.metrics import parse_metric

    # what can be wrong in the command itself is said before any file is read
    if metric is not None:
        parse_metric(metric)
    scorers = [read_scorer(name) for name in scorer] if scorer else None
    task, held, _ = load_all(data, model, vectors, split, ignore_missing=ignore_missing)
    warn_left_out(task, held)
    with progress_bar("comparing") as progress:
        result = compare(task, held, scorers, metric=metric, folds=folds, seed=seed, progress=progress)
    if as_json:
        typer.echo(json.dumps(result.to_json(), indent=2))
    else:
        from offsphere.cli.comparison_table import print_comparison

        print_comparison(result, every_row=every_row)


def warn_left_out(task: Task, held: TaskVectors) -> None:
    """Say on standard error what was left out."""
    for said in task.warnings():
        typer.echo(f"warning: {said}", err=True)
    if held.empty:
        named = ", ".join(held.empty[:NAMED_AT_MOST]) + (", ..." if len(held.empty) > NAMED_AT_MOST else "")
        typer.echo(
            f"warning: {len(held.empty)} vectors have length zero, and rank last where a similarity divides by length: "
            f"{named}",
            err=True,
        )
