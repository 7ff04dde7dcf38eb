"""``offsphere adapt``: learn on frozen vectors, with each side's normalisation under control."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from offsphere.base.interruption import told_when_interrupted
from offsphere.cli.options import learning_options as learning
from offsphere.cli.options import shared_options as options
from offsphere.cli.options.option_groups import with_groups
from offsphere.cli.progress_bar import progress_bar
from offsphere.cli.steps.learning_parts import load_with_warnings, tracking_of, vectors_option
from offsphere.cli.steps.writable import check_writable
from offsphere.cli.tables.paragraphs import echo_paragraph
from offsphere.comparison.units import is_of_pairs
from offsphere.learning.objective.losses import LOSSES

CLOSED_FORM = "closed-form"  # the folder of the maps that bring two widths together without any training

if TYPE_CHECKING:
    from offsphere.learning.adapters.learn import Learned

NORMALIZE = "both (cosine), none (dot), query, document, half, learn, or two exponents such as 1,0.5."


@with_groups
def adapt_command(
    data: learning.LearningData,
    vectors: learning.LearningVectors = None,
    *,
    models: options.ModelOptions,
    out: Annotated[Path, typer.Option(help="Folder for the adapter and the record of its training.")] = Path("adapter"),
    normalize: Annotated[str, typer.Option(help=f"The output, which is scored: {NORMALIZE}")] = "both",
    normalize_input: Annotated[str, typer.Option(help="The input of the adapter; the same values.")] = "none",
    sides: Annotated[
        str, typer.Option(help="untied, tied, query (an index stays valid), document; auto: tied for pairs alone.")
    ] = "auto",
    rank: Annotated[int | None, typer.Option(help="Rank of what is added to the start. [full]")] = None,
    width: Annotated[
        int | None, typer.Option(help="Dimensions after the map. [as before; of two models the narrower one's]")
    ] = None,
    magnitude: Annotated[str | None, typer.Option(help="A learned length on top: multiplied or added.")] = None,
    loss: Annotated[str, typer.Option(help=f"{', '.join(LOSSES[:-1])} or {LOSSES[-1]}.")] = "infonce",
    temperature: Annotated[float | None, typer.Option(help="One over the scale. [0.05 for most losses]")] = None,
    scale: Annotated[
        str | None, typer.Option(help="fixed, learn, or calibrated to the lengths. [learn for siglip, else calibrated]")
    ] = None,
    margin: Annotated[float | None, typer.Option(help="Mask negatives that far above their positive.")] = None,
    vrns: Annotated[float, typer.Option(help="Weight of VRNS, for small batches; 30 is typical.")] = 0.0,
    batch: Annotated[int, typer.Option(help="Pairs in a batch.")] = 256,
    epochs: learning.AdapterEpochs = None,
    rate: Annotated[float, typer.Option(help="Learning rate.")] = 1e-3,
    hard_negatives: Annotated[int, typer.Option(help="Mined for each query by the scorer in training.")] = 2,
    parts: learning.PartOptions,
    seeds: Annotated[
        int, typer.Option(max=learning.MOST_SEEDS, help="How many; the best by held-out value is kept.")
    ] = 1,
    seed: learning.FirstSeed = 0,
    more: learning.AdapterFields = None,
    reading: options.VerifiedReading,
    report_to: learning.ReportTo = None,
    as_json: options.AsJson = False,
) -> None:
    """Train a small map on vectors you already have, judge it on queries it never saw, and save it as a scorer."""
    from offsphere.learning.adapters.adapter_recipe import Recipe
    from offsphere.learning.adapters.learn import learn
    from offsphere.learning.objective.contrastive_options import read_options
    from offsphere.learning.objective.exponents import read_normalize

    recipe = Recipe(
        normalize=read_normalize(normalize),
        normalize_input=read_normalize(normalize_input),
        sides=sides,
        rank=rank,
        width=width,
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
    tracking = tracking_of(report_to, out)
    source = models.source(data, vectors, reading)
    (train, test), also = load_with_warnings(source, parts.split, parts.train_split, known_items=parts.known_items)
    how: dict[str, Any] = {"new_documents": parts.new_documents, "metric": parts.metric, "seed": seed, "seeds": seeds}
    how |= {"tracking": tracking, "device": models.running.device}
    with told_when_interrupted(lambda: "nothing was written"), progress_bar("training") as progress:
        learned = learn(train, test, [recipe], also=also, progress=progress, **how)
    learned.adapters[0].save(out)
    if learned.closed_form is not None:
        learned.closed_form.save(out / CLOSED_FORM)
    if as_json:
        typer.echo(json.dumps(learned.to_json(), indent=2, allow_nan=False))
    else:
        _print_learned(learned, out, None if test is None else f"{data}{vectors_option(source, test[0])}")


def _print_learned(learned: Learned, out: Path, judged: str | None) -> None:
    """How the training went, the comparison, how far it reaches, and how to judge the adapter again."""
    from offsphere.cli.tables.comparison_table import print_comparison

    record = learned.adapters[0].record
    assert record is not None
    counts, run = record.counts, record.run
    for note in learned.notes:
        echo_paragraph(f"note: {note}")
    units = "pairs" if is_of_pairs(learned.table.task) else "queries"
    values = f"{record.metric} {run.start:.4f} -> {run.best:.4f} at step {run.best_step} of {run.steps}"
    echo_paragraph(
        f"learned from {counts['pairs']:,} pairs of {_trained_on(learned)}, stopped by {counts['held_out']:,} held-out "
        f"{units}: {values} ({run.seconds:.1f} s)"
    )
    if counts["negatives_masked"]:
        masked = counts["negatives_masked"] / max(run.steps, 1)
        echo_paragraph(f"{masked:,.0f} negatives a step are known to be relevant and did not count")
    if len(record.runs) > 1:
        echo_paragraph(f"seeds: {', '.join(f'{seeded.seed}: {seeded.best:.4f}' for seeded in record.runs)}")
    print_comparison(learned.table, every_row=True)
    for split in learned.splits:
        echo_paragraph(f"{split.sentence}.")
        if split.warning is not None:
            echo_paragraph(f"Mind: {split.warning}.")
    again = f"`offsphere compare {judged} --scorer {out}`" if judged is not None else "judge it by other queries only"
    echo_paragraph(f"The adapter is in {out}; {again}")
    if learned.closed_form is not None:
        recommended = ", which is recommended," if learned.table.chosen.name == learned.table.baseline else ""
        echo_paragraph(f"What it is held against, {learned.closed_form.name}{recommended} is in {out / CLOSED_FORM}")


def _trained_on(learned: Learned) -> str:
    split = learned.trained_on.get("split")
    return f"{learned.trained_on['name']}{f' ({split})' if split else ''}"
