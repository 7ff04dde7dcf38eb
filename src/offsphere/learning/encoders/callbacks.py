"""What watches over an encoder's training: the best state is kept, checkpoints are whole, the trainer stops in time."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from safetensors.torch import load_file, save
from torch import Tensor
from transformers import TrainerCallback

from offsphere.base.errors import OffsphereError, first_line
from offsphere.base.files import write_whole
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.base.reading.file_access import is_there, reading
from offsphere.base.reading.records import record_of
from offsphere.base.reading.safetensors_files import map_tensors
from offsphere.base.reading.sealed_json import read_sealed, write_sealed
from offsphere.learning.encoders.contrastive import ContrastiveLoss
from offsphere.learning.encoders.lora import has_lora, learn_by_lora

MARK = "offsphere.json"  # written last: a checkpoint without it is not whole
STATE = "loss.safetensors"
BEST = "best.safetensors"
WEIGHTS = "all-weights.safetensors"  # of a model with LoRA
UNWRITTEN = ("no space left", "file too large", "failed writing", "unexpected pos", "disk quota", "cannot write")

History = list[tuple[int, float, float, float]]  # step, mean loss since the last one, held-out value, by cosine


class WatchState(NamedTuple):
    """What was seen of a training so far, as a checkpoint keeps it."""

    history: Sequence[tuple[int, float, float, float]]
    best: float
    best_step: int
    losses: Sequence[float]
    worn_out: bool


class Watch(TrainerCallback):
    """Keeps held-out values as they come, the best state in memory or in a folder, and the loss's state in checkpoints.

    Stops after ``patience`` evaluations without a better value, never where there is none. At ``first_share`` of the
    steps the loss goes over from what is trained first to what it is for, and LoRA gives way to all other weights.
    """

    def __init__(
        self,
        loss: ContrastiveLoss,
        metric: str,
        start: tuple[float, float],
        patience: int | None,
        *,
        first_share: float = 0.0,
        folder: Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.loss, self.metric, self.patience = loss, metric, patience
        self.first_share, self.folder, self.progress = first_share, folder, progress
        self.history: History = [(0, float("nan"), *start)]
        self.best, self.best_step = start[0], 0
        self.kept: dict[str, Tensor] | None = None
        self.losses: list[float] = []
        self.out_of_patience = False
        self.writes = True  # of several processes one writes

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Keep the state before the first step, which may turn out to be the best."""
        self.writes = state.is_world_process_zero
        if state.global_step == 0:
            self._keep(given["model"])

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        """Go over from what is trained first to the objective itself when it is time."""
        self.loss.begun = self.loss.first is None or state.global_step >= self.first_share * state.max_steps
        learn_by_lora(self.loss.model, alone=not self.loss.begun)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        """Show how far the training is."""
        if self.progress is not None:
            self.progress(state.global_step, state.max_steps, f"held-out {self.history[-1][2]:.4f}")

    def on_log(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Collect the losses since the last evaluation."""
        value = (given.get("logs") or {}).get("loss")
        if value is not None:
            self.losses.append(float(value))

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:  # noqa: ARG002
        """Keep a state that is better than all before, and stop after too many that are not."""
        metrics = given["metrics"]
        value, cosine = metrics[f"eval_{self.metric}"], metrics[f"eval_{self.metric}_cosine"]
        loss = sum(self.losses) / len(self.losses) if self.losses else float("nan")
        self.history.append((state.global_step, loss, value, cosine))
        self.losses = []
        if isnan(self.best) or value > self.best:
            self.best, self.best_step = value, state.global_step
            self._keep(given["model"])
        begun = self.first_share * state.max_steps  # before it, values are of what is not trained yet
        since = max(number for number, row in enumerate(self.history) if row[0] == self.best_step or row[0] <= begun)
        if self.patience is not None and len(self.history) - 1 - since >= self.patience:
            self.out_of_patience = control.should_training_stop = True

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
        """Write what the trainer does not know of, and last of all the mark that the checkpoint is whole."""
        if not self.writes:
            return
        checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        if has_lora(self.loss.model):  # whose layers the trainer's own way of loading does not know
            write_whole(checkpoint / WEIGHTS, save(_contiguous(self.loss.model.state_dict())))
        write_sealed(checkpoint / MARK, plain(self.state()), {STATE: save(self.loss.own_state())})

    def state(self) -> WatchState:
        """What a training needs to go on from a checkpoint."""
        return WatchState(self.history, self.best, self.best_step, self.losses, self.out_of_patience)

    def resume(self, checkpoint: Path) -> None:
        """Take the state of a checkpoint, to go on from there.

        Raises:
            DataError: If its files are damaged.
        """
        path = checkpoint / MARK
        state = record_of(WatchState, read_sealed(path), str(path), null_is_nan=True)
        self.history, self.losses = list(state.history), list(state.losses)
        self.best, self.best_step, self.out_of_patience = state.best, state.best_step, state.worn_out
        self.loss.load_own_state(read_weights(checkpoint / STATE))

    def best_state(self) -> dict[str, Tensor]:
        """The weights that had the best held-out value."""
        if self.folder is not None:
            return read_weights(self.folder / BEST)
        assert self.kept is not None
        return self.kept

    def _keep(self, model: Any) -> None:
        """Keep the weights of the model and of the objective as the best so far."""
        model = getattr(model, "module", model)
        state = {f"model.{name}": value.detach().cpu().clone() for name, value in model.state_dict().items()}
        state |= {f"loss.{name}": value.cpu() for name, value in self.loss.objective.state_dict().items()}
        if self.folder is None:
            self.kept = state
        elif self.writes:
            write_whole(self.folder / BEST, save(_contiguous(state)))


def _contiguous(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors that share no memory, as their writer wants them."""
    return {name: value.detach().cpu().contiguous().clone() for name, value in state.items()}


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a file that was written whole; an error in one line where it is damaged."""
    map_tensors(path)  # which checks the header against the size
    with reading(path, "a safetensors file"):
        return load_file(path)


def restore(model: Any, loss: ContrastiveLoss, state: Mapping[str, Tensor]) -> None:
    """Put the weights of a model and of its objective back that were kept."""
    for part, target in (("model.", model), ("loss.", loss.objective)):
        weights = {name.removeprefix(part): value for name, value in state.items() if name.startswith(part)}
        target.load_state_dict(weights)


def last_checkpoint(folder: Path) -> Path | None:
    """The last checkpoint in a folder that is whole; nothing where there is none."""
    whole = [path for path in folder.glob("checkpoint-*") if is_there(path / MARK)]
    return max(whole, key=step_of) if whole else None


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was written."""
    return int(checkpoint.name.rpartition("-")[2])


def cannot_write(error: Exception) -> bool:
    """Whether an error says that a file could not be written; writers of weights say so in a text only."""
    known = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS, errno.EACCES)
    message = str(error).lower()
    return getattr(error, "errno", None) in known or any(words in message for words in UNWRITTEN)


def not_written(error: Exception, folder: Path) -> OffsphereError:
    """The error for a checkpoint that could not be written: what is left, and what to do."""
    kept = last_checkpoint(folder)
    left = f"{kept.name} is whole" if kept is not None else "there is no checkpoint before it"
    reason = getattr(error, "strerror", None) or first_line(error)
    return OffsphereError(
        f"cannot write into {folder.parent}: {reason}; {left}: make room and run the same command again, and it "
        "goes on from there"
    )
