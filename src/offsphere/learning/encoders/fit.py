"""One training of an encoder: a recipe, pairs of items, a judge, on sentence-transformers' own trainer."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentence_transformers import SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.data_collator import SentenceTransformerDataCollator
from transformers import PrinterCallback, TrainerCallback

from offsphere.base.errors import DataError
from offsphere.base.progress import Progress
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.parquet_files import read_rows
from offsphere.encode.sentence import SentenceEncoder
from offsphere.learning.adapters.adapter_recipe import BETAS
from offsphere.learning.data.training_pairs import ItemPairs
from offsphere.learning.encoders.callbacks import (
    MARK,
    WEIGHTS,
    Watch,
    cannot_write,
    last_checkpoint,
    not_written,
    read_weights,
    restore,
    step_of,
)
from offsphere.learning.encoders.contrastive import ContrastiveLoss, NotFiniteError
from offsphere.learning.encoders.encoder_dynamics import Dynamics, TextProbe
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.item_reader import ItemReader
from offsphere.learning.encoders.judging import HeldOutEvaluator, TaskJudge
from offsphere.learning.encoders.lora import merge_lora
from offsphere.learning.encoders.picture_views import PictureViews
from offsphere.learning.encoders.precision import multiply_as_saved, products_of
from offsphere.learning.encoders.training_dataset import training_dataset
from offsphere.learning.encoders.usual_rates import usual_rates
from offsphere.learning.objective.objective import objective_of
from offsphere.learning.tracking import FollowedTrainer, Tracking
from offsphere.scoring.training_record import DYNAMICS, DynamicsRow, Run

if TYPE_CHECKING:
    from collections.abc import Iterator

EVALUATIONS = 10  # of a training, where nobody says


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """The result of one training: the loss around the model, which is in its best state, and how it went."""

    loss: ContrastiveLoss
    run: Run
    dynamics: Sequence[DynamicsRow]

    @property
    def model(self) -> Any:
        """The trained model in its best state."""
        return self.loss.model


class EncoderTrainer(SentenceTransformerTrainer):
    """The trainer of sentence-transformers, but what the objective learns has a rate of its own and no weight decay."""

    own_rate = 1e-2

    def _load_from_checkpoint(self, checkpoint_path: str) -> None:  # type: ignore[override]  # as its parent has it
        """Take the weights of a checkpoint, those beside others (LoRA) by their names among them."""
        weights = Path(checkpoint_path) / WEIGHTS
        if not is_there(weights):
            super()._load_from_checkpoint(checkpoint_path)
            return
        model: Any = self.model
        model.load_state_dict(read_weights(weights))

    def get_optimizer_cls_and_kwargs(self, args: Any, model: Any = None) -> Any:  # type: ignore[override]
        """The groups of the trainer, and further ones for exponents, scale and bias."""
        kind, options = super().get_optimizer_cls_and_kwargs(args, model)
        loss: Any = self.loss
        objectives = [loss.objective, *([loss.first] if loss.first is not None else [])]
        groups = [group for objective in objectives for group in objective.parameter_groups(self.own_rate)]
        grouped = {id(parameter) for group in groups for parameter in group["params"]}
        for group in options["optimizer_dict"]:
            group["params"] = [parameter for parameter in group["params"] if id(parameter) not in grouped]
        options["optimizer_dict"] += groups
        return kind, options


def loss_for(model: Any, recipe: EncoderRecipe, pairs: ItemPairs) -> ContrastiveLoss:
    """The loss that a recipe asks for."""
    first = None
    if recipe.first is not None:
        plain = replace(recipe, normalize=recipe.first, first=None, lora=None, focal=0.0)
        first = objective_of(plain, max(2, len(pairs)))
    return ContrastiveLoss(
        model,
        objective=objective_of(recipe, max(2, len(pairs)), widths=recipe.dimensions),
        first=first,
        mini_batch=recipe.mini_batch,
        dimensions=recipe.dimensions,
        momentum=recipe.momentum,
        queue=recipe.queue,
        known=pairs.known,
    )


def steps_of(recipe: EncoderRecipe, pairs: int) -> int:
    """How many steps a training takes."""
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    together = recipe.batch * processes
    if pairs < together:
        raise DataError(
            f"there are {pairs:,} pairs to learn from, and a batch has {together}: more data, or a smaller batch"
        )
    if recipe.steps is not None:
        return recipe.steps
    epochs = 1 if recipe.views != "pairs" else recipe.epochs or 1
    return epochs * (pairs // together)


def fit(
    model: Any,
    recipe: EncoderRecipe,
    pairs: ItemPairs,
    judge: TaskJudge,
    seed: int,
    *,
    probe: TextProbe | None = None,
    layers: bool = False,
    folder: Path | None = None,
    progress: Progress | None = None,
    seen: Callable[[DynamicsRow], None] | None = None,
    before_step: Callable[[int], None] | None = None,
    tracking: Tracking | None = None,
) -> Fit:
    """Train a prepared model and leave it in the state that had the best held-out value.

    With a ``folder`` there are checkpoints in it, and a training that was killed goes on from the last whole one, with
    the same data in the same order. ``before_step`` is called before every step, and ``tracking`` follows all of it.
    """
    started = time.monotonic()
    loss = loss_for(model, recipe, pairs)
    total = steps_of(recipe, len(pairs))
    every = recipe.evaluate_every or max(1, ceil(total / EVALUATIONS))
    checkpoint = last_checkpoint(folder) if folder is not None else None
    with products_of(model, recipe.precision):
        start = judge.values(model) if checkpoint is None else (0.0, 0.0)
    share = recipe.first_share if recipe.first is not None else 0.0
    watch = Watch(loss, judge.metric, start, recipe.patience, first_share=share, folder=folder, progress=progress)
    followed = FollowedTrainer.of(tracking, seen)
    dynamics = None
    if probe is not None and recipe.dynamics_every:
        dynamics = Dynamics(probe, loss, recipe.dynamics_every, layers=layers, folder=folder, seen=followed.show)
    if checkpoint is not None:
        watch.resume(checkpoint)
        if dynamics is not None and folder is not None:
            dynamics.rows = read_dynamics(folder)
    # dynamics first: what it measures is written when the watch marks a checkpoint as whole
    callbacks: list[Any] = [*followed.callbacks, *([dynamics] if dynamics is not None else []), watch]
    if before_step is not None:
        callbacks.append(_BeforeStep(before_step))
    stopped, broke = "all steps done", False
    done = step_of(checkpoint) if checkpoint is not None else 0
    with _trainer_folder(folder) as output, _quiet_logs():
        trainer = EncoderTrainer(
            model=model,
            args=_arguments(
                recipe,
                output,
                total,
                every,
                seed,
                save=folder is not None,
                model=model,
                run=followed.run,
            ),
            train_dataset=training_dataset(pairs),
            loss=loss,
            data_collator=_collator(model, recipe, pairs, seed),
            evaluator=HeldOutEvaluator(judge),
            callbacks=callbacks,
        )
        trainer.own_rate = recipe.own_rate
        followed.trainer = trainer
        trainer.remove_callback(PrinterCallback)
        try:
            if done < total and not watch.out_of_patience:  # or it was killed after its last step
                trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint is not None else None)
                done = trainer.state.global_step
        except NotFiniteError as error:
            done = trainer.state.global_step
            stopped, broke = f"at step {done + 1} {error}; kept is the state of step {watch.best_step}", True
        except Exception as error:
            if folder is None or not cannot_write(error):
                raise
            raise not_written(error, folder) from error
        finally:
            multiply_as_saved(model)
    if watch.out_of_patience:
        stopped = f"no better held-out value in {recipe.patience} evaluations"
    restore(model, loss, watch.best_state())
    merge_lora(model)
    model.eval()
    run = Run(
        seed=seed,
        start=watch.history[0][2],
        best=watch.best,
        best_step=watch.best_step,
        steps=done,
        seconds=round(time.monotonic() - started, 2),
        history=[row[:3] for row in watch.history],
        stopped=stopped,
        broke=broke,
        cosine=[row[3] for row in watch.history],
    )
    return Fit(loss, run, dynamics.rows if dynamics is not None else [])


def _arguments(
    recipe: EncoderRecipe,
    output: Path,
    total: int,
    every: int,
    seed: int,
    *,
    save: bool,
    model: Any,
    run: str | None,
) -> SentenceTransformerTrainingArguments:
    """What the trainer is told, in its own words."""
    sides = _sides_of_columns(recipe)
    schedule: Mapping[str, str] = {"constant": "constant_with_warmup"}
    return SentenceTransformerTrainingArguments(
        output_dir=str(output),
        max_steps=total,
        per_device_train_batch_size=recipe.batch,
        learning_rate=recipe.rate if recipe.rate is not None else usual_rates(model).one,
        weight_decay=recipe.weight_decay,
        adam_beta1=BETAS[0],
        adam_beta2=BETAS[1],
        max_grad_norm=recipe.clip,
        lr_scheduler_type=schedule.get(recipe.schedule, recipe.schedule),
        warmup_steps=int(recipe.warmup * total),
        bf16=recipe.precision == "bf16",
        use_cpu=model.device.type == "cpu",
        eval_strategy="steps" if total else "no",
        eval_steps=every,
        save_strategy="steps" if save and total else "no",
        save_steps=every,
        save_total_limit=2,
        logging_strategy="steps",
        logging_steps=1,
        logging_nan_inf_filter=False,
        dataloader_drop_last=True,
        dataloader_pin_memory=False,
        router_mapping=sides,
        report_to="none",  # trackers are among the callbacks, so that they know where to write
        run_name=run,
        disable_tqdm=True,
        seed=seed,
        data_seed=seed,
    )


def _sides_of_columns(recipe: EncoderRecipe) -> dict[str, str]:
    """Which side each column of the data is of."""
    negatives = {f"negative_{number}": "document" for number in range(1, recipe.hard_negatives + 1)}
    return {"anchor": "query", "positive": "document", **negatives}


def _collator(model: Any, recipe: EncoderRecipe, pairs: ItemPairs, seed: int) -> SentenceTransformerDataCollator:
    """What makes batches of features: texts with their prompts, images as the views that the recipe asks for."""
    sides = _sides_of_columns(recipe)
    (items,) = pairs.sources
    views = PictureViews(recipe.augment if recipe.views == "pairs" else recipe.views)
    prompts = {column: SentenceEncoder.prompt_of(model, side) for column, side in sides.items()}
    return SentenceTransformerDataCollator(
        preprocess_fn=ItemReader(model, {"query": items.queries, "document": items.documents}, views, seed),
        router_mapping=sides,
        prompts={column: prompt for column, prompt in prompts.items() if prompt} or None,
    )


class _BeforeStep(TrainerCallback):
    """Calls a function before every step."""

    def __init__(self, call: Callable[[int], None]) -> None:
        self.call = call

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        self.call(state.global_step)


def read_dynamics(folder: Path) -> list[DynamicsRow]:
    """The measurements that a killed training has left."""
    path = folder / DYNAMICS
    return read_rows(path) if is_there(path) else []


@contextmanager
def _trainer_folder(folder: Path | None) -> Iterator[Path]:
    """A folder for the trainer without checkpoints that are not whole; gone afterwards where nobody wants one."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for checkpoint in folder.glob("checkpoint-*"):
            if not is_there(checkpoint / MARK):
                shutil.rmtree(checkpoint, ignore_errors=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="offsphere-") as temporary:
        yield Path(temporary)


@contextmanager
def _quiet_logs() -> Iterator[None]:
    """Keep the trainer from logging: its messages are for somebody who called it himself."""
    names = ("transformers", "sentence_transformers", "accelerate")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
