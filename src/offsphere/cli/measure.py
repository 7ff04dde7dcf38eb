"""``offsphere measure``: what the vectors look like, and what their length has to do with relevance."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from offsphere.base.errors import OffsphereError
from offsphere.base.remote_path import given_path
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.deployed import CollectionOptions, deployed_values, echo_deployed
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.left_out import warn_left_out
from offsphere.cli.steps.plan_steps import VectorPlanOptions
from offsphere.cli.steps.runner_steps import RunnerRequest, ShardStateOptions
from offsphere.cli.steps.shard_steps import ShardRequest

if TYPE_CHECKING:
    from offsphere.data.task import TaskVectors
    from offsphere.encode.embedded_task import EmbeddedSource
    from offsphere.engines.deployed.deployment import Deployment
    from offsphere.geometry import Geometry
    from offsphere.geometry.layer_study import LayerStudy
    from offsphere.geometry.words import Words


@with_groups
def measure_command(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A task, as offsphere compare takes it; or vectors alone: a store, .npy, .npz, .parquet, "
            ".safetensors, or a collection, as --collection takes it.",
            show_default=False,
        ),
    ] = None,
    vectors: options.VectorFolder = None,
    *,
    query_model: options.QueryModel = None,
    model: Annotated[
        str | None,
        typer.Option(help=f"Embed with this model, or count its tokens where --vectors is given. {options.MODEL_HELP}"),
    ] = None,
    running: options.RuntimeOptions,
    deployed: CollectionOptions,
    section: Annotated[
        list[str] | None,
        typer.Option(
            help="Only this: lengths, relevance, dual, isotropy, negatives, dimensions, hubness, modalities, spread, "
            "ceiling, fisher, gradients or frequency. Repeatable."
        ),
    ] = None,
    scorer: Annotated[str | None, typer.Option(help="A scorer whose hubs are looked at beside cosine and dot.")] = None,
    groups: Annotated[
        Path | None, typer.Option(help="File of groups of queries: a line each, query id, tab, name of the group.")
    ] = None,
    training_size: Annotated[
        int | None,
        typer.Option(min=2, max=2**53, help="n in the bounds for mini-batches. [the number of positive pairs]"),
    ] = None,
    layers: Annotated[
        bool,
        typer.Option("--layers", help="Only the layers of the transformer given with --model (and any --section)."),
    ] = False,
    words: Annotated[
        bool,
        typer.Option(
            "--words",
            help="Only the tokens of --model: their lengths against frequency and information (any --section).",
        ),
    ] = False,
    side: Annotated[str | None, typer.Option(help="Whose texts --layers and --words read. [left, or document]")] = None,
    at_most: Annotated[
        int, typer.Option(min=2, help="Texts that --layers and --words read, drawn at random beyond that.")
    ] = 2_000,
    at_least: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="With --layers: how often a token occurs that counts in the tables of Xiao et al. [5, like theirs]",
            show_default=False,
        ),
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="With --layers: the model that --model was made from; tells what changed.")
    ] = None,
    other: Annotated[
        tuple[str, str] | None,
        typer.Option(help="With --against: another model and what it was made from; tells if the same tokens changed."),
    ] = None,
    split: options.Split = None,
    reading: options.VerifiedReading,
    shard: options.ShardName = None,
    state: options.StateFile = None,
    runners: ShardStateOptions,
    plans: VectorPlanOptions,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Seed of samples and intervals.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Measure lengths, relevance, isotropy, dimensions, hubs and more; every layer of a transformer; or its tokens."""
    alone = [name for name, wanted in (("--layers", layers), ("--words", words)) if wanted]
    for_sections = scorer is not None or groups is not None or training_size is not None
    _check_alone(alone, at_least, side, against, other, without_sections=not section and for_sections)
    planned = plans.request(runners, as_json=as_json)
    if planned is not None:
        planned.measure(data, vectors, split)
        return
    data, deployed = _of_target(data, deployed)
    source = deployed.source(data, vectors, options.ModelOptions(model, query_model, running), reading)
    needing: dict[str, object] = {"--model": model, "--collection": deployed.collection}
    needing |= {"--scorer": scorer, "--groups": groups, "--training-size": training_size}
    needing |= dict.fromkeys(alone, True)
    without = {"--on": runners.on, "--vectors": vectors, "--section": section, "--json": as_json}
    divided = ShardRequest.of(shard, None, state, {**needing, **without})
    gathered = runners.request(needing)
    if divided is not None:
        divided.measure(source, seed)
        return
    values: dict[str, Any] = {}
    if section or not alone:
        shape, deployment = _measure_shape(
            source,
            split,
            section,
            scorer=scorer,
            groups=groups,
            training_size=training_size,
            seed=seed,
            gathered=gathered,
        )
        values |= shape.to_json() | deployed_values(deployment)
        if not as_json:
            from offsphere.cli.tables.shape_tables import print_shape

            print_shape(shape)
            echo_deployed(deployment)
    if layers:
        compared = [] if against is None else [against, *(other or ())]
        study = _measure_layers(source, split, side, at_most, at_least, compared, seed)
        values |= study.to_json()
        if not as_json:
            from offsphere.cli.tables.layer_tables import print_layer_study

            print_layer_study(study)
    if words:
        measured = _measure_words(source, split, side, at_most, seed)
        values |= measured.to_json()
        if not as_json:
            from offsphere.cli.tables.word_tables import print_words

            print_words(measured)
    if as_json:
        typer.echo(json.dumps(values, indent=2, allow_nan=False))


def _check_alone(
    alone: list[str],
    at_least: int | None,
    side: str | None,
    against: str | None,
    other: tuple[str, str] | None,
    *,
    without_sections: bool,
) -> None:
    """Refuse options that say something of layers, words or sections where none of them is measured."""
    if at_least is not None and "--layers" not in alone:
        raise OffsphereError("--at-least says which tokens --layers counts: add --layers")
    if not alone and side is not None:
        raise OffsphereError("--side says whose texts --layers and --words read: add one of them")
    if alone and without_sections:
        raise OffsphereError(
            f"--scorer, --groups and --training-size are for sections: add --section, or drop {' and '.join(alone)}"
        )
    if (against is not None or other is not None) and "--layers" not in alone:
        raise OffsphereError("--against and --other compare layers: add --layers")
    if other is not None and against is None:
        raise OffsphereError("--other compares two changes: say with --against what --model was made from")


def _measure_shape(
    source: EmbeddedSource,
    split: str | None,
    sections: list[str] | None,
    *,
    scorer: str | None,
    groups: Path | None,
    training_size: int | None,
    seed: int,
    gathered: RunnerRequest | None,
) -> tuple[Geometry, Deployment | None]:
    """Load what is to be measured, say what was left out, and measure it; and look at the collection, if it is one."""
    from offsphere.engines.deployed.collection_source import load_deployed
    from offsphere.geometry import check_sections, measure
    from offsphere.geometry.query_groups import read_groups
    from offsphere.scoring.names import parse_scorer

    if gathered is not None:
        from offsphere.data.vector_files import is_vectors

        path = given_path(source.data)
        asked = path if source.vectors is None and is_vectors(path) else source
        return gathered.measure(asked, split, sections, seed, verify=source.verify), None
    # what can be wrong in the command itself is said before any data is read
    grouped = read_groups(groups) if groups is not None else None
    sections = check_sections(sections)
    if scorer is not None:
        parse_scorer(scorer)
    with progress_bar("embedding") as progress:
        (vectors, task, encoder), deployment = load_deployed(source, split, progress)
    if task is not None:
        warn_left_out((task, cast("TaskVectors", vectors)))
    with progress_bar("measuring") as progress:
        shape = measure(
            task,
            vectors,
            sections,
            scorer=scorer,
            encoder=encoder,
            groups=grouped,
            training_size=training_size,
            seed=seed,
            progress=progress,
        )
    return shape, deployment


def _of_target(data: str | None, deployed: CollectionOptions) -> tuple[str, CollectionOptions]:
    """Tell a collection that stands where a task would; it is measured alone then, as with ``--collection`` alone."""
    from offsphere.engines.deployed.live_collection import is_target

    if data is not None and deployed.collection is None and is_target(data):
        return "", replace(deployed, collection=data)
    if data is None and deployed.collection is None:
        raise OffsphereError("measure what? Give a task, a file of vectors, or a collection with --collection")
    return data or "", deployed


def _measure_layers(
    source: EmbeddedSource,
    split: str | None,
    side: str | None,
    at_most: int,
    at_least: int | None,
    compared: list[str],
    seed: int,
) -> LayerStudy:
    """Measure the layers of the model, and of those it is compared with, over the same texts."""
    from offsphere.encode.measure_input import load_texts
    from offsphere.geometry.frequent_tokens import AT_LEAST
    from offsphere.geometry.layer_study import LayerStudy, layers_of_model, texts_to_read

    task = load_texts(source.data, split, ignore_missing=source.ignore_missing)
    _check_usual(source, "--layers")
    if source.model is None:
        raise OffsphereError("--layers runs a transformer over the texts: say which with --model")
    read = texts_to_read(task, side, at_most, seed)
    often, measured = at_least or AT_LEAST, []
    for model in [source.model, *compared]:
        with progress_bar(f"layers of {model}") as progress:
            measured.append(
                layers_of_model(model, read, at_least=often, seed=seed, progress=progress, runtime=source.runtime)
            )
    return LayerStudy.of(read.side, measured)


def _measure_words(source: EmbeddedSource, split: str | None, side: str | None, at_most: int, seed: int) -> Words:
    """Measure the tokens of the model that occur in the texts of a side."""
    from offsphere.encode.measure_input import load_texts
    from offsphere.encode.sources import load_encoder
    from offsphere.geometry.layer_study import texts_to_read
    from offsphere.geometry.words import measure_words

    task = load_texts(source.data, split, ignore_missing=source.ignore_missing)
    _check_usual(source, "--words")
    if source.model is None:
        raise OffsphereError("--words measures the tokens of a model: say which with --model")
    read = texts_to_read(task, side, at_most, seed)
    return measure_words(load_encoder(source.model, runtime=source.runtime), read.texts, read.side, seed=seed)


def _check_usual(source: EmbeddedSource, option: str) -> None:
    """Refuse another way to run the model where its inside is looked at."""
    if not source.runtime.is_usual:
        raise OffsphereError(f"{option} looks into the model with torch: leave out how else it is to be run")
