"""``offsphere ablate``: the grid of normalisations, trained and judged alike; which of the papers' claims hold here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.base.errors import ParameterError
from offsphere.cli import options
from offsphere.cli.adapt import load_parts, vectors_option
from offsphere.cli.encoder_grid import ablate_encoders
from offsphere.cli.loading import check_writable, load_all
from offsphere.cli.progress import progress_bar
from offsphere.cli.train import FROM_SCRATCH, HELD_OUT, MAX_TOKENS, RECIPE, STEPS, chosen_recipe
from offsphere.data.task import EmbeddedTask

if TYPE_CHECKING:
    from offsphere.learn.ablation.ablation import Ablation


def ablate_command(
    data: options.Data,
    vectors: options.Vectors = None,
    model: options.Model = None,
    out: Annotated[Path, typer.Option(help="Folder for the table and the dynamics.")] = Path("ablation"),
    full: Annotated[
        bool,
        typer.Option("--full", help="Cross all switches: 136 variants instead of 35; of an encoder 48 instead of 9."),
    ] = False,
    encoder: Annotated[
        bool, typer.Option("--encoder", help="Train the model itself (--model), not an adapter on its vectors.")
    ] = False,
    only: Annotated[
        str | None, typer.Option(help="Of an encoder's grid these variants alone, joined by semicolons.")
    ] = None,
    recipe: RECIPE = None,
    held_out: HELD_OUT = None,
    steps: STEPS = None,
    max_tokens: MAX_TOKENS = None,
    from_scratch: FROM_SCRATCH = False,
    sweep: Annotated[
        str | None, typer.Option(help="Instead of the grid: temperature (powers of two) or batch (16 to 1,024).")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Judge by this data too, never learn from it: DATA, or DATA=DIR with its vectors. Repeatable."
        ),
    ] = None,
    temperature: Annotated[
        list[float] | None, typer.Option(help="Each variant chooses among these. [0.025, 0.05, 0.1] Repeatable.")
    ] = None,
    rate: Annotated[
        list[float] | None, typer.Option(help="Each variant chooses among these. [0.0003, 0.001, 0.003] Repeatable.")
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Pairs in a batch. [256; for an encoder 32]")] = None,
    epochs: options.Epochs = None,
    hard_negatives: Annotated[
        int | None, typer.Option(help="Mined for each query by the scorer in training. [2; for an encoder 0]")
    ] = None,
    split: options.Split = None,
    train_split: options.TrainSplit = None,
    known_items: options.KnownItems = False,
    new_documents: options.NewDocuments = False,
    metric: options.Metric = None,
    seeds: Annotated[int | None, typer.Option(help="Trainings of each variant. [3; for an encoder 1]")] = None,
    seed: options.Seed = 0,
    more: options.Set = None,
    ignore_missing: options.IgnoreMissing = False,
    as_json: options.AsJson = False,
) -> None:
    """Train the grid of normalisations with equal budgets and say what holds. A killed run goes on where it stopped."""
    if seeds is not None and seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    adapters_only = {"--vectors": vectors, "--known-items": known_items, "--sweep": sweep}
    encoders_only = {
        "--only": only,
        "--recipe": recipe,
        "--held-out": held_out,
        "--steps": steps,
        "--max-tokens": max_tokens,
        "--from-scratch": from_scratch,
    }
    for name, given in (adapters_only if encoder else encoders_only).items():
        if given:
            what = "an adapter, not an encoder" if encoder else "an encoder: add --encoder"
            raise ParameterError(f"{name} is for training {what}")
    if encoder:
        if model is None:
            raise ParameterError("--encoder trains a model: name it with --model")
        typed = {
            "batch": batch,
            "epochs": epochs,
            "hard_negatives": hard_negatives,
            "steps": steps,
            "max_tokens": max_tokens,
            "from_scratch": from_scratch or None,
        }
        found = ablate_encoders(
            data,
            model,
            out,
            chosen_recipe(recipe, None, typed, more),
            also=also or [],
            held_out=held_out,
            budget=(temperature, rate),
            only=only,
            full=full,
            splits=(train_split, split),
            metric=metric,
            seeds=seeds or 1,
            seed=seed,
            new_documents=new_documents,
            ignore_missing=ignore_missing,
        )
        _tell(found, out, None if as_json else f"{data} --model {model}")
        return
    from offsphere.learn.ablation import variants as making
    from offsphere.learn.ablation.ablate_adapters import ablate
    from offsphere.learn.adapters.adapter_recipe import Recipe
    from offsphere.learn.objective.contrastive_options import read_options

    if sweep is not None and (full or len(temperature or []) > 1 or len(rate or []) > 1):
        raise ParameterError("a sweep varies one parameter: give one --temperature and one --rate at most, no --full")
    base = Recipe(batch=batch or 256, epochs=epochs, hard_negatives=2 if hard_negatives is None else hard_negatives)
    base = replace(base, **read_options(more, Recipe))
    if sweep is not None:
        base = replace(base, temperature=temperature[0] if temperature else None, rate=rate[0] if rate else base.rate)
    budget = making.budget_of(temperature or making.TEMPERATURES, rate or making.RATES)
    chosen = making.sweep(base, sweep) if sweep is not None else None
    check_writable(out / "ablation.json")
    train, test, known = load_parts(
        data, model, vectors, (train_split, split), known_items=known_items, ignore_missing=ignore_missing
    )
    others = [_other(text, model, ignore_missing=ignore_missing) for text in also or []]
    with progress_bar("training") as progress:
        found = ablate(
            train,
            test,
            also=others,
            known=known,
            recipe=base,
            variants=chosen,
            budget=budget,
            full=full,
            metric=metric,
            seeds=3 if seeds is None else seeds,
            seed=seed,
            new_documents=new_documents,
            keep=out / "parts",
            progress=progress,
        )
    found.save(out)
    _tell(found, out, None if as_json else f"{data}{vectors_option((test or train)[0], model, vectors)}")


def _tell(found: Ablation, out: Path, where: str | None) -> None:
    """The table, and how to get it into a report; JSON alone where nothing is to be said."""
    if where is None:
        typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
        return
    from offsphere.cli.ablation_table import print_ablation

    print_ablation(found)
    typer.echo(f"The table and the dynamics are in {out}; in a report: offsphere audit {where} --ablation {out}")


def _other(text: str, model: str | None, *, ignore_missing: bool) -> EmbeddedTask:
    """A task out of the domain: its data, and where its vectors are."""
    data, _, place = text.partition("=")
    # where a model is named and no vectors are, it embeds this data too, into a folder of its own
    named, folder = (None, Path(place)) if place else (model, None)
    task, held, _ = load_all(data, named, folder, None, ignore_missing=ignore_missing)
    return task, held
