"""``ablate_encoder``: many variants of an encoder's training, each on the same data with the same budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.errors import DataError, ParameterError
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.data.evaluator import Evaluator
from offsphere.data.task import Task
from offsphere.learn.ablation.ablate_adapters import put_together
from offsphere.learn.ablation.ablation import Ablation
from offsphere.learn.ablation.encoder_variants import RATES, TEMPERATURES, encoder_grid
from offsphere.learn.ablation.variant_runs import VariantFit, all_runs
from offsphere.learn.ablation.variant_values import Column
from offsphere.learn.ablation.variants import Trial, Variant, budget_of
from offsphere.learn.adapters.learn import FEWEST_NEW
from offsphere.learn.data.texts import divided_texts, texts_of
from offsphere.learn.encoders.encoder_dynamics import TextProbe
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
from offsphere.learn.encoders.fit import fit
from offsphere.learn.encoders.judging import Judge
from offsphere.learn.encoders.prepare import prepare
from offsphere.learn.encoders.setup import Material, Setup, set_reading
from offsphere.learn.encoders.trainable import forget, load_model, weights_digest
from offsphere.learn.objective.contrastive_options import ContrastiveOptions
from offsphere.scoring.record import Run
from offsphere.statistics.evaluation import MeanOverQueries


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
        task, test, note = divided_texts(task, seed, by_document=new_documents)
        notes.append(note)
    for other in (test, *also):
        if other.unit != test.unit:
            raise DataError(f"{other.name} is not a task of the kind of {test.name}: their metrics differ")
    material = Material.of(
        task,
        held_out=held_out,
        judged=[test, *also],
        new_documents=new_documents,
        metric=metric,
        seed=seed,
    )
    base = recipe or EncoderRecipe()
    chosen = list(variants or encoder_grid(base, budget or budget_of(TEMPERATURES, RATES), full=full))
    judges = [Judge(one, material.judge.metric) for one in (test, *also)]
    probe = TextProbe.of(material.judge.task, seed)

    def train_one(options: ContrastiveOptions, number: int) -> VariantFit:
        setup = Setup.of(model, material, cast("EncoderRecipe", options), number).with_negatives()
        found = fit(setup.model, setup.recipe, setup.pairs, material.judge, number, probe=probe)
        exponents = found.loss.objective.normalization.exponents
        return VariantFit(
            found.run.best,
            (exponents.query, exponents.document),
            lambda: [judge.measured(setup.model)[1][0] for judge in judges],
            found.dynamics,
            [*setup.notes, *_minded(found.run)],
        )

    data = _digest(model, material, [test, *also])
    measuring, before = _untouched(Memo(keep), data, model, base, seed, judges)
    runs = all_runs(Memo(keep), data, train_one, chosen, range(seed, seed + seeds), progress)
    return put_together(
        chosen,
        runs,
        _columns(material, measuring, [test, *also]),
        before,
        metric=material.judge.metric,
        pairs=test.symmetric,
        seed=seed,
        counts={"pairs": len(material.pairs(base, seed)), "held_out": material.judge.task.units},
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


def _columns(material: Material, measuring: Sequence[Evaluator], tasks: Sequence[Task]) -> list[Column]:
    """Every task; and of the first one apart, where there are some of both, queries whose documents are new."""
    found = [
        Column(task.summary(), how.evaluation, place)
        for place, (how, task) in enumerate(zip(measuring, tasks, strict=True))
    ]
    first = tasks[0]
    if first.relevant_to_any() is not None and material.task.relevant_to_any() is not None:
        new = _new(material.task, material.rows, first)
        if FEWEST_NEW <= len(new) < first.units:
            part = first.only(new).summary()
            part["name"] = f"{first.name}, new documents"
            found.insert(1, Column(part, MeanOverQueries(len(new)), 0, new))
    return found


def _new(learned: Task, rows: Index, task: Task) -> Index:
    """Queries of a task none of whose relevant documents was learned from."""
    queries, documents = learned.positives()
    texts = texts_of(learned)[1]
    seen = {texts[row] for row in np.unique(documents[np.isin(queries, rows)]).tolist()}
    others = texts_of(task)[1]
    pairs = zip(*(side.tolist() for side in task.positives()), strict=True)
    known = {query for query, document in pairs if others[document] in seen}
    return np.array([query for query in range(task.units) if query not in known], np.int64)


def _digest(model: str, material: Material, tasks: Sequence[Task]) -> str:
    """What results depend on besides the variant."""
    parts = [model.encode(), weights_digest(model), material.rows.tobytes(), material.judge.metric.encode()]
    for task in (material.task, material.judge.task, *tasks):
        parts += [digest_of([text.encode() for text in side]).encode() for side in texts_of(task)]
        parts += [*task.judgment_bytes(), str(plain(task.summary())).encode()]
    return digest_of(parts)
