"""``ablate``: many variants of an adapter on the same data, in the same order, with the same budget to be tuned by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.comparison.compare_scorers import metric_for
from offsphere.data.call_order import check_embedded
from offsphere.data.evaluator import Evaluator
from offsphere.data.task import EmbeddedTask
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.ablation.assemble import assemble_ablation
from offsphere.learning.ablation.variant_runs import FitOne, VariantFit, all_runs
from offsphere.learning.ablation.variant_values import value_columns
from offsphere.learning.ablation.variants import TrialSettings, Variant, budget_of, grid, only
from offsphere.learning.adapters.adapter_recipe import Recipe
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_data import divide
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.learning.tracking import Tracking
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.similarity import COSINE
from offsphere.statistics.metrics import parse_metric

TWO_WIDTHS = (
    "query and document vectors have two widths: 'cosine without an adapter' is cosine after the closed-form maps that "
    "training starts from"
)


def ablate(
    train: EmbeddedTask,
    test: EmbeddedTask | None = None,
    *,
    also: Sequence[EmbeddedTask] = (),
    known: Sequence[EmbeddedTask] = (),
    recipe: Recipe | None = None,
    variants: Sequence[Variant] | None = None,
    budget: Sequence[TrialSettings] | None = None,
    full: bool = False,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    seeds: int = 3,
    seed: int = 0,
    new_documents: bool = False,
    keep: Path | None = None,
    progress: Progress | None = None,
    tracking: Tracking | None = None,
    device: str | None = None,
) -> Ablation:
    """Train every variant of an adapter, each with the temperature and rate that suit it best on held-out queries.

    All variants see the same pairs in the same order, seed by seed, and choose among equally many settings. Nothing
    about the test queries decides anything, and none of them is learned from.

    Args:
        train: A task with its vectors, to learn from.
        test: A task with its vectors, to judge by; without it a share of the training queries is kept for that.
        also: Tasks out of the domain, judged by but never learned from.
        known: Further tasks to learn from.
        recipe: What all variants of the grid have in common; without, the defaults of ``Recipe`` but for patience:
            nothing stops early, so that all are measured after equally many steps.
        variants: What to train; the grid of normalisations without.
        budget: The temperatures and rates among which every variant of the grid chooses.
        full: Whether the grid crosses all of its switches: 136 variants instead of 35.
        names: Of all variants, those alone.
        metric: By which variants are tuned, stopped and judged; the usual one of the task without.
        seeds: How many trainings each variant has.
        seed: The first of them.
        new_documents: Whether queries to stop by share no relevant document with those that are learned from.
        keep: A folder for what is finished: a killed run goes on from there.
        progress: Called after every training with how far it is.
        tracking: Who follows the trainings, a run each; nobody unless said.
        device: Where torch computes, as ``"cpu"`` or ``"cuda:1"``; what it finds unless said.

    Returns:
        All variants in one table, and which claims of the papers hold here.

    Raises:
        OffsphereError: If there is too little to learn from, or tasks and metric do not fit; torch must be installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> documents = rng.standard_normal((90, 4)).astype(np.float32)
        >>> judged = {f"q{row}": {f"d{row}": 1.0} for row in range(90)}
        >>> task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(90)])
        >>> vectors = osp.RankingVectors.of(task, documents[:, ::-1].copy(), documents)
        >>> recipe = osp.Recipe(batch=32, epochs=20, hard_negatives=0)
        >>> variants = [
        ...     osp.Variant("cosine", recipe, [(0.05, 0.03)]),
        ...     osp.Variant("slow", recipe, [(0.05, 0.0001)]),
        ... ]
        >>> ablation = osp.ablate((task, vectors), variants=variants, seeds=1)
        >>> [(row.name, row.rate) for row in ablation.ranked]
        [('cosine', 0.03), ('slow', 0.0001)]
    """
    if seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    check_embedded("ablate", "train", train)
    if test is not None:
        check_embedded("ablate", "test", test)
    notes = []
    if test is None:
        division = divide(VectorSource(*train), seed, by_document=new_documents)
        train, test = division.train.embedded, division.test.embedded
        notes.append(division.note)
    metric = metric_for(train[0], metric).name
    evaluators = [_evaluator(judged, metric, train) for judged in (test, *also)]
    setup = AdapterSetup.of(
        train, also=known, judged=[test, *also], new_documents=new_documents, metric=metric, seed=seed, device=device
    )
    pairs = train[0].symmetric
    two_widths = setup.baseline.map is not None
    notes += [TWO_WIDTHS] if two_widths else []
    shared = recipe or Recipe(patience=None)
    chosen = variants or grid(shared, budget or budget_of(), full=full, pairs=pairs, two_widths=two_widths)
    chosen = [variant.with_rate(Recipe().rate) for variant in only(chosen, names)]
    fit = fit_adapters(setup, evaluators, tracking)
    runs = all_runs(Memo(keep), setup.data.digest(), fit, chosen, range(seed, seed + seeds), progress)
    return assemble_ablation(
        chosen,
        runs,
        value_columns(setup.data, evaluators),
        [evaluator.values([setup.baseline])[0] for evaluator in evaluators],
        metric=setup.data.metric,
        pairs=pairs,
        seed=seed,
        counts={"pairs": setup.pairs.distinct, "held_out": setup.data.held_out.task.units},
        notes=notes,
    )


def fit_adapters(setup: AdapterSetup, evaluators: Sequence[Evaluator], tracking: Tracking | None = None) -> FitOne:
    """What trains an adapter for a recipe and a seed; ``evaluators`` measure it on the tasks it is judged by."""

    def fit(recipe: ContrastiveOptions, seed: int, name: str) -> VariantFit:
        follows = tracking.named(name) if tracking is not None else None
        adapter = setup.adapt(cast("Recipe", recipe), [seed], tracking=follows)
        record = adapter.record
        assert record is not None
        return VariantFit(
            record.run.best,
            _by_cosine(setup, adapter, record.run.best),
            _output_exponents(adapter),
            lambda: [evaluator.values([adapter.scorer])[0] for evaluator in evaluators],
            record.dynamics,
            record.notes,
        )

    return fit


def _by_cosine(setup: AdapterSetup, adapter: Adapter, trained: float) -> float:
    """The held-out value of the same vectors by cosine; that of the training itself where it was cosine."""
    plain = adapter.similarity == COSINE and adapter.query.head is None and adapter.document.head is None
    return trained if plain else setup.evaluate(replace(adapter, similarity=COSINE))


def _output_exponents(adapter: Adapter) -> tuple[float, float]:
    """The exponents of the output as learned; where a head has divided already, those it divided by."""
    query, document = (
        side.head.output if side.head is not None else adapter.similarity.parameters[name]
        for side, name in ((adapter.query, "query"), (adapter.document, "document"))
    )
    return query, document


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
