"""``offsphere sweep``: one parameter of a training over its values, and what it does to the geometry."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from offsphere.base.files import write_whole
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.options import learning_options as learning
from offsphere.cli.options import shared_options as options
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.learning_parts import draw_ablation, formats_of, tracking_of
from offsphere.cli.steps.left_out import warn_of_tasks
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph

STEPS = 200


def sweep_command(
    data: learning.LearningData,
    model: learning.TrainedModel,
    over: Annotated[str, typer.Option(help="temperature (powers of two), batch, or pooling (mean, cls, max).")],
    values: Annotated[str | None, typer.Option(help="Instead of the usual ones, joined by commas.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the table, the dynamics and the page.")] = Path("sweep"),
    judge: learning.JudgeData = None,
    layers: Annotated[bool, typer.Option("--layers", help="Learning dynamics of every layer.")] = False,
    held_out: learning.HeldOutData = None,
    recipe: learning.RecipeName = None,
    config: learning.RecipeFile = None,
    steps: Annotated[int | None, typer.Option(help="Steps of each training. [200]")] = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate. [2e-05; of a static model 0.003]")] = None,
    max_tokens: learning.MaxTokens = None,
    from_scratch: learning.FromScratch = False,
    more: Annotated[list[str] | None, typer.Option("--set", help="Any field of a recipe, as NAME=VALUE.")] = None,
    split: learning.JudgedSplit = None,
    train_split: learning.TrainSplit = None,
    metric: learning.MetricName = None,
    seeds: Annotated[int, typer.Option(max=learning.MOST_SEEDS, help="Trainings of each value.")] = 1,
    seed: learning.FirstSeed = 0,
    device: options.Device = None,
    ignore_broken: options.IgnoreBroken = False,
    reverse: options.Reverse = False,
    figures: learning.Figures = None,
    report_to: learning.ReportTo = None,
    as_json: options.AsJson = False,
) -> None:
    """Train once for each value of a parameter, measure a probe while it learns, and draw what becomes of it."""
    from offsphere.learning.ablation.ablate_encoders import ablate_encoder
    from offsphere.learning.ablation.encoder_variants import encoder_sweep
    from offsphere.learning.encoders.recipe_file import recipe_from
    from offsphere.learning.loading import load_named_task, load_text_parts
    from offsphere.report.sweep_page import sweep_to_html

    formats_of(figures)  # refused before anything is trained
    tracking = tracking_of(report_to, out)
    typed = {"steps": steps, "rate": rate, "max_tokens": max_tokens, "from_scratch": from_scratch or None}
    base = recipe_from(recipe, config, typed, more, {"patience": None})  # each is measured after equally many steps
    if base.steps is None:
        base = replace(base, steps=STEPS)
    variants = encoder_sweep(base, over, values.split(",") if values is not None else ())
    check_writable(out / "ablation.json")
    reading: dict[str, bool] = {"ignore_broken": ignore_broken, "reverse": reverse}
    learned, judged = load_text_parts(data, split=split, train_split=train_split, **reading)
    warn_of_tasks(learned, judged)
    kept = f"the values trained so far are in {out}: run the same command again, it goes on from there"
    with told_when_interrupted(lambda: kept), progress_bar("training") as progress:
        ablation = ablate_encoder(
            learned,
            model,
            load_named_task(judge, **reading) if judge is not None else judged,
            held_out=load_named_task(held_out, **reading) if held_out is not None else None,
            recipe=base,
            layers=layers,
            variants=variants,
            metric=metric,
            seeds=seeds,
            seed=seed,
            keep=out / "parts",
            progress=progress,
            tracking=tracking,
            device=device,
        )
    ablation.save(out)
    write_whole(out / "sweep.html", sweep_to_html(ablation, f"Sweep over {over}").encode())
    draw_ablation(ablation, out, figures)
    if as_json:
        typer.echo(json.dumps(ablation.to_json(), indent=2))
        return
    from offsphere.cli.tables.ablation_table import print_ablation, print_dynamics

    print_ablation(ablation)
    print_dynamics(ablation)
    echo_paragraph(f"The page is {out / 'sweep.html'}; the table and the dynamics are in {out}")
