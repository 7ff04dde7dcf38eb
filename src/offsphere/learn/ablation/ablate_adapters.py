"""``ablate``: many variants of an adapter on the same data, in the same order, with the same budget to be tuned by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.evaluator import Evaluator
from offsphere.data.task import EmbeddedTask
from offsphere.learn.ablation.ablation import Ablation
from offsphere.learn.ablation.claims import findings_of
from offsphere.learn.ablation.variant_runs import VariantRun, adapters_of, all_runs
from offsphere.learn.ablation.variant_values import Column, VariantValues, columns_of
from offsphere.learn.ablation.variants import Trial, Variant, budget_of, grid
from offsphere.learn.adapters.adapter_recipe import Recipe
from offsphere.learn.adapters.adapter_setup import AdapterSetup
from offsphere.learn.data.task_sources import VectorSource
from offsphere.learn.data.training_data import divide
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.difference import Difference
from offsphere.statistics.metrics import parse_metric

FEW = 100  # steps


def ablate(
    train: EmbeddedTask,
    test: EmbeddedTask | None = None,
    *,
    also: Sequence[EmbeddedTask] = (),
    known: Sequence[EmbeddedTask] = (),
    recipe: Recipe | None = None,
    variants: Sequence[Variant] | None = None,
    budget: Sequence[Trial] | None = None,
    full: bool = False,
    metric: str | None = None,
    seeds: int = 3,
    seed: int = 0,
    new_documents: bool = False,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> Ablation:
    """Train every variant, each with the temperature and rate that suit it best on held-out queries.

    All variants see the same pairs in the same order, seed by seed, and choose among equally many settings. Nothing
    about the test queries decides anything. ``also`` are tasks out of the domain, judged but never learned from;
    ``known`` are further pairs to learn from. What is finished is kept in the folder ``keep``, and a killed run goes on
    from there.
    """
    if seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    notes = []
    if test is None:
        division = divide(VectorSource(*train), seed, by_document=new_documents)
        train, test = division.train.embedded, division.test.embedded
        notes.append(division.note)
    metric = metric_for(train[0], metric).name
    evaluators = [_evaluator(judged, metric, train) for judged in (test, *also)]
    setup = AdapterSetup.of(
        train, also=known, judged=[test, *also], new_documents=new_documents, metric=metric, seed=seed
    )
    pairs = train[0].symmetric
    chosen = variants or grid(recipe or Recipe(), budget or budget_of(), full=full, pairs=pairs)
    fit = adapters_of(setup, evaluators)
    runs = all_runs(Memo(keep), setup.data.digest(), fit, chosen, range(seed, seed + seeds), progress)
    return put_together(
        chosen,
        runs,
        columns_of(setup.data, evaluators),
        [evaluator.values([Scorer(COSINE)])[0] for evaluator in evaluators],
        metric=setup.data.metric,
        pairs=pairs,
        seed=seed,
        counts={"pairs": setup.pairs.distinct, "held_out": setup.data.held_out.task.units},
        notes=notes,
    )


def put_together(
    chosen: Sequence[Variant],
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
    """All runs in one table; ``cosine`` holds the measurements before any training, task by task."""
    values = VariantValues(columns, runs, seed)
    names = [variant.name for variant in chosen]
    seeds = len(runs[0].held_out)

    def contrast(one: str, other: str, task: int) -> Difference:
        return values.contrast(names.index(one), names.index(other), task)

    titles = [str(column.task["name"]) for column in columns]
    return Ablation(
        [column.task for column in columns],
        metric,
        [values.row(place, variant) for place, variant in enumerate(chosen)],
        [column.value(cosine[column.number][column.rows if column.rows is not None else ...]) for column in columns],
        seeds,
        max(len(variant.budget) for variant in chosen),
        findings_of(names, titles, contrast, pairs=pairs),
        counts,
        [{"variant": variant.name, **row} for variant, run in zip(chosen, runs, strict=True) for row in run.dynamics],
        [*notes, *_noted(chosen, runs), *_too_little(runs, seeds)],
        trained,
    )


def _too_little(runs: Sequence[VariantRun], seeds: int) -> list[str]:
    """What a claim should not be judged by."""
    steps = max((run.dynamics[-1]["step"] for run in runs if run.dynamics), default=0.0)
    found = []
    if steps < FEW:
        found.append(f"no variant was trained for more than {steps:.0f} steps: too few to judge claims by")
    if seeds == 1:
        found.append("one seed shows no spread: train several before you believe a claim")
    return found


def _noted(variants: Sequence[Variant], runs: Sequence[VariantRun]) -> list[str]:
    """Every note once, with the variants it is about."""
    about: dict[str, list[str]] = {}
    for variant, run in zip(variants, runs, strict=True):
        for note in run.notes:
            about.setdefault(note, []).append(variant.name)
    everywhere = len(variants)
    return [note if len(names) == everywhere else f"{'; '.join(names)}: {note}" for note, names in about.items()]


def _evaluator(judged: EmbeddedTask, metric: str, train: EmbeddedTask) -> Evaluator:
    """What measures a task one judges by; refuses a task of another kind, and a metric without a value a query."""
    task, vectors = judged
    if task.unit != train[0].unit:
        raise DataError(
            f"{task.name} is not a task of the kind of {train[0].name}: pairs and rankings have other metrics"
        )
    if parse_metric(metric).kind == "pooled":
        raise ParameterError(f"{metric} has no value a query: ablate with ndcg@10, mrr@10, recall@100, map@100, ...")
    return task.evaluator(vectors, parse_metric(metric), np.zeros(task.units, np.int64))
