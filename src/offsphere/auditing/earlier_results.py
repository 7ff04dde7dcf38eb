"""What earlier work left in folders and an audit shows: an ablation, and the training of the model."""

from __future__ import annotations

from pathlib import Path

from offsphere.base.errors import DataError
from offsphere.data.task import Task
from offsphere.learning.ablation.ablation import Ablation
from offsphere.scoring.training_record import Training


def read_ablation(folder: Path, task: Task) -> Ablation:
    """The ablation that was saved in a folder.

    Raises:
        DataError: Where it is of another task than this one.
    """
    ablation = Ablation.load(folder)
    if ablation.tasks[0]["name"] != task.name:
        raise DataError(f"{folder} is of {ablation.tasks[0]['name']}, not of {task.name}: ablate this data")
    return ablation


def read_training(model: str | None) -> Training | None:
    """The record of a model's training, where the model is a folder that has one."""
    return Training.load(Path(model)) if model is not None and Path(model).is_dir() else None
