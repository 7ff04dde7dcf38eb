"""``offsphere train``: fine-tune an encoder with each side's normalisation under control."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.cli import options
from offsphere.cli.loading import check_writable, two_splits
from offsphere.cli.progress import progress_bar
from offsphere.data.task import Task

if TYPE_CHECKING:
    from offsphere.learn.encoders.train_encoder import TrainedEncoder

TRAINED = Annotated[
    str, typer.Option(help="The model to train: a hub name, a folder, package:NAME, wordllama, or a model2vec folder.")
]
RECIPE = Annotated[str | None, typer.Option(help="A recipe to start from: see offsphere recipes.")]
CONFIG = Annotated[
    Path | None, typer.Option(help="Fields of a recipe from a TOML or YAML file; what is typed overrides it.")
]
STEPS = Annotated[int | None, typer.Option(help="Steps, instead of epochs.")]
MAX_TOKENS = Annotated[int | None, typer.Option(help="Of a text that the model looks at. [as the model has it]")]
HELD_OUT = Annotated[
    str | None, typer.Option(help="Stop by this data (DATA or DATA:SPLIT), instead of queries put aside.")
]
FROM_SCRATCH = Annotated[bool, typer.Option("--from-scratch", help="Forget the weights of the model first.")]


def train_command(
    data: options.Data,
    model: TRAINED,
    out: Annotated[Path, typer.Option(help="Folder for the trained model.")] = Path("model"),
    recipe: RECIPE = None,
    config: CONFIG = None,
    normalize: Annotated[
        str | None, typer.Option(help="Output: both (cosine), none (dot), query, document, half, learn, or 1,0.5.")
    ] = None,
    normalize_input: Annotated[str | None, typer.Option(help="The same for the token vectors.")] = None,
    loss: Annotated[str | None, typer.Option(help="infonce, clip, simclr, dcl, dhel, siglip, spectral.")] = None,
    temperature: Annotated[float | None, typer.Option(help="One over the scale of scores.")] = None,
    batch: Annotated[int | None, typer.Option(help="Pairs in a batch. [32]")] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data. [1]")] = None,
    steps: STEPS = None,
    rate: Annotated[float | None, typer.Option(help="Learning rate. [2e-5]")] = None,
    hard_negatives: Annotated[
        int | None, typer.Option(help="For each pair: judged ones first, then mined by the model's own score. [0]")
    ] = None,
    max_tokens: MAX_TOKENS = None,
    mini_batch: Annotated[
        int | None, typer.Option(help="Texts the model sees at a time (GradCache): for batches larger than memory.")
    ] = None,
    bf16: Annotated[bool, typer.Option("--bf16", help="Train in bfloat16.")] = False,
    from_scratch: FROM_SCRATCH = False,
    more: Annotated[
        list[str] | None,
        typer.Option("--set", help="Any other field of a recipe, as NAME=VALUE: pooling=cls, momentum=0.999, ..."),
    ] = None,
    split: options.Split = None,
    train_split: options.TrainSplit = None,
    held_out: HELD_OUT = None,
    new_documents: options.NewDocuments = False,
    metric: options.Metric = None,
    seed: options.Seed = 0,
    layers: Annotated[bool, typer.Option("--layers", help="Learning dynamics of every layer.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
    restart: Annotated[bool, typer.Option("--restart", help="Begin anew, whatever is in the folder.")] = False,
    push_to_hub: Annotated[str | None, typer.Option(help="Push the model there (private) when it is trained.")] = None,
    ignore_missing: options.IgnoreMissing = False,
    as_json: options.AsJson = False,
) -> None:
    """Fine-tune an encoder. Killed, the same command goes on where it stopped."""
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
    chosen = chosen_recipe(recipe, config, typed, more)
    learned, judged = text_parts(data, (train_split, split), ignore_missing=ignore_missing)
    if judged is None:
        from offsphere.learn.data.task_sources import TextSource
        from offsphere.learn.data.training_data import divide

        division = divide(TextSource(learned), seed, by_document=new_documents)
        learned, judged = division.train.task, division.test.task
        typer.echo(f"note: {division.note}", err=True)
    stopped_by = task_named(held_out, ignore_missing=ignore_missing) if held_out is not None else None
    if dry_run:
        from offsphere.learn.encoders.encoder_setup import EncoderSetup, text_data

        texts = text_data(
            learned, held_out=stopped_by, judged=[judged], new_documents=new_documents, metric=metric, seed=seed
        )
        plan = EncoderSetup.of(model, texts, chosen, seed).plan() | {"judged_by": judged.described()}
        typer.echo(json.dumps(plan, indent=2, default=str) if as_json else "\n".join(_planned(plan)))
        return
    from offsphere.cli.live import live_table
    from offsphere.learn.encoders.callbacks import last_checkpoint, step_of
    from offsphere.learn.encoders.train_encoder import CHECKPOINTS, train

    check_writable(out / "modules.json")
    checkpoint = last_checkpoint(out / CHECKPOINTS) if not restart else None
    if checkpoint is not None:
        typer.echo(f"going on after step {step_of(checkpoint)}, from {checkpoint}", err=True)
    with progress_bar("training") as progress, live_table(quiet=as_json) as seen:
        found = train(
            learned,
            model,
            out,
            test=judged,
            recipe=chosen,
            held_out=stopped_by,
            new_documents=new_documents,
            metric=metric,
            seed=seed,
            layers=layers,
            restart=restart,
            push_to_hub=push_to_hub,
            progress=progress,
            seen=seen,
        )
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        _tell(found, out)


def chosen_recipe(recipe: str | None, config: Path | None, typed: dict[str, Any], more: list[str] | None) -> Any:
    """A named recipe, changed by a file, then by what was typed."""
    from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
    from offsphere.learn.encoders.named_recipes import recipe_with
    from offsphere.learn.objective.contrastive_options import read_options
    from offsphere.learn.objective.exponents import read_normalize

    read = _from_file(config) if config is not None else {}
    named = read.pop("recipe", None)
    values = read | {name: value for name, value in typed.items() if value is not None}
    values |= read_options(more, EncoderRecipe)
    for name in ("normalize", "normalize_input"):
        if isinstance(values.get(name), str):
            values[name] = read_normalize(values[name])
    return recipe_with(recipe or named, **values)


def text_parts(data: str, splits: tuple[str | None, str | None], *, ignore_missing: bool) -> tuple[Task, Task | None]:
    """What to learn from, and what to judge by where there is another split."""
    return two_splits(data, splits, lambda split: _task(data, split, ignore_missing=ignore_missing))


def task_named(text: str, *, ignore_missing: bool = False) -> Task:
    """Data, with a split after a colon where there is one."""
    data, mark, split = text.rpartition(":")
    named = (data, split) if mark and not Path(text).exists() else (text, None)
    return _task(*named, ignore_missing=ignore_missing)


def _task(data: str, split: str | None = None, *, ignore_missing: bool) -> Task:
    from offsphere.data import load_task

    return load_task(data, split, ignore_missing=ignore_missing)


def _from_file(path: Path) -> dict[str, Any]:
    """Fields of a recipe from TOML or YAML."""
    import tomllib

    from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
    from offsphere.learn.objective.contrastive_options import read_field

    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise ParameterError(f"{path} cannot be read: {error.strerror}") from error
    try:
        if path.suffix.lower() in (".yaml", ".yml"):
            import yaml

            found = yaml.safe_load(text)
        else:
            found = tomllib.loads(text)
    except Exception as error:  # both have errors of their own
        raise ParameterError(f"{path} is no {path.suffix.lstrip('.').upper() or 'TOML'} file: {error}") from error
    if not isinstance(found, dict):
        raise ParameterError(f"{path}: expected fields of a recipe, such as normalize: query")
    known = {field.name for field in fields(EncoderRecipe)} | {"recipe"}
    for name in found:
        if name not in known:
            raise UnknownNameError("option", name, sorted(known))
    named = {"recipe": found.pop("recipe")} if "recipe" in found else {}
    return named | {name: read_field(name, value, EncoderRecipe) for name, value in found.items()}


def _planned(plan: dict[str, Any]) -> list[str]:
    recipe, data, counts = plan["recipe"], plan["data"], plan["counts"]
    removed, added = (", ".join(plan[name]) or "nothing" for name in ("stages_removed", "stages_added"))
    split = _split(data)
    idle = {"queue": recipe["momentum"] is None, "epochs": recipe["steps"] is not None}
    used = {name: value for name, value in recipe.items() if value not in (None, 0.0, (), [], False)}
    used = {name: value for name, value in used.items() if not idle.get(name)}
    return [
        f"model      {plan['model']}: {removed} taken out, {added} put in; scored by {plan['similarity']}",
        f"data       {data['name']}{split}: {counts['pairs']:,} pairs",
        f"held out   {counts['held_out']:,} of {plan['held_out']['name']}, by {plan['metric']}",
        f"judged by  {plan['judged_by']['name']}{_split(plan['judged_by'])}, once, at the end",
        f"steps      {plan['steps']:,} of {recipe['batch']} pairs, seed {plan['seed']}",
        f"recipe     {', '.join(f'{name} {value}' for name, value in used.items())}",
        *(f"note: {note}" for note in plan["notes"]),
    ]


def _split(task: dict[str, Any]) -> str:
    return f" ({task['split']})" if task.get("split") else ""


def _tell(found: TrainedEncoder, out: Path) -> None:
    from rich.console import Console

    from offsphere.cli.outcome_table import outcome_table

    record, run = found.record, found.record.run
    for note in record.notes:
        typer.echo(f"note: {note}")
    typer.echo(
        f"learned from {record.counts['pairs']:,} pairs, stopped by {record.counts['held_out']:,} held out: "
        f"{record.metric} {run.start:.4f} -> {run.best:.4f} at step {run.best_step} of {run.steps} "
        f"({run.seconds:.0f} s, {run.stopped})"
    )
    place = [step for step, _, _ in run.history].index(run.best_step)
    if run.cosine[place] != run.best:
        typer.echo(f"the same by cosine: {run.cosine[0]:.4f} -> {run.cosine[place]:.4f}")
    if found.outcome is not None:
        Console(highlight=False, markup=False, width=max(100, Console().width)).print(outcome_table(found.outcome))
        typer.echo(found.outcome.conclusion)
    own = any(stage.startswith("Power") for stage in found.plan["stages_added"])
    how = f"SentenceTransformer({str(out)!r}{', trust_remote_code=True) with offsphere installed' if own else ')'}"
    typer.echo(f"The model is in {out}, scored by {found.plan['similarity']}: {how}")
