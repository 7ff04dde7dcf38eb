"""``ablate_encoder``: many variants of an encoder's training, each on the same data with the same budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.progress import Progress
from offsphere.data.evaluator import Evaluator
from offsphere.data.task import Task
from offsphere.learn.ablation.ablate_adapters import put_together
from offsphere.learn.ablation.ablation import Ablation
from offsphere.learn.ablation.encoder_variants import RATES, TEMPERATURES, encoder_grid
from offsphere.learn.ablation.variant_runs import VariantFit, all_runs
from offsphere.learn.ablation.variant_values import columns_of
from offsphere.learn.ablation.variants import Trial, Variant, budget_of
from offsphere.learn.data.task_sources import TextSource
from offsphere.learn.data.training_data import divide
from offsphere.learn.encoders.encoder_dynamics import TextProbe
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
from offsphere.learn.encoders.encoder_setup import EncoderSetup, pairs_for, set_reading, text_data
from offsphere.learn.encoders.fit import fit
from offsphere.learn.encoders.judging import Judge
from offsphere.learn.encoders.prepare import prepare
from offsphere.learn.encoders.trainable import forget, load_model, weights_digest
from offsphere.learn.objective.contrastive_options import ContrastiveOptions
from offsphere.scoring.record import Run


def ablate_encoder(
    task: Task,
    model: str,
    test: Task | None = None,
    *,
    also: Sequence[Task] = (),
    held_out: Task | None = None,
    recipe: EncoderRecipe | None = None,
    variants: Sequence[Variant] | None = None,
    budget: Sequence[Trial] | None = None,
    full: bool = False,
    metric: str | None = None,
    seeds: int = 1,
    seed: int = 0,
    new_documents: bool = False,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> Ablation:
    """Train every variant, each with the temperature and rate that suit it best on held-out queries.

    As ``ablate`` does for adapters: the same pairs in the same order, equally many settings, and nothing about the test
    queries decides anything. What is finished is kept in the folder ``keep``, and a killed run goes on from there.
    """
    if seeds < 1:
        raise ParameterError(f"seeds = {seeds}: give at least one")
    notes = []
    if test is None:
        division = divide(TextSource(task), seed, by_document=new_documents)
        task, test = division.train.task, division.test.task
        notes.append(division.note)
    for other in (test, *also):
        if other.unit != test.unit:
            raise DataError(f"{other.name} is not a task of the kind of {test.name}: their metrics differ")
    data = text_data(
        task,
        held_out=held_out,
        judged=[test, *also],
        new_documents=new_documents,
        metric=metric,
        seed=seed,
    )
    base = recipe or EncoderRecipe()
    chosen = list(variants or encoder_grid(base, budget or budget_of(TEMPERATURES, RATES), full=full))
    judges = [Judge(one, data.metric) for one in (test, *also)]
    probe = TextProbe.of(data.held_out.task, seed)

    def train_one(options: ContrastiveOptions, number: int) -> VariantFit:
        setup = EncoderSetup.of(model, data, cast("EncoderRecipe", options), number).with_negatives()
        found = fit(setup.model, setup.recipe, setup.pairs, setup.judge, number, probe=probe)
        exponents = found.loss.objective.normalization.exponents
        return VariantFit(
            found.run.best,
            (exponents.query, exponents.document),
            lambda: [judge.measured(setup.model)[1][0] for judge in judges],
            found.dynamics,
            [*setup.notes, *_minded(found.run)],
        )

    digest = digest_of([model.encode(), weights_digest(model), data.digest().encode()])
    evaluators, before = _untouched(Memo(keep), digest, model, base, seed, judges)
    runs = all_runs(Memo(keep), digest, train_one, chosen, range(seed, seed + seeds), progress)
    return put_together(
        chosen,
        runs,
        columns_of(data, evaluators),
        before,
        metric=data.metric,
        pairs=test.symmetric,
        seed=seed,
        counts={"pairs": len(pairs_for(base, data, seed)), "held_out": data.held_out.task.units},
        notes=notes,
        trained="encoder",
    )


def _minded(run: Run) -> list[str]:
    """What to mind about a training."""
    found = [run.stopped] if run.broke else []
    if run.best_step == 0:
        found.append("no step was better on held-out data than the start, so its value is that of the untouched model")
    return found


def _untouched(
    memo: Memo, data: str, model: str, recipe: EncoderRecipe, seed: int, judges: Sequence[Judge]
) -> tuple[list[Evaluator], list[Array]]:
    """What measures each task, and the measurements of the model before any training, by cosine; it reads alike."""
    measuring: list[Evaluator] = []

    def make() -> dict[str, Array]:
        loaded = load_model(model)
        if recipe.from_scratch:
            forget(loaded, seed, recipe.cut)
        set_reading(loaded, recipe)
        prepare(loaded, "both")
        found = {}
        for place, judge in enumerate(judges):
            how, (_, cosine) = judge.measured(loaded)
            measuring.append(how)
            found[str(place)] = cosine
        return found

    scratch = seed if recipe.from_scratch else None
    reads = str((recipe.max_tokens, recipe.prompts, recipe.pooling, scratch)).encode()
    found = memo.arrays(f"before-{digest_of([data.encode(), reads])}", make)
    evaluations = measuring or [judge.without_vectors() for judge in judges]
    return evaluations, [cast("Array", found[str(place)]) for place in range(len(judges))]
