"""``offsphere ablate``: the grid of normalisations, trained and judged alike; which of the papers' claims hold here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from offsphere.cli import options
from offsphere.cli.adapt import load_parts, vectors_option
from offsphere.cli.loading import check_writable, load_all
from offsphere.cli.progress import progress_bar
from offsphere.errors import ParameterError

if TYPE_CHECKING:
    from offsphere.learn.pairs import Held


def ablate_command(
    data: options.Data,
    vectors: options.Vectors = None,
    model: options.Model = None,
    out: Annotated[Path, typer.Option(help="Folder for the table and the dynamics.")] = Path("ablation"),
    full: Annotated[bool, typer.Option("--full", help="Cross all switches: 136 variants instead of 35.")] = False,
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
    batch: options.Batch = 256,
    epochs: options.Epochs = None,
    hard_negatives: options.HardNegatives = 2,
    split: options.Split = None,
    train_split: options.TrainSplit = None,
    known_items: options.KnownItems = False,
    new_documents: options.NewDocuments = False,
    metric: options.Metric = None,
    seeds: Annotated[int, typer.Option(help="Trainings of each variant.")] = 3,
    seed: options.Seed = 0,
    more: options.Set = None,
    ignore_missing: options.IgnoreMissing = False,
    as_json: options.AsJson = False,
) -> None:
    """Train the grid of normalisations with equal budgets and say what holds. A killed run goes on where it stopped."""
    from offsphere.learn import variants as making
    from offsphere.learn.ablating import ablate
    from offsphere.learn.contrast import read_options
    from offsphere.learn.recipe import Recipe

    if sweep is not None and (full or len(temperature or []) > 1 or len(rate or []) > 1):
        raise ParameterError("a sweep varies one parameter: give one --temperature and one --rate at most, no --full")
    base = replace(Recipe(batch=batch, epochs=epochs, hard_negatives=hard_negatives), **read_options(more, Recipe))
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
            seeds=seeds,
            seed=seed,
            new_documents=new_documents,
            keep=out / "parts",
            progress=progress,
        )
    found.save(out)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        from offsphere.cli.ablation_table import print_ablation

        print_ablation(found)
        where = f"{data}{vectors_option((test or train)[0], model, vectors)}"
        typer.echo(f"The table and the dynamics are in {out}; in a report: offsphere audit {where} --ablation {out}")


def _other(text: str, model: str | None, *, ignore_missing: bool) -> Held:
    """A task out of the domain: its data, and where its vectors are."""
    data, _, place = text.partition("=")
    # where a model is named and no vectors are, it embeds this data too, into a folder of its own
    named, folder = (None, Path(place)) if place else (model, None)
    task, held, _ = load_all(data, named, folder, None, ignore_missing=ignore_missing)
    return task, held
