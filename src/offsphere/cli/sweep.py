"""``offsphere sweep``: one parameter of a training over its values, and what it does to the geometry."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from offsphere.cli import options
from offsphere.cli.loading import check_writable
from offsphere.cli.progress import progress_bar
from offsphere.cli.train import CONFIG, FROM_SCRATCH, HELD_OUT, MAX_TOKENS, RECIPE, TRAINED

STEPS = 200


def sweep_command(
    data: options.Data,
    model: TRAINED,
    over: Annotated[str, typer.Option(help="temperature (powers of two), batch, or pooling (mean, cls, max).")],
    values: Annotated[str | None, typer.Option(help="Instead of the usual ones, joined by commas.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the table, the dynamics and the page.")] = Path("sweep"),
    judge: Annotated[str | None, typer.Option(help="Judge by this data, instead of another split of DATA.")] = None,
    held_out: HELD_OUT = None,
    recipe: RECIPE = None,
    config: CONFIG = None,
    steps: Annotated[int | None, typer.Option(help="Steps of each training. [200]")] = None,
    max_tokens: MAX_TOKENS = None,
    from_scratch: FROM_SCRATCH = False,
    more: Annotated[list[str] | None, typer.Option("--set", help="Any field of a recipe, as NAME=VALUE.")] = None,
    split: options.Split = None,
    train_split: options.TrainSplit = None,
    metric: options.Metric = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each value.")] = 1,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """Train once for each value of a parameter, measure a probe while it learns, and draw what becomes of it."""
    from offsphere.cli.train import chosen_recipe, task_named, text_parts
    from offsphere.learn.ablation.ablate_encoders import ablate_encoder
    from offsphere.learn.ablation.encoder_variants import encoder_sweep

    typed = {"steps": steps, "max_tokens": max_tokens, "from_scratch": from_scratch or None}
    base = chosen_recipe(recipe, config, typed, more)
    if base.steps is None:
        base = replace(base, steps=STEPS)
    chosen = encoder_sweep(base, over, values.split(",") if values is not None else ())
    check_writable(out / "ablation.json")
    learned, judged = text_parts(data, (train_split, split), ignore_missing=False)
    judged = task_named(judge) if judge is not None else judged
    stopped_by = task_named(held_out) if held_out is not None else None
    with progress_bar("training") as progress:
        found = ablate_encoder(
            learned,
            model,
            judged,
            held_out=stopped_by,
            recipe=base,
            variants=chosen,
            metric=metric,
            seeds=seeds,
            seed=seed,
            keep=out / "parts",
            progress=progress,
        )
    found.save(out)
    from offsphere.base.files import write_whole
    from offsphere.report.sweep_page import sweep_to_html

    write_whole(out / "sweep.html", sweep_to_html(found, f"Sweep over {over}").encode())
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
        return
    from offsphere.cli.ablation_table import print_ablation, print_dynamics

    print_ablation(found)
    print_dynamics(found)
    typer.echo(f"The page is {out / 'sweep.html'}; the table and the dynamics are in {out}")
