"""Trackers that follow a training: TensorBoard, MLflow or Weights & Biases, through the trainer's own callbacks.

Nothing is tracked unless somebody asks for it. What a tracker needs beyond its name it takes from its own environment
variables (``MLFLOW_TRACKING_URI``, ``WANDB_MODE``, ``TENSORBOARD_LOGGING_DIR``, ...), as it does for every trainer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from offsphere.base.errors import MissingExtraError, UnknownNameError
from offsphere.base.extras import is_installed, load_extra
from offsphere.base.short_repr import short_repr
from offsphere.scoring.training_record import DynamicsRow

TRACKERS = ("tensorboard", "mlflow", "wandb")  # the package and the extra of each has its name
FOLDER = "TENSORBOARD_LOGGING_DIR"


@dataclass(frozen=True, slots=True)
class Tracking:
    """Which trackers follow a training, and what it is called there.

    Args:
        trackers: ``"tensorboard"``, ``"mlflow"``, ``"wandb"``, or several of them.
        run: What the training is called; an ablation adds the name of each variant.
        folder: Where TensorBoard's files go, a folder a run; ``TENSORBOARD_LOGGING_DIR`` overrides it.

    Raises:
        UnknownNameError: There is no such tracker.
        MissingExtraError: Its package is not installed.

    Example:
        >>> from offsphere.learning.tracking import Tracking
        >>> Tracking(["tensorboard"], "first try").named("dot, seed 0").run_folder.as_posix()
        'runs/first-try/dot--seed-0'
    """

    trackers: Sequence[str]
    run: str = "training"
    folder: str | Path = "runs"

    __repr__ = short_repr

    def __post_init__(self) -> None:
        """Refuse what is not there, before anything is trained."""
        for name in self.trackers:
            if name not in TRACKERS:
                raise UnknownNameError("tracker", name, list(TRACKERS))
            if not is_installed(name):
                raise MissingExtraError(name, name)

    @property
    def run_folder(self) -> Path:
        """Where TensorBoard's files of this run go."""
        parts = [
            "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in part) for part in self._parts
        ]
        return Path(os.environ.get(FOLDER) or self.folder, *parts)

    @property
    def _parts(self) -> list[str]:
        """The name of the run, level by level."""
        return [part for part in self.run.split("/") if part.strip(".")] or ["training"]

    def named(self, part: str) -> Tracking:
        """The trackers of one of several trainings.

        Args:
            part: What tells it from the others.

        Returns:
            Trackers that call their run so.
        """
        return replace(self, run=f"{self.run}/{part.replace('/', '-')}")

    def callbacks(self) -> list[Any]:
        """What the trainer of transformers itself makes of ``report_to``, to be given to it."""
        integrations = load_extra("transformers.integrations")
        made = [kind() for kind in integrations.get_reporting_integration_callbacks(list(self.trackers))]
        for callback in made:
            if isinstance(callback, integrations.TensorBoardCallback):
                callback.logging_dir = str(self.run_folder)
        return made


@dataclass(slots=True)
class FollowedTrainer:
    """A trainer of transformers and its trackers: it tells them losses and evaluations itself, we tell the dynamics.

    Args:
        callbacks: The trackers, to be given to the trainer before any callback that measures.
        run: What they call the training.
        seen: Whom else to show the dynamics.
        trainer: Set as soon as there is one.
    """

    callbacks: Sequence[Any]
    run: str | None
    seen: Callable[[DynamicsRow], None] | None
    trainer: Any = None

    @classmethod
    def of(cls, tracking: Tracking | None, seen: Callable[[DynamicsRow], None] | None) -> FollowedTrainer:
        """The trackers that are asked for; none unless said."""
        if tracking is None:
            return cls((), None, seen)
        return cls(tracking.callbacks(), tracking.run, seen)

    def show(self, row: DynamicsRow) -> None:
        """Tell a measurement of the probe; of single layers only whom else it is shown."""
        if self.seen is not None:
            self.seen(row)
        if row.get("layer") is None:
            for tracker in self.callbacks:
                tracker.on_log(self.trainer.args, self.trainer.state, self.trainer.control, logs=tracked_numbers(row))


class TrackedTraining:
    """A training that is none of transformers' trainer, told to the same callbacks.

    Args:
        tracking: Who follows, and under which name.
        arguments: What of the trainer's arguments means the same here: ``learning_rate``, ``seed``, ``max_steps``, ...
    """

    def __init__(self, tracking: Tracking, **arguments: Any) -> None:
        transformers = load_extra("transformers")
        self.callbacks = tracking.callbacks()
        self.arguments = transformers.TrainingArguments(
            output_dir=str(tracking.run_folder),
            run_name=tracking.run,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
            **arguments,
        )
        self.state = transformers.TrainerState(max_steps=arguments.get("max_steps", 0))
        self.control = transformers.TrainerControl()
        for callback in self.callbacks:
            callback.on_train_begin(self.arguments, self.state, self.control)

    def log(self, step: int, values: Mapping[str, Any]) -> None:
        """Tell the values of a step.

        Args:
            step: Its number.
            values: By their names; what is no number is left out.
        """
        self.state.global_step = step
        told = tracked_numbers(values)
        for callback in self.callbacks:
            callback.on_log(self.arguments, self.state, self.control, logs=dict(told))

    def end(self) -> None:
        """Say that there is no more."""
        for callback in self.callbacks:
            callback.on_train_end(self.arguments, self.state, self.control)


def tracked_numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """What of a row a tracker can draw: its numbers, but for the step and the seed.

    Example:
        >>> from offsphere.learning.tracking import tracked_numbers
        >>> tracked_numbers({"step": 3, "seed": 0, "layer": None, "loss": 0.5})
        {'loss': 0.5}
    """
    return {
        name: float(value)
        for name, value in row.items()
        if name not in ("step", "seed") and isinstance(value, int | float) and not isinstance(value, bool)
    }
