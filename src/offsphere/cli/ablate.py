"""``offsphere ablate``: the grid of normalisations, trained and judged alike; which of the papers' claims hold here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from offsphere.base.errors import ParameterError
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli import learning_options as learning
from offsphere.cli import options
from offsphere.cli.learning_parts import load_with_warnings, vectors_option
from offsphere.cli.left_out import warn_of_tasks
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.writable import check_writable

if TYPE_CHECKING:
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.learning.ablation.ablation import Ablation
    from offsphere.learning.ablation.variant_choice import AdapterChoice
    from offsphere.learning.ablation.variants import Variant
    from offsphere.learning.encoders.encoder_recipe import EncoderRecipe


def ablate_command(
    data: learning.Data,
    vectors: learning.Vectors = None,
    model: options.Model = None,
    query_model: options.QueryModel = None,
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
    recipe: learning.RecipeName = None,
    held_out: learning.HeldOut = None,
    steps: learning.Steps = None,
    max_tokens: learning.MaxTokens = None,
    from_scratch: learning.FromScratch = False,
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
    epochs: learning.AdapterEpochs = None,
    hard_negatives: Annotated[
        int | None, typer.Option(help="Mined for each query by the scorer in training. [2; for an encoder 0]")
    ] = None,
    split: learning.Split = None,
    train_split: learning.TrainSplit = None,
    known_items: learning.KnownItems = False,
    new_documents: learning.NewDocuments = False,
    metric: learning.Metric = None,
    seeds: Annotated[
        int | None, typer.Option(max=learning.MOST_SEEDS, help="Trainings of each variant. [3; for an encoder 1]")
    ] = None,
    seed: learning.FirstSeed = 0,
    more: learning.AdapterFields = None,
    ignore_missing: options.IgnoreMissing = False,
    no_verify: options.NoVerify = False,
    ignore_broken: options.IgnoreBroken = False,
    reverse: options.Reverse = False,
    as_json: options.AsJson = False,
) -> None:
    """Train the grid of normalisations with equal budgets and say what holds. A killed run goes on where it stopped."""
    from offsphere.factors.task_source import task_source

    if seeds is not None and seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    adapters_only = {"--vectors": vectors, "--known-items": known_items, "--sweep": sweep}
    encoders_only = {"--only": only, "--recipe": recipe, "--held-out": held_out, "--steps": steps}
    encoders_only |= {"--max-tokens": max_tokens, "--from-scratch": from_scratch}
    _refuse(adapters_only if encoder else encoders_only, encoder=encoder)
    if encoder and model is None:
        raise ParameterError("--encoder trains a model: name it with --model")
    if encoder and query_model is not None:
        raise ParameterError("--query-model is for adapters on frozen vectors: leave it out with --encoder")
    request = _Request(
        source=task_source(
            data,
            model,
            vectors,
            ignore_missing=ignore_missing,
            verify=not no_verify,
            query_model=query_model,
            ignore_broken=ignore_broken,
            reverse=reverse,
        ),
        out=out,
        split=split,
        train_split=train_split,
        also=also or [],
        metric=metric,
        seeds=seeds,
        seed=seed,
        new_documents=new_documents,
    )
    fields = {"batch": batch, "epochs": epochs, "hard_negatives": hard_negatives}
    if encoder:
        fields |= {"steps": steps, "max_tokens": max_tokens, "from_scratch": from_scratch or None}
        chosen = _choose_encoders(recipe, fields, more, temperature, rate, full=full, only=only)
        ablation, again = _ablate_encoders(request, *chosen, held_out)
    else:
        choice = _choose_adapters(fields, more, temperature, rate, sweep, full=full)
        ablation, again = _ablate_adapters(request, choice, full=full, known_items=known_items)
    ablation.save(out)
    if as_json:
        typer.echo(json.dumps(ablation.to_json(), indent=2, allow_nan=False))
        return
    from offsphere.cli.ablation_table import print_ablation

    print_ablation(ablation)
    typer.echo(f"The table and the dynamics are in {out}; in a report: offsphere audit {again} --ablation {out}")


class _Request(NamedTuple):
    """What decides a run of either kind, besides its variants."""

    source: EmbeddedSource
    out: Path
    split: str | None
    train_split: str | None
    also: list[str]
    metric: str | None
    seeds: int | None
    seed: int
    new_documents: bool

    def what_is_kept(self) -> str:
        """Say where the variants are that were trained before an interruption."""
        return f"the variants trained so far are in {self.out}: run the same command again, it goes on from there"

    @property
    def shared(self) -> dict[str, Any]:
        """The arguments that ``ablate`` and ``ablate_encoder`` have in common."""
        kept = self.out / "parts"
        return {"metric": self.metric, "seed": self.seed, "new_documents": self.new_documents, "keep": kept}


def _refuse(options_of_other_kind: dict[str, Any], *, encoder: bool) -> None:
    for name, given in options_of_other_kind.items():
        if given:
            kind = "an adapter, not an encoder" if encoder else "an encoder: add --encoder"
            raise ParameterError(f"{name} is for training {kind}")


def _choose_encoders(
    recipe: str | None,
    fields: dict[str, Any],
    more: list[str] | None,
    temperatures: list[float] | None,
    rates: list[float] | None,
    *,
    full: bool,
    only: str | None,
) -> tuple[EncoderRecipe, list[Variant]]:
    """The recipe that all variants start from, and the variants."""
    from offsphere.learning.ablation.variant_choice import choose_encoders
    from offsphere.learning.encoders.recipe_file import recipe_from

    base = recipe_from(recipe, None, fields, more)
    names = [name.strip() for name in only.split(";")] if only is not None else None
    return base, choose_encoders(base, temperatures, rates, full=full, only=names)


def _choose_adapters(
    fields: dict[str, Any],
    more: list[str] | None,
    temperatures: list[float] | None,
    rates: list[float] | None,
    sweep: str | None,
    *,
    full: bool,
) -> AdapterChoice:
    from offsphere.learning.ablation.variant_choice import choose_adapters
    from offsphere.learning.adapters.adapter_recipe import Recipe
    from offsphere.learning.objective.contrastive_options import read_options

    base = Recipe(**{name: value for name, value in fields.items() if value is not None})
    return choose_adapters(replace(base, **read_options(more, Recipe)), temperatures, rates, sweep=sweep, full=full)


def _ablate_encoders(
    request: _Request, recipe: EncoderRecipe, variants: list[Variant], held_out: str | None
) -> tuple[Ablation, str]:
    """Train a model itself; and how to name data and model on a command line again."""
    from offsphere.learning.ablation.ablate_encoders import ablate_encoder
    from offsphere.learning.loading import load_named_task, load_text_parts

    source = request.source
    assert source.model is not None  # or the command would have been refused
    check_writable(request.out / "ablation.json")
    train, test = load_text_parts(
        source.data,
        split=request.split,
        train_split=request.train_split,
        ignore_missing=source.ignore_missing,
        ignore_broken=source.ignore_broken,
        reverse=source.reverse,
    )
    warn_of_tasks(train, test)
    with told_when_interrupted(request.what_is_kept), progress_bar("training") as progress:
        ablation = ablate_encoder(
            train,
            source.model,
            test,
            also=[load_named_task(text) for text in request.also],
            held_out=load_named_task(held_out) if held_out is not None else None,
            recipe=recipe,
            variants=variants,
            seeds=request.seeds or 1,
            progress=progress,
            **request.shared,
        )
    return ablation, f"{source.data} --model {source.model}"


def _ablate_adapters(
    request: _Request, choice: AdapterChoice, *, full: bool, known_items: bool
) -> tuple[Ablation, str]:
    """Train adapters on vectors; and how to name data and vectors on a command line again."""
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.learning.ablation.ablate_adapters import ablate

    source = request.source
    check_writable(request.out / "ablation.json")
    (train, test), known = load_with_warnings(source, request.split, request.train_split, known_items=known_items)
    sources = [
        EmbeddedSource.read(text, source.model, ignore_missing=source.ignore_missing, verify=source.verify)
        for text in request.also
    ]
    with progress_bar("embedding") as progress:
        also = [judged.load(progress=progress) for judged in sources]
    with told_when_interrupted(request.what_is_kept), progress_bar("training") as progress:
        ablation = ablate(
            train,
            test,
            also=also,
            known=known,
            recipe=choice.recipe,
            variants=choice.variants,
            budget=choice.budget,
            full=full,
            seeds=request.seeds or 3,
            progress=progress,
            **request.shared,
        )
    return ablation, f"{source.data}{vectors_option(source, (test or train)[0])}"
