"""``train``: fine-tune an encoder with each side's normalisation under control, and save it as it was trained."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offsphere.base.errors import OffsphereError, first_line
from offsphere.base.files import level_modes, write_whole
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.data.call_order import check_task_and_model
from offsphere.data.store_writer import locked
from offsphere.data.task import Task
from offsphere.encode.stages import Power, output_stages
from offsphere.learning.encoders.callbacks import cannot_write, not_written
from offsphere.learning.encoders.card import add_to_card, citations_of, length_report, origin_report
from offsphere.learning.encoders.encoder_dynamics import TextProbe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import Fit, fit
from offsphere.learning.encoders.judging import TaskJudge
from offsphere.learning.encoders.named_recipes import recipe_with
from offsphere.learning.encoders.outcome import TrainingOutcome, training_outcome
from offsphere.learning.encoders.prepare import settle
from offsphere.learning.encoders.projection import drop_projection
from offsphere.learning.encoders.training_folder import (
    measure_before,
    open_checkpoints,
    remove_checkpoints,
    this_process_writes,
)
from offsphere.learning.loading import judged_apart
from offsphere.learning.objective.exponents import Normalize, write_normalize
from offsphere.learning.tracking import Tracking
from offsphere.scoring.training_record import DynamicsRow, Training


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainedEncoder:
    """A trained model, how its training went, and what it is worth on the test queries, where there were some.

    Args:
        model: The SentenceTransformer in its best state, ready to be used.
        plan: What was done, as plain values.
        record: How the training went.
        outcome: What it is worth on the test queries before and after; nothing where there were none.
    """

    model: Any
    plan: dict[str, Any]
    record: Training
    outcome: TrainingOutcome | None

    def __repr__(self) -> str:
        """What it gained on held-out queries."""
        return f"TrainedEncoder({self.record})"

    @property
    def needs_offsphere(self) -> bool:
        """Whether the saved model is loaded with offsphere alone: a stage of ours divides by a power of the length."""
        return any(isinstance(stage, Power) for _, stage in output_stages(self.model))

    def to_json(self) -> dict[str, Any]:
        """Give everything but the model and the dynamics as plain values, for JSON."""
        outcome = plain(self.outcome) if self.outcome is not None else None
        conclusion = self.outcome.conclusion if self.outcome is not None else None
        return {"plan": self.plan, "training": self.record.to_json(), "outcome": outcome, "conclusion": conclusion}


def train(
    task: Task,
    model: Any,
    out: str | Path | None = None,
    *,
    test: Task | None = None,
    judge_a_share: bool = False,
    recipe: EncoderRecipe | str | None = None,
    normalize: Normalize | None = None,
    held_out: Task | None = None,
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
    layers: bool = False,
    restart: bool = False,
    push_to_hub: str | None = None,
    progress: Progress | None = None,
    seen: Callable[[DynamicsRow], None] | None = None,
    before_step: Callable[[int], None] | None = None,
    tracking: Tracking | None = None,
    device: str | None = None,
    **options: Any,
) -> TrainedEncoder:
    """Train a model on the texts or images of a task.

    Training stops by the value on held-out data, scored as it is trained; cosine is measured beside it. The test
    queries are looked at once before and once after, and decide nothing.

    Args:
        task: A task with texts or images, to learn from.
        model: A SentenceTransformer, which is changed, or the name of a model; ``scratch:resnet:32`` is an untrained
            image tower, and ``TEXT+IMAGE`` joins a model of texts and one of images.
        out: A folder in which the model is saved with its record and card; a killed training goes on from the last
            checkpoint there.
        test: A task with texts, to judge by; what is in it is not learned from.
        judge_a_share: Whether, without a ``test``, a share of the queries is kept from training and judged by, as the
            command does; else everything is learned from, and nothing is judged.
        recipe: The name of a recipe, or a recipe; the defaults of ``EncoderRecipe`` without.
        normalize: The output, which is scored: both (cosine), none (dot), query, document, half, learn, or a pair of
            exponents; as the recipe has it without.
        held_out: What training stops by, which is not learned from; queries put aside from the task without.
        new_documents: Whether queries that are put aside share no relevant document with those that are learned from.
        metric: By which the model is stopped and judged; the usual one of the held-out data without.
        seed: Of what is put aside, of the batches and of the tests.
        layers: Whether every layer is measured while it learns.
        restart: Whether to begin anew, whatever is in the folder.
        push_to_hub: A name on the hub to which the trained model is pushed, privately.
        progress: Called now and then with how far it is.
        seen: Called with every measurement of the probe.
        before_step: Called before every step with its number.
        tracking: Who follows the training; nobody unless said.
        device: Where torch computes, as ``"cpu"`` or ``"cuda:1"``; unless said what it finds,
            and for a model in memory where that is.
        options: Fields of an ``EncoderRecipe``, which override the recipe.

    Returns:
        The model, its plan, the record of the training, and its outcome on the test queries.

    Raises:
        OffsphereError: If there is too little to learn from, an option means nothing, or the folder holds something
            else; sentence-transformers must be installed.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> from sentence_transformers import SentenceTransformer
        >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> names = {"?": 0} | {f"w{number}": number for number in range(1, 41)}
        >>> words = Tokenizer(models.WordLevel(names, unk_token="?"))
        >>> words.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> model = SentenceTransformer(modules=[StaticEmbedding(words, embedding_dim=8)], device="cpu")
        >>> left, right = [f"w{row}" for row in range(1, 21)], [f"w{row + 20}" for row in range(1, 21)]
        >>> task = osp.PairTask("pairs", np.array([5.0, 5.0, 5.0, 0.0] * 5), left, right)
        >>> trained = osp.train(task, model, batch=4, steps=3, rate=0.01)
        >>> trained.plan["similarity"], trained.record.counts["held_out"], trained.record.run.steps
        ('cosine', 3, 3)
    """
    check_task_and_model("train", task, model)
    folder = Path(out) if out is not None else None
    chosen = recipe_with(recipe, normalize, **options)
    note = ""
    if judge_a_share:
        learned, judged, note = judged_apart(task, test, seed, new_documents=new_documents)
        task, test = learned.task, judged.task
    data = text_data(
        task,
        held_out=held_out,
        judged=[test] if test is not None else [],
        new_documents=new_documents,
        metric=metric,
        seed=seed,
    )
    setup = EncoderSetup.of(model, data, chosen, seed, device=device)
    with _alone_in(folder):
        checkpoints = open_checkpoints(folder, setup, restart=restart) if folder is not None else None
        judge = TaskJudge(test, data.metric) if test is not None else None
        before = measure_before(judge, setup.model, checkpoints) if judge is not None else None
        setup = setup.with_negatives()
        fitted = fit(
            setup.model,
            setup.recipe,
            setup.pairs,
            setup.judge,
            seed,
            probe=TextProbe.of_data(data, seed),
            layers=layers,
            folder=checkpoints,
            progress=progress,
            seen=seen,
            before_step=before_step,
            tracking=tracking,
        )
        settle(setup.model)
        headed = [] if not chosen.projection else _without_head(setup, judge)
        outcome = None
        if judge is not None and before is not None:
            evaluator, after = judge.measure(setup.model)
            outcome = training_outcome(judge, evaluator.evaluation, [before, *after], seed)
        sentences = [f"{text[0].upper()}{text[1:]}." for text in (note, setup.read_as_before()) if text]
        told = [*headed, *sentences]
        trained = TrainedEncoder(setup.model, setup.plan(), _record(setup, fitted, outcome, told), outcome)
        if folder is not None and checkpoints is not None and this_process_writes():
            _save_instead_of(checkpoints, setup, trained, fitted, folder)
        if push_to_hub is not None and this_process_writes():
            push(trained.model, push_to_hub, folder)
    return trained


def _alone_in(folder: Path | None) -> AbstractContextManager[None]:
    """Keep a second training out of a folder while one is at work there."""
    return locked(folder) if folder is not None and this_process_writes() else nullcontext()


def save(setup: EncoderSetup, trained: TrainedEncoder, fitted: Fit, folder: Path) -> None:
    """Write the model, its card with where it is from and what its lengths are like, and the record of its training."""
    if "/" in setup.name and not Path(setup.name).exists():  # a name on the hub, which the card can link to
        trained.model.model_card_data.base_model = setup.name
    trained.model.save_pretrained(str(folder))
    exponents = fitted.loss.objective.normalization.exponents
    reports = [
        origin_report(setup.recipe, trained.plan, trained.record.said[1:]),
        length_report(exponents, trained.plan, fitted.dynamics, trained.outcome),
    ]
    add_to_card(folder, "\n".join(reports), citations_of(setup.recipe))
    level_modes(folder, "modules.json")
    trained.record.save(folder)
    write_whole(folder / "outcome.json", json.dumps(trained.to_json(), indent=2).encode())


def push(model: Any, name: str, folder: Path | None = None) -> None:
    """Push a model to the hub, because somebody asked for it: the folder as it was saved, where there is one."""
    try:
        model.push_to_hub(name, private=True, exist_ok=True, local_model_path=str(folder) if folder else None)
    except Exception as error:  # the hub raises many kinds
        raise OffsphereError(
            f"the model could not be pushed to {name}: {first_line(error)}; what was saved is whole"
        ) from error


def _save_instead_of(
    checkpoints: Path, setup: EncoderSetup, trained: TrainedEncoder, fitted: Fit, folder: Path
) -> None:
    """Write everything, and only then remove the checkpoints: where it cannot be written they are whole."""
    try:
        save(setup, trained, fitted, folder)
    except Exception as error:
        if not cannot_write(error):
            raise
        raise not_written(error, checkpoints) from error
    remove_checkpoints(checkpoints)


def _without_head(setup: EncoderSetup, judge: TaskJudge | None) -> list[str]:
    """Drop the projection head, and say what the model is worth with it and without it."""
    judges = {"held-out data": setup.judge} | ({judge.task.name: judge} if judge is not None else {})
    before = [judge.values(setup.model)[0] for judge in judges.values()]
    drop_projection(setup.model)
    after = [judge.values(setup.model)[0] for judge in judges.values()]
    return [
        f"{name}: {setup.data.metric} {with_head:.4f} with the projection head, {without:.4f} without it, as saved"
        for name, with_head, without in zip(judges, before, after, strict=True)
    ]


def _record(setup: EncoderSetup, fitted: Fit, outcome: TrainingOutcome | None, headed: Sequence[str]) -> Training:
    """The record of a training, with what to mind about it; ``headed`` says what a head that was dropped was worth."""
    notes = [*setup.notes, *([fitted.run.stopped] if fitted.run.broke else [])]
    if fitted.run.best_step == 0:
        notes.append(
            "no step was better than the start on held-out data, so the saved model is the one you gave: try another "
            f"--rate than {setup.recipe.rate:g}, or more steps"
        )
    judged = [f"{outcome.task['name']}: {outcome.conclusion}"] if outcome is not None else []
    return Training(
        recipe=setup.recipe.config(),
        objective=fitted.loss.get_config_dict(),
        metric=setup.data.metric,
        counts=setup.counts,
        runs=[fitted.run],
        chosen=0,
        dynamics=fitted.dynamics,
        notes=notes,
        said=[_origin(setup), *headed, *judged],
    )


def _origin(setup: EncoderSetup) -> str:
    """Where the model is from, for somebody who sees it later."""
    task = setup.data.source.task
    split = f" ({task.split})" if task.split else ""
    what = f"{len(setup.pairs):,} pairs of {task.name}{split}"
    return f"Trained from {setup.name} on {what}, normalize {write_normalize(setup.recipe.normalize)}."
