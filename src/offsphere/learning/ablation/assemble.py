"""All runs of an ablation put into one table, with what the papers claim and what one must mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from offsphere.base.arrays import Array
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.ablation.claims import findings_of
from offsphere.learning.ablation.variant_runs import VariantRun
from offsphere.learning.ablation.variant_values import Column, VariantValues
from offsphere.learning.ablation.variants import Variant
from offsphere.statistics.difference import Difference

FEW_STEPS = 100  # below which no claim should be judged


def assemble_ablation(
    variants: Sequence[Variant],
    runs: Sequence[VariantRun],
    columns: Sequence[Column],
    cosine: Sequence[Array],
    *,
    metric: str,
    pairs: bool,
    seed: int,
    counts: Mapping[str, int],
    notes: Sequence[str],
    trained: str = "adapter",
) -> Ablation:
    """Put the runs of all variants into one table.

    Args:
        variants: What was trained.
        runs: The run of each variant.
        columns: What variants are judged by.
        cosine: The measurements by cosine before any training, one for each task.
        metric: By which everything was measured.
        pairs: Whether the tasks are pairs, of which other claims are made than of rankings.
        seed: Of the resampling.
        counts: How much there was to learn from and to stop by.
        notes: What one must know to read the values.
        trained: What was trained, adapter or encoder.
    """
    values = VariantValues(columns, runs, seed)
    names = [variant.name for variant in variants]
    seeds = len(runs[0].held_out)

    def difference(variant: str, baseline: str, column: int) -> Difference:
        return values.difference(names.index(variant), names.index(baseline), column)

    too_short = _why_too_short(runs)
    titles = [str(column.task["name"]) for column in columns]
    return Ablation(
        tasks=[column.task for column in columns],
        metric=metric,
        rows=[values.row(number, variant) for number, variant in enumerate(variants)],
        untouched=[column.value(column.select(cosine[column.number])) for column in columns],
        seeds=seeds,
        trials=max(len(variant.budget) for variant in variants),
        findings=findings_of(names, titles, difference, pairs=pairs, too_short=too_short),
        counts=counts,
        dynamics=[
            {"variant": variant.name, **row}
            for variant, run in zip(variants, runs, strict=True)
            for row in run.dynamics
        ],
        notes=[*notes, *_notes_of_runs(variants, runs), *_notes_of_size(too_short, seeds)],
        trained=trained,
    )


def _notes_of_runs(variants: Sequence[Variant], runs: Sequence[VariantRun]) -> list[str]:
    """Every note of a run once, with the variants it is about."""
    about: dict[str, list[str]] = {}
    for variant, run in zip(variants, runs, strict=True):
        for note in run.notes:
            about.setdefault(note, []).append(variant.name)
    everywhere = len(variants)
    return [note if len(names) == everywhere else f"{'; '.join(names)}: {note}" for note, names in about.items()]


def _why_too_short(runs: Sequence[VariantRun]) -> str:
    """Say that there are too few steps to judge a claim by; empty where there are enough."""
    steps = max((run.dynamics[-1]["step"] for run in runs if run.dynamics), default=0.0)
    few = f"no variant was trained for more than {steps:.0f} steps: too few to judge claims by"
    return few if steps < FEW_STEPS else ""


def _notes_of_size(too_short: str, seeds: int) -> list[str]:
    """A note where there are too few steps or seeds to judge a claim by."""
    notes = [too_short] if too_short else []
    if seeds == 1:
        notes.append("one seed shows no spread: train several before you believe a claim")
    return notes
