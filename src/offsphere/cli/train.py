"""``offsphere train``: fine-tune an encoder with each side's normalisation under control."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.options import learning_options as learning
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.learning_parts import tracking_of
from offsphere.cli.steps.left_out import warn_of_tasks
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.live import live_table
from offsphere.cli.tables.paragraphs import echo_paragraph
from offsphere.learning.objective.losses import LOSSES

if TYPE_CHECKING:
    from offsphere.learning.encoders.train_encoder import TrainedEncoder


PLAN_LABEL = 11  # columns before what a line of a plan says


@with_groups
def train_command(
    data: learning.LearningData,
    model: learning.TrainedModel,
    out: Annotated[Path, typer.Option(help="Folder for the trained model.")] = Path("model"),
    *,
    recipe: learning.RecipeName = None,
    config: learning.RecipeFile = None,
    normalize: Annotated[
        str | None, typer.Option(help="Output: both (cosine), none (dot), query, document, half, learn, or 1,0.5.")
    ] = None,
    normalize_input: Annotated[str | None, typer.Option(help="The same for the token vectors.")] = None,
    loss: Annotated[str | None, typer.Option(help=f"{', '.join(LOSSES)}.")] = None,
    temperature: Annotated[float | None, typer.Option(help="One over the scale of scores.")] = None,
    batch: Annotated[int | None, typer.Option(help="Pairs in a batch. [32]")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data. [1]")] = None,
    steps: learning.Steps = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate. [2e-05; of a static model 0.003]")] = None,
    hard_negatives: Annotated[
        int | None, typer.Option(help="For each pair: judged ones first, then mined by the model's own score. [0]")
    ] = None,
    max_tokens: learning.MaxTokens = None,
    mini_batch: Annotated[
        int | None, typer.Option(help="Texts the model sees at a time (GradCache): for batches larger than memory.")
    ] = None,
    bf16: Annotated[bool, typer.Option("--bf16", help="Train in bfloat16.")] = False,
    from_scratch: learning.FromScratch = False,
    more: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other field of a recipe, as NAME=VALUE: pooling=cls, momentum=0.999, ..."),
    ] = None,
    split: learning.JudgedSplit = None,
    train_split: learning.TrainSplit = None,
    held_out: learning.HeldOutData = None,
    new_documents: learning.NewDocuments = False,
    metric: learning.MetricName = None,
    seed: learning.FirstSeed = 0,
    layers: Annotated[bool, typer.Option("--layers", help="Learning dynamics of every layer.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Begin anew, whatever is in the folder.")] = False,
    push_to_hub: Annotated[str | None, typer.Option(help="Push the model there (private) when it is trained.")] = None,
    device: options.Device = None,
    reading: options.ReadingOptions,
    report_to: learning.ReportTo = None,
    as_json: options.AsJson = False,
) -> None:
    """Fine-tune an encoder. Killed, the same command goes on where it stopped."""
    from offsphere.learning.encoders.plan import plan_training
    from offsphere.learning.encoders.recipe_file import recipe_from
    from offsphere.learning.encoders.train_encoder import train
    from offsphere.learning.encoders.training_folder import this_process_writes
    from offsphere.learning.loading import judged_apart, load_named_task, load_text_parts
    from offsphere.statistics.metrics import parse_metric

    typed = {
        "normalize": normalize,
        "normalize_input": normalize_input,
        "loss": loss,
        "temperature": temperature,
        "batch": batch,
        "epochs": epochs,
        "steps": steps,
        "rate": rate,
        "hard_negatives": hard_negatives,
        "max_tokens": max_tokens,
        "mini_batch": mini_batch,
        "precision": "bf16" if bf16 else None,
        "from_scratch": from_scratch or None,
    }
    if metric is not None:
        parse_metric(metric)
    tracking = tracking_of(report_to, out)
    chosen = recipe_from(recipe, config, typed, more)
    loaded = load_text_parts(data, split=split, train_split=train_split, **reading.for_texts)
    warn_of_tasks(*loaded)
    parts = judged_apart(*loaded, seed, new_documents=new_documents)
    learned, judged = parts.train.task, parts.test.task
    if parts.note:
        typer.echo(f"note: {parts.note}", err=True)
    stopped_by = load_named_task(held_out, **reading.for_texts) if held_out is not None else None
    shared: dict[str, Any] = {"held_out": stopped_by, "new_documents": new_documents, "metric": metric, "seed": seed}
    if dry_run:
        _print_plan(plan_training(learned, model, judged, chosen, **shared), as_json=as_json)
        return
    check_writable(out / "modules.json")
    _say_where_it_goes_on(out, restart=restart)
    how: dict[str, Any] = {"layers": layers, "restart": restart, "push_to_hub": push_to_hub, "tracking": tracking}
    how["device"] = device
    kept = f"the checkpoints so far are in {out}: run the same command again, it goes on from there"
    with told_when_interrupted(lambda: kept), progress_bar("training") as progress, live_table(quiet=as_json) as seen:
        trained = train(learned, model, out, test=judged, recipe=chosen, progress=progress, seen=seen, **shared, **how)
    if not this_process_writes():
        return
    if as_json:
        typer.echo(json.dumps(trained.to_json(), indent=2))
    else:
        _print_trained(trained, out)


def _say_where_it_goes_on(out: Path, *, restart: bool) -> None:
    """Name the checkpoint that a killed training goes on from, if there is one."""
    from offsphere.learning.encoders.callbacks import last_checkpoint, step_of
    from offsphere.learning.encoders.training_folder import CHECKPOINTS

    checkpoint = last_checkpoint(out / CHECKPOINTS) if not restart else None
    if checkpoint is not None:
        typer.echo(f"going on after step {step_of(checkpoint)}, from {checkpoint}", err=True)


def _print_plan(plan: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(plan, indent=2, default=str))
        return
    recipe, data, counts = plan["recipe"], plan["data"], plan["counts"]
    removed, added = (", ".join(plan[name]) or "nothing" for name in ("stages_removed", "stages_added"))
    idle = {"queue": recipe["momentum"] is None, "epochs": recipe["steps"] is not None}
    used = {name: value for name, value in recipe.items() if value not in (None, 0.0, (), [], False)}
    used = {name: value for name, value in used.items() if not idle.get(name)}
    lines = [
        f"model      {plan['model']}: {removed} taken out, {added} put in; scored by {plan['similarity']}",
        f"data       {_name_of(data)}: {counts['pairs']:,} pairs",
        f"held out   {counts['held_out']:,} of {plan['held_out']['name']}, by {plan['metric']}",
        f"judged by  {_name_of(plan['judged_by'])}, once, at the end",
        f"steps      {plan['steps']:,} of {recipe['batch']} pairs, seed {plan['seed']}",
        f"recipe     {', '.join(f'{name} {value}' for name, value in used.items())}",
    ]
    for line in lines:
        echo_paragraph(line, "", " " * PLAN_LABEL)
    for note in plan["notes"]:
        echo_paragraph(f"note: {note}")


def _name_of(task: dict[str, Any]) -> str:
    """The name of a task, with its split where it has one."""
    return f"{task['name']} ({task['split']})" if task.get("split") else str(task["name"])


def _print_trained(trained: TrainedEncoder, out: Path) -> None:
    """How the training went, what it came to, and how the model is loaded."""
    from rich.console import Console

    from offsphere.cli.tables.outcome_table import outcome_table

    record, run = trained.record, trained.record.run
    for note in record.notes:
        echo_paragraph(f"note: {note}")
    echo_paragraph(
        f"learned from {record.counts['pairs']:,} pairs, stopped by {record.counts['held_out']:,} held out: "
        f"{record.metric} {run.start:.4f} -> {run.best:.4f} at step {run.best_step} of {run.steps} "
        f"({run.seconds:.0f} s, {run.stopped})"
    )
    best = [step for step, _, _ in run.history].index(run.best_step)
    if run.cosine[best] != run.best:
        typer.echo(f"the same by cosine: {run.cosine[0]:.4f} -> {run.cosine[best]:.4f}")
    if trained.outcome is not None:
        Console(highlight=False, markup=False, width=max(100, Console().width)).print(outcome_table(trained.outcome))
        echo_paragraph(trained.outcome.conclusion)
    ours = ", trust_remote_code=True) with offsphere installed" if trained.needs_offsphere else ")"
    how = f"`SentenceTransformer({str(out)!r}{ours}`"
    echo_paragraph(f"The model is in {out}, scored by {trained.plan['similarity']}: {how}")
