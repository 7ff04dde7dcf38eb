"""``offsphere threshold``: above which score a result is shown, what that promises, and what it really gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_left_out
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph


@with_groups
def threshold_command(
    data: options.Data,
    vectors: options.VectorFolder = None,
    model: options.ModelName = None,
    *,
    running: options.RuntimeOptions,
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            help="A scorer by name or folder; z-score is cosine standardised query by query. Repeatable. [cosine, dot, "
            "z-score]"
        ),
    ] = None,
    precision: options.Precision = None,
    recall: options.Recall = None,
    false_alarms: options.FalseAlarms = None,
    also: Annotated[
        str | None, typer.Option(help="Other DATA, or DATA=VECTORS, by the same model: does the threshold carry over?")
    ] = None,
    split: options.Split = None,
    save: Annotated[Path | None, typer.Option(help="Folder to save the best scorer in, with its threshold.")] = None,
    ignore_missing: options.IgnoreMissing = False,
    no_verify: options.NoVerify = False,
    folds: options.Folds = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of folds and intervals.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Find the score above which results are shown, so that one promise is kept: precision, recall or false alarms."""
    from offsphere.comparison.goal import Goal
    from offsphere.comparison.thresholds import named_scorer, threshold
    from offsphere.factors.task_source import task_source

    # what can be wrong in the command itself is said before any file is read
    Goal.of(precision, recall, false_alarms)
    scorers = [named_scorer(name) for name in scorer] if scorer else None
    if save is not None:
        check_writable(save / "scorer.json")
    source = task_source(
        data,
        model,
        vectors,
        ignore_missing=ignore_missing,
        verify=not no_verify,
        runtime=running.runtime,
    )
    other = None
    with progress_bar("embedding") as progress:
        task, embedded = source.load(split, progress)
        if also is not None:
            other = source.beside(also).load(None, progress)
    warn_left_out((task, embedded), *([other] if other is not None else []))
    with progress_bar("thresholds") as progress:
        thresholds = threshold(
            task,
            embedded,
            scorers,
            precision=precision,
            recall=recall,
            false_alarms=false_alarms,
            also=other,
            folds=folds,
            seed=seed,
            progress=progress,
        )
    if save is not None:
        thresholds.save(save)
    if as_json:
        typer.echo(json.dumps(thresholds.to_json(), indent=2, allow_nan=False))
        return
    from offsphere.cli.tables.threshold_table import print_thresholds

    print_thresholds(thresholds)
    if save is not None:
        echo_paragraph(f"The scorer and its threshold are in {save}.")
