"""``offsphere adapt``: learn on frozen vectors, with each side's normalisation under control."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from offsphere.base.errors import DataError
from offsphere.cli import options
from offsphere.cli.compare import warn_left_out
from offsphere.cli.loading import check_writable, load_only, two_splits, vectors_of
from offsphere.cli.progress import progress_bar
from offsphere.data.task import EmbeddedTask, Task

if TYPE_CHECKING:
    from offsphere.learn.adapters.learn import Learned

NORMALIZE = "both (cosine), none (dot), query, document, half, learn, or two exponents such as 1,0.5."


def adapt_command(
    data: options.Data,
    vectors: options.Vectors = None,
    model: options.Model = None,
    out: Annotated[Path, typer.Option(help="Folder for the adapter and the record of its training.")] = Path("adapter"),
    normalize: Annotated[str, typer.Option(help=f"The output, which is scored: {NORMALIZE}")] = "both",
    normalize_input: Annotated[str, typer.Option(help="The input of the adapter; the same values.")] = "none",
    sides: Annotated[
        str, typer.Option(help="untied, tied, query (an index stays valid), document; auto: tied for pairs alone.")
    ] = "auto",
    rank: Annotated[int | None, typer.Option(help="Rank of what is added to the identity. [full]")] = None,
    magnitude: Annotated[str | None, typer.Option(help="A learned length on top: multiplied or added.")] = None,
    loss: Annotated[str, typer.Option(help="infonce, clip, simclr, dcl, dhel, siglip or spectral.")] = "infonce",
    temperature: Annotated[float | None, typer.Option(help="One over the scale. [0.05 for most losses]")] = None,
    scale: Annotated[
        str | None, typer.Option(help="fixed, learn, or calibrated to the lengths. [learn for siglip, else calibrated]")
    ] = None,
    margin: Annotated[float | None, typer.Option(help="Mask negatives that far above their positive.")] = None,
    vrns: Annotated[float, typer.Option(help="Weight of VRNS, for small batches; 30 is typical.")] = 0.0,
    batch: options.Batch = 256,
    epochs: options.Epochs = None,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 1e-3,
    hard_negatives: options.HardNegatives = 2,
    split: options.Split = None,
    train_split: options.TrainSplit = None,
    known_items: options.KnownItems = False,
    new_documents: options.NewDocuments = False,
    metric: options.Metric = None,
    seeds: Annotated[int, typer.Option(help="How many; the best by held-out value is kept.")] = 1,
    seed: options.Seed = 0,
    more: options.Set = None,
    ignore_missing: options.IgnoreMissing = False,
    as_json: options.AsJson = False,
) -> None:
    """Train a small map on vectors you already have, judge it on queries it never saw, and save it as a scorer."""
    from offsphere.learn.adapters.adapter_recipe import Recipe
    from offsphere.learn.adapters.learn import learn
    from offsphere.learn.objective.contrastive_options import read_options
    from offsphere.learn.objective.exponents import read_normalize

    recipe = Recipe(
        normalize=read_normalize(normalize),
        normalize_input=read_normalize(normalize_input),
        sides=sides,
        rank=rank,
        magnitude=cast("Any", magnitude),
        loss=loss,
        temperature=temperature,
        scale=scale,
        margin=margin,
        vrns=vrns,
        batch=batch,
        epochs=epochs,
        rate=rate,
        hard_negatives=hard_negatives,
    )
    recipe = replace(recipe, **read_options(more, Recipe))
    check_writable(out / "scorer.json")
    train, test, also = load_parts(
        data, model, vectors, (train_split, split), known_items=known_items, ignore_missing=ignore_missing
    )
    with progress_bar("training") as progress:
        found = learn(
            train,
            test,
            [recipe],
            also=also,
            new_documents=new_documents,
            metric=metric,
            seed=seed,
            seeds=seeds,
            progress=progress,
        )
    found.adapters[0].save(out)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2, allow_nan=False))
    else:
        _tell(found, out, None if test is None else f"{data}{vectors_option(test[0], model, vectors)}")


def load_parts(
    data: str,
    model: str | None,
    vectors: Path | None,
    splits: tuple[str | None, str | None],
    *,
    known_items: bool = False,
    ignore_missing: bool = False,
) -> tuple[EmbeddedTask, EmbeddedTask | None, list[EmbeddedTask]]:
    """What to learn from, what to judge by (nothing where there is one split only), and what else to learn from."""
    learned, judged = two_splits(
        data, splits, lambda split: load_only(data, model, vectors, split, ignore_missing=ignore_missing)
    )
    train = learned, vectors_of(learned, data, model, vectors)[0]
    test = (judged, vectors_of(judged, data, model, vectors)[0]) if judged is not None else None
    for part in [train] + ([test] if test is not None else []):
        warn_left_out(*part)
    return train, test, [_known_items(data, model, vectors)] if known_items else []


def _known_items(data: str, model: str | None, vectors: Path | None) -> EmbeddedTask:
    """Titles and texts of the corpus as pairs; embedded by the model, or from the folder known-items of the vectors."""
    from offsphere.data import load_vectors
    from offsphere.data.formats.known_items import known_item_task
    from offsphere.encode.embedding import default_folder, embed

    if not (Path(data) / "corpus.jsonl").is_file():
        raise DataError(f"{data} has no corpus.jsonl, so no titles ask for their texts: leave out --known-items")
    task = known_item_task(Path(data))
    if model is not None:
        place = (vectors or default_folder(task.name, model)) / "known-items"
        with progress_bar("embedding") as progress:
            return task, embed(task, model, place, progress=progress)
    place = (vectors or Path(data)) / "known-items"
    if not place.is_dir():
        raise DataError(f"{place} is not there: name the model that made the vectors with --model, and it is made")
    return task, load_vectors(place, task)


def vectors_option(task: Task, model: str | None, vectors: Path | None) -> str:
    """How to say where the vectors of a task are."""
    from offsphere.encode.embedding import default_folder

    place = vectors or (default_folder(task.name, model) if model is not None else None)
    return f" --vectors {place}" if place is not None else ""


def _tell(found: Learned, out: Path, judged: str | None) -> None:
    from offsphere.cli.comparison_table import print_comparison

    record = found.adapters[0].record
    assert record is not None
    counts, run = record.counts, record.run
    for note in found.notes:
        typer.echo(f"note: {note}")
    what = "pairs" if found.table.task["kind"] == "pairs" else "queries"
    values = f"{record.metric} {run.start:.4f} -> {run.best:.4f} at step {run.best_step} of {run.steps}"
    typer.echo(
        f"learned from {counts['pairs']:,} pairs of {_named(found)}, stopped by {counts['held_out']:,} held-out "
        f"{what}: {values} ({run.seconds:.1f} s)"
    )
    if counts["negatives_masked"]:
        masked = counts["negatives_masked"] / max(run.steps, 1)
        typer.echo(f"{masked:,.0f} negatives a step are known to be relevant and did not count")
    if len(record.runs) > 1:
        typer.echo(f"seeds: {', '.join(f'{one.seed}: {one.best:.4f}' for one in record.runs)}")
    print_comparison(found.table, every_row=True)
    for split in found.splits:
        typer.echo(f"{split.sentence}.")
        if split.warning is not None:
            typer.echo(f"Mind: {split.warning}.")
    again = f"offsphere compare {judged} --scorer {out}" if judged is not None else "judge it by other queries only"
    typer.echo(f"The adapter is in {out}; {again}")


def _named(found: Learned) -> str:
    split = found.trained_on.get("split")
    return f"{found.trained_on['name']}{f' ({split})' if split else ''}"
