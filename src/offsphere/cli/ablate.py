"""``offsphere ablate``: the grid of normalisations, trained and judged alike; which of the papers' claims hold here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from offsphere.base.errors import ParameterError
from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.options import learning_options as learning
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.learning_parts import (
    draw_ablation,
    formats_of,
    load_with_warnings,
    tracking_of,
    vectors_option,
)
from offsphere.cli.steps.left_out import warn_of_tasks
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph

if TYPE_CHECKING:
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.learning.ablation.ablation import Ablation
    from offsphere.learning.ablation.variant_choice import AdapterChoice
    from offsphere.learning.ablation.variants import Variant
    from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
    from offsphere.learning.tracking import Tracking


@with_groups
def ablate_command(
    data: learning.LearningData,
    fields: Annotated[
        list[str] | None, typer.Argument(metavar="[FIELD=VALUES]...", help="Further fields of --cross.")
    ] = None,
    vectors: learning.LearningVectors = None,
    *,
    models: options.ModelOptions,
    out: Annotated[Path, typer.Option(help="Folder for the table and the dynamics.")] = Path("ablation"),
    full: Annotated[
        bool,
        typer.Option("--full", help="Cross all switches: 136 variants instead of 35; of an encoder 48 instead of 9."),
    ] = False,
    encoder: Annotated[
        bool, typer.Option("--encoder", help="Train the model itself (--model), not an adapter on its vectors.")
    ] = False,
    only: Annotated[str | None, typer.Option(help="Of all variants these alone, by name, joined by commas.")] = None,
    cross: Annotated[
        list[str] | None,
        typer.Option(
            help="Instead of the grid every combination of values: --cross vrns=0,30 batch=16,64,256; any fields of a "
            "recipe."
        ),
    ] = None,
    recipe: learning.RecipeName = None,
    held_out: learning.HeldOutData = None,
    judge: learning.JudgeData = None,
    layers: Annotated[bool, typer.Option("--layers", help="Of an encoder: learning dynamics of every layer.")] = False,
    steps: learning.Steps = None,
    max_tokens: learning.MaxTokens = None,
    from_scratch: learning.FromScratch = False,
    sweep: Annotated[
        str | None,
        typer.Option(help="Instead of the grid: temperature (powers of two), batch, of an encoder pooling."),
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
        list[float] | None,
        typer.Option(
            help="Each variant chooses among these. [0.0003, 0.001, 0.003; of an encoder 1e-05, 5e-05, of a static one "
            "0.001, 0.003] Repeatable."
        ),
    ] = None,
    batch: Annotated[int | None, typer.Option(help="Pairs in a batch. [256; for an encoder 32]")] = None,
    epochs: learning.AdapterEpochs = None,
    hard_negatives: Annotated[
        int | None, typer.Option(help="Mined for each query by the scorer in training. [2; for an encoder 0]")
    ] = None,
    parts: learning.PartOptions,
    seeds: Annotated[
        int | None, typer.Option(max=learning.MOST_SEEDS, help="Trainings of each variant. [3; for an encoder 1]")
    ] = None,
    seed: learning.FirstSeed = 0,
    more: learning.AdapterFields = None,
    ignore_missing: options.IgnoreMissing = False,
    no_verify: options.NoVerify = False,
    ignore_broken: options.IgnoreBroken = False,
    reverse: options.Reverse = False,
    figures: learning.Figures = None,
    report_to: learning.ReportTo = None,
    as_json: options.AsJson = False,
) -> None:
    """Train the grid of normalisations with equal budgets and say what holds. A killed run goes on where it stopped."""
    if seeds is not None and seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    formats_of(figures)  # refused before anything is trained
    if fields and not cross:
        raise ParameterError(f"{fields[0]!r} is no option: fields with values belong behind --cross")
    adapters_only: dict[str, Any] = {"--vectors": vectors, "--known-items": parts.known_items}
    run = models.running
    adapters_only |= {"--backend": run.backend != "torch", "--model-dtype": run.model_dtype}
    adapters_only["--processes"] = run.processes > 1
    encoders_only = {"--recipe": recipe, "--held-out": held_out, "--steps": steps}
    encoders_only |= {"--judge": judge, "--layers": layers, "--max-tokens": max_tokens, "--from-scratch": from_scratch}
    _refuse(adapters_only if encoder else encoders_only, encoder=encoder)
    if encoder and models.model is None:
        raise ParameterError("--encoder trains a model: name it with --model")
    if encoder and models.query_model is not None:
        raise ParameterError("--query-model is for adapters on frozen vectors: leave it out with --encoder")
    reading = options.VerifiedReading(ignore_missing, ignore_broken, reverse, no_verify)
    request = _Request(
        source=models.source(data, vectors, reading),
        out=out,
        parts=parts,
        also=also or [],
        seeds=seeds,
        seed=seed,
        tracking=tracking_of(report_to, out),
    )
    typed = {"batch": batch, "epochs": epochs, "hard_negatives": hard_negatives}
    crossed = [*(cross or []), *(fields or [])]
    names = [name.strip() for name in only.replace(";", ",").split(",")] if only is not None else None
    asked = {"temperatures": temperature, "rates": rate, "full": full, "sweep": sweep, "names": names}
    if encoder:
        typed |= {"steps": steps, "max_tokens": max_tokens, "from_scratch": from_scratch or None}
        chosen = _choose_encoders(str(models.model), recipe, typed, more, crossed, asked)
        ablation, again = _ablate_encoders(request, *chosen, held_out, judge, layers=layers)
    else:
        choice = _choose_adapters(typed, more, crossed, asked)
        ablation, again = _ablate_adapters(request, choice, full=full)
    ablation.save(out)
    draw_ablation(ablation, out, figures)
    if as_json:
        typer.echo(json.dumps(ablation.to_json(), indent=2, allow_nan=False))
        return
    from offsphere.cli.tables.ablation_table import print_ablation, print_dynamics

    print_ablation(ablation)
    if crossed:
        print_dynamics(ablation)
    echo_paragraph(f"The table and the dynamics are in {out}; in a report: `offsphere audit {again} --ablation {out}`")


class _Request(NamedTuple):
    """What decides a run of either kind, besides its variants."""

    source: EmbeddedSource
    out: Path
    parts: learning.PartOptions
    also: list[str]
    seeds: int | None
    seed: int
    tracking: Tracking | None

    def what_is_kept(self) -> str:
        """Say where the variants are that were trained before an interruption."""
        return f"the variants trained so far are in {self.out}: run the same command again, it goes on from there"

    @property
    def shared(self) -> dict[str, Any]:
        """The arguments that ``ablate`` and ``ablate_encoder`` have in common."""
        kept = self.out / "parts"
        decides = {"metric": self.parts.metric, "seed": self.seed, "new_documents": self.parts.new_documents}
        return decides | {"keep": kept, "tracking": self.tracking, "device": self.source.runtime.device}


def _refuse(options_of_other_kind: dict[str, Any], *, encoder: bool) -> None:
    for name, given in options_of_other_kind.items():
        if given:
            kind = "an adapter, not an encoder" if encoder else "an encoder: add --encoder"
            raise ParameterError(f"{name} is for training {kind}")


# nothing stops early: all variants are measured after equally many steps
UNSTOPPED: dict[str, Any] = {"patience": None}


def _choose_encoders(
    model: str,
    recipe: str | None,
    typed: dict[str, Any],
    more: list[str] | None,
    crossed: list[str],
    asked: dict[str, Any],
) -> tuple[EncoderRecipe, list[Variant]]:
    """The recipe that all variants start from, and the variants."""
    from offsphere.learning.ablation.crossed import read_cross
    from offsphere.learning.ablation.variant_choice import VariantRequest, choose_encoders
    from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
    from offsphere.learning.encoders.recipe_file import recipe_from
    from offsphere.learning.encoders.usual_rates import usual_rates

    base = recipe_from(recipe, None, typed, more, UNSTOPPED)
    usual = usual_rates(model, from_scratch=base.from_scratch).several
    return base, choose_encoders(base, VariantRequest(crossed=read_cross(crossed, EncoderRecipe), **asked), usual)


def _choose_adapters(
    typed: dict[str, Any], more: list[str] | None, crossed: list[str], asked: dict[str, Any]
) -> AdapterChoice:
    """The recipe that all variants start from, their trials, and the variants where the data does not decide."""
    from offsphere.learning.ablation.crossed import read_cross
    from offsphere.learning.ablation.variant_choice import VariantRequest, choose_adapters
    from offsphere.learning.adapters.adapter_recipe import Recipe
    from offsphere.learning.objective.contrastive_options import read_options

    base = Recipe(**UNSTOPPED, **{name: value for name, value in typed.items() if value is not None})
    base = replace(base, **read_options(more, Recipe))
    return choose_adapters(base, VariantRequest(crossed=read_cross(crossed, Recipe), **asked))


def _ablate_encoders(
    request: _Request,
    recipe: EncoderRecipe,
    variants: list[Variant],
    held_out: str | None,
    judge: str | None,
    *,
    layers: bool,
) -> tuple[Ablation, str]:
    """Train a model itself; and how to name data and model on a command line again."""
    from offsphere.learning.ablation.ablate_encoders import ablate_encoder
    from offsphere.learning.loading import load_named_task, load_text_parts

    source = request.source
    assert source.model is not None  # or the command would have been refused
    check_writable(request.out / "ablation.json")
    reading: dict[str, bool] = {
        "ignore_missing": source.ignore_missing,
        "ignore_broken": source.ignore_broken,
        "reverse": source.reverse,
    }
    train, test = load_text_parts(
        source.data, split=request.parts.split, train_split=request.parts.train_split, **reading
    )
    warn_of_tasks(train, test)
    with told_when_interrupted(request.what_is_kept), progress_bar("training") as progress:
        ablation = ablate_encoder(
            train,
            source.model,
            load_named_task(judge, **reading) if judge is not None else test,
            also=[load_named_task(text, **reading) for text in request.also],
            held_out=load_named_task(held_out, **reading) if held_out is not None else None,
            recipe=recipe,
            variants=variants,
            layers=layers,
            seeds=request.seeds or 1,
            progress=progress,
            **request.shared,
        )
    return ablation, f"{source.data} --model {source.model}"


def _ablate_adapters(request: _Request, choice: AdapterChoice, *, full: bool) -> tuple[Ablation, str]:
    """Train adapters on vectors; and how to name data and vectors on a command line again."""
    from offsphere.learning.ablation.ablate_adapters import ablate

    source, parts = request.source, request.parts
    check_writable(request.out / "ablation.json")
    (train, test), known = load_with_warnings(source, parts.split, parts.train_split, known_items=parts.known_items)
    with progress_bar("embedding") as progress:
        also = [source.beside(text).load(progress=progress) for text in request.also]
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
            names=choice.names,
            seeds=request.seeds or 3,
            progress=progress,
            **request.shared,
        )
    return ablation, f"{source.data}{vectors_option(source, (test or train)[0])}"
