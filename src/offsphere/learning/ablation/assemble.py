"""All runs of an ablation put into one table, with what the papers claim and what one must mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from offsphere.base.arrays import Array
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.ablation.claim_verdicts import Subject, claim_findings
from offsphere.learning.ablation.claims import BEFORE, DUAL, LeastRun, RunSize, Start
from offsphere.learning.ablation.probe_ends import difference_over_seeds
from offsphere.learning.ablation.variant_runs import VariantRun
from offsphere.learning.ablation.variant_values import Column, VariantValues
from offsphere.learning.ablation.variants import Variant
from offsphere.statistics.difference import Difference
from offsphere.statistics.values import mean_or_nan


class RunEvidence:
    """What the runs of an ablation say to the claims of the papers."""

    def __init__(
        self, variants: Sequence[Variant], runs: Sequence[VariantRun], values: VariantValues, pairs: int
    ) -> None:
        self.numbers = {variant.name: number for number, variant in enumerate(variants)}
        self.variants, self.runs, self.values, self.pairs = variants, runs, values, pairs

    def difference(self, variant: str, baseline: str, task: int) -> Difference:
        """One variant less another by the metric, on the task of a number."""
        return self.values.difference(self.numbers[variant], self.numbers[baseline], task)

    def probed(self, variant: str, baseline: str, quantity: str) -> Difference | None:
        """One variant's probe at the end less another's, or less its own at the start; nothing where not measured."""
        run = self.runs[self.numbers[variant]]
        if quantity == DUAL:
            return _difference(run.by_cosine, run.held_out)
        before = baseline == BEFORE
        compared = run.ends.at_start(quantity) if before else self.runs[self.numbers[baseline]].ends.at_end(quantity)
        return _difference(run.ends.at_end(quantity), compared)

    def probe_value(self, variant: str, quantity: str) -> float:
        """A quantity of a variant's probe at the end, seeds averaged; no number where it was not measured."""
        return mean_or_nan(self.runs[self.numbers[variant]].ends.at_end(quantity))

    def size(self, variant: str, baseline: str) -> RunSize:
        """How large the runs of two variants are: steps of the longer one."""
        runs = [self.runs[self.numbers[name]] for name in (variant, baseline)]
        batch = min(self.variants[self.numbers[variant]].recipe.batch, self.pairs)
        return RunSize(_most_steps(runs), len(runs[0].held_out), self.pairs, batch)


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
    start: Start = "trained",
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
        start: What training starts from, of which other claims are made too.
    """
    values = VariantValues(columns, runs, seed)
    subjects = [Subject(variant.name, variant.role, variant.setting) for variant in variants]
    seeds = len(runs[0].held_out)

    evidence = RunEvidence(variants, runs, values, counts["pairs"])
    too_short = _why_too_short(runs)
    titles = [str(column.task["name"]) for column in columns]
    return Ablation(
        tasks=[column.task for column in columns],
        metric=metric,
        rows=[values.row(number, variant) for number, variant in enumerate(variants)],
        untouched=[column.value(column.select(cosine[column.number])) for column in columns],
        seeds=seeds,
        trials=max(len(variant.budget) for variant in variants),
        findings=claim_findings(subjects, titles, evidence, pairs=pairs, start=start),
        counts=counts,
        dynamics=[
            {"variant": variant.name, **row}
            for variant, run in zip(variants, runs, strict=True)
            for row in run.dynamics
        ],
        notes=[*notes, *_notes_of_runs(variants, runs), *_notes_of_size(too_short, seeds)],
        trained=trained,
    )


def _difference(values: Array, compared: Array) -> Difference | None:
    """The difference over seeds; nothing where one of the two was not measured."""
    if not len(values) or not len(compared) or np.isnan(values).any() or np.isnan(compared).any():
        return None
    return difference_over_seeds(values, compared)


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
    steps = _most_steps(runs)
    few = f"no variant was trained for more than {steps:.0f} steps: too few to judge claims by"
    return few if steps < LeastRun().steps else ""


def _most_steps(runs: Sequence[VariantRun]) -> float:
    """How many steps the longest of some runs took."""
    return max((run.dynamics[-1]["step"] for run in runs if run.dynamics), default=0.0)


def _notes_of_size(too_short: str, seeds: int) -> list[str]:
    """A note where there are too few steps or seeds to judge a claim by."""
    notes = [too_short] if too_short else []
    if seeds == 1:
        notes.append("one seed shows no spread: train several before you believe a claim")
    return notes
