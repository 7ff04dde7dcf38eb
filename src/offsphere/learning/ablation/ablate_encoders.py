"""``ablate_encoder``: many variants of an encoder's training, each on the same data with the same budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.data.evaluator import Evaluator
from offsphere.data.task import Task
from offsphere.learning.ablation.ablation import Ablation
from offsphere.learning.ablation.assemble import assemble_ablation
from offsphere.learning.ablation.claims import Start
from offsphere.learning.ablation.encoder_variants import TEMPERATURES, encoder_grid
from offsphere.learning.ablation.variant_runs import FitOne, VariantFit, all_runs
from offsphere.learning.ablation.variant_values import value_columns
from offsphere.learning.ablation.variants import TrialSettings, Variant, budget_of, only
from offsphere.learning.data.task_sources import TextSource
from offsphere.learning.data.training_data import TrainingData
from offsphere.learning.encoders.encoder_dynamics import TextProbe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, pairs_for, set_reading, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.judging import TaskJudge
from offsphere.learning.encoders.prepare import prepare
from offsphere.learning.encoders.projection import drop_projection
from offsphere.learning.encoders.trainable import SCRATCH, forget, load_model, model_digest
from offsphere.learning.encoders.usual_rates import usual_rates
from offsphere.learning.loading import judged_apart
from offsphere.learning.objective.contrastive_options import ContrastiveOptions
from offsphere.learning.tracking import Tracking
from offsphere.scoring.training_record import Run

ENDS = "stages"  # how many stages the model ends in that take length away


def ablate_encoder(
    task: Task,
    model: str,
    test: Task | None = None,
    *,
    also: Sequence[Task] = (),
    held_out: Task | None = None,
    recipe: EncoderRecipe | None = None,
    variants: Sequence[Variant] | None = None,
    budget: Sequence[TrialSettings] | None = None,
    full: bool = False,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    seeds: int = 1,
    seed: int = 0,
    new_documents: bool = False,
    layers: bool = False,
    keep: Path | None = None,
    progress: Progress | None = None,
    tracking: Tracking | None = None,
    device: str | None = None,
) -> Ablation:
    """Train every variant of an encoder, each with the temperature and rate that suit it best on held-out queries.

    All variants see the same pairs in the same order, seed by seed, and choose among equally many settings. Nothing
    about the test queries decides anything, and none of them is learned from.

    Args:
        task: A task with texts, to learn from.
        model: The name of the model that every training starts from.
        test: A task with texts, to judge by; without it a share of the training queries is kept for that.
        also: Tasks out of the domain, judged by but never learned from.
        held_out: What training stops by, which is not learned from; queries put aside from the task without.
        recipe: What all variants of the grid have in common; without, the defaults of ``EncoderRecipe`` but for
            patience: nothing stops early, so that all are measured after equally many steps.
        variants: What to train; the grid of normalisations without.
        budget: The temperatures and rates among which every variant of the grid chooses.
        full: Whether the grid crosses all of its switches: 48 variants instead of 9.
        names: Of all variants, those alone.
        metric: By which variants are tuned, stopped and judged; the usual one of the held-out data without.
        seeds: How many trainings each variant has.
        seed: The first of them.
        new_documents: Whether queries to stop by share no relevant document with those that are learned from.
        layers: Whether every layer is measured while it learns.
        keep: A folder for what is finished: a killed run goes on from there.
        progress: Called after every training with how far it is.
        tracking: Who follows the trainings, a run each; nobody unless said.
        device: Where torch computes, as ``"cpu"`` or ``"cuda:1"``; what it finds unless said.

    Returns:
        All variants in one table, and which claims of the papers hold here.

    Raises:
        OffsphereError: If there is too little to learn from, tasks and metric do not fit, or the model cannot be
            loaded; sentence-transformers must be installed.

    Example:
        >>> import offsphere as osp
        >>> grid = osp.encoder_grid(osp.EncoderRecipe(steps=100), [(0.05, 5e-5)])  # what is trained unless one says
        >>> [variant.name for variant in grid][:6]
        ['cosine', 'dot', 'query', 'document', 'half', 'learn']
    """
    if seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    learned, kept, note = judged_apart(task, test, seed, new_documents=new_documents)
    task, test = learned.task, kept.task
    judged = [test, *also]
    for part in judged:
        if part.unit != test.unit:
            raise DataError(f"{part.name} is not a task of the kind of {test.name}: their metrics differ")
    data = text_data(task, held_out=held_out, judged=judged, new_documents=new_documents, metric=metric, seed=seed)
    base = recipe or EncoderRecipe(patience=None)
    usual = usual_rates(model, from_scratch=base.from_scratch)
    chosen = list(variants or encoder_grid(base, budget or budget_of(TEMPERATURES, usual.several), full=full))
    chosen = [variant.with_rate(usual.one) for variant in only(chosen, names)]
    judges = [TaskJudge(part, data.metric) for part in judged]
    digest = digest_of([model.encode(), model_digest(model), data.digest().encode()])
    evaluators, before, start = _measure_untouched(Memo(keep), digest, model, base, seed, judges, device)
    fit_one = fit_encoders(model, data, judges, seed, layers=layers, tracking=tracking, device=device)
    decides = digest_of([digest.encode(), str(layers).encode()])
    runs = all_runs(Memo(keep), decides, fit_one, chosen, range(seed, seed + seeds), progress)
    return assemble_ablation(
        chosen,
        runs,
        value_columns(data, evaluators),
        before,
        metric=data.metric,
        pairs=test.symmetric,
        seed=seed,
        counts={"pairs": len(pairs_for(base, data, seed)), "held_out": data.held_out.task.units},
        notes=[note] if note else [],
        trained="encoder",
        start=start,
    )


def fit_encoders(
    model: str,
    data: TrainingData[TextSource],
    judges: Sequence[TaskJudge],
    probe_seed: int,
    *,
    layers: bool = False,
    tracking: Tracking | None = None,
    device: str | None = None,
) -> FitOne:
    """What trains an encoder for a recipe and a seed; ``judges`` measure it on the tasks it is judged by."""
    probe = TextProbe.of_data(data, probe_seed)

    def fit_one(recipe: ContrastiveOptions, seed: int, name: str) -> VariantFit:
        setup = EncoderSetup.of(model, data, cast("EncoderRecipe", recipe), seed, device=device).with_negatives()
        trained = fit(
            setup.model,
            setup.recipe,
            setup.pairs,
            setup.judge,
            seed,
            probe=probe,
            layers=layers,
            tracking=tracking.named(name) if tracking is not None else None,
        )
        drop_projection(setup.model)
        exponents = trained.loss.objective.normalization.exponents
        return VariantFit(
            trained.run.best,
            _by_cosine(trained.run),
            (exponents.query, exponents.document),
            lambda: [judge.measure(setup.model)[1][0] for judge in judges],
            trained.dynamics,
            [*setup.notes, *_notes_of_run(trained.run)],
        )

    return fit_one


def _by_cosine(run: Run) -> float:
    """The held-out value by cosine at the step that was kept."""
    return run.cosine[[step for step, _, _ in run.history].index(run.best_step)]


def _notes_of_run(run: Run) -> list[str]:
    """What to mind about how a training went."""
    notes = [run.stopped] if run.broke else []
    if run.best_step == 0:
        notes.append("no step was better on held-out data than the start, so its value is that of the untouched model")
    return notes


def _measure_untouched(
    memo: Memo,
    data: str,
    model: str,
    recipe: EncoderRecipe,
    seed: int,
    judges: Sequence[TaskJudge],
    device: str | None,
) -> tuple[list[Evaluator], list[Array], Start]:
    """Measure the model by cosine before any training, where it reads texts as the recipe has it.

    Gives what measures each task, the measurements, and what training starts from; ``data`` is a digest of what these
    depend on too.
    """
    evaluators: list[Evaluator] = []

    def make() -> dict[str, Array]:
        loaded = load_model(model, device)
        if recipe.from_scratch:
            forget(loaded, seed, recipe.cut)
        set_reading(loaded, recipe)
        arrays = {ENDS: np.array([len(prepare(loaded, "both").removed)], np.float64)}
        for number, judge in enumerate(judges):
            evaluator, (_, cosine) = judge.measure(loaded)
            evaluators.append(evaluator)
            arrays[str(number)] = cosine
        return arrays

    scratch = seed if recipe.from_scratch else None
    reading = str((recipe.max_tokens, recipe.prompts, recipe.pooling, scratch)).encode()
    arrays = memo.arrays(f"start-{digest_of([data.encode(), reading])}", make)
    measured = [cast("Array", arrays[str(number)]) for number in range(len(judges))]
    trained: Start = "normalised" if arrays[ENDS][0] else "trained"
    start: Start = "scratch" if recipe.from_scratch or model.startswith(SCRATCH) else trained
    return evaluators or [judge.without_vectors() for judge in judges], measured, start
