"""The folder of a training that may be killed: its plan, its checkpoints, and what was measured before it."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from offsphere.base.arrays import Array
from offsphere.base.cache import Memo
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.base.files import write_whole
from offsphere.base.reading.file_access import is_there
from offsphere.base.reading.json_files import read_json, read_json_object
from offsphere.base.reading.records import record_of
from offsphere.learning.encoders.callbacks import last_checkpoint
from offsphere.learning.encoders.encoder_setup import EncoderSetup
from offsphere.learning.encoders.judging import TaskJudge

CHECKPOINTS = "checkpoints"
PLAN = "plan.json"
BEFORE = "before"
DONE = ".checkpoints-done"  # their name while they are removed: at no moment is a part of them taken for all
RECORD = "training.json"  # is there when a model is trained
PATIENCE = 120  # seconds that a process waits for the first one


class SavedPlan(NamedTuple):
    """What ``plan.json`` says of a training: what will be done in it, and a digest of all that decides how it goes."""

    digest: str
    plan: Mapping[str, Any]


def this_process_writes() -> bool:
    """Whether this process writes files: of several that train together the first one does."""
    return os.environ.get("RANK", "0") == "0"


def open_checkpoints(folder: Path, setup: EncoderSetup, *, restart: bool) -> Path:
    """The folder of checkpoints, with the plan of the training in it.

    Args:
        folder: Where the trained model will be.
        setup: What is to be trained.
        restart: Whether to forget all that is there.

    Raises:
        ParameterError: If the checkpoints are of another plan, or there is a trained model already.
    """
    checkpoints = folder / CHECKPOINTS
    if this_process_writes():
        _write_plan(folder, checkpoints, setup, restart=restart)
    else:
        _wait_for_plan(checkpoints / PLAN, setup.digest())
    return checkpoints


def remove_checkpoints(checkpoints: Path) -> None:
    """Remove the checkpoints of a training whose model is saved: all at once for whoever looks."""
    done = checkpoints.with_name(DONE)
    checkpoints.replace(done)
    shutil.rmtree(done, ignore_errors=True)


def measure_before(judge: TaskJudge, model: Any, checkpoints: Path | None) -> Array:
    """The measurements by cosine before training, made once: a training that goes on has made them already."""
    memo = Memo(checkpoints, None if this_process_writes() else 0)  # the folder is of one plan
    return cast("Array", memo.arrays(BEFORE, lambda: {"measured": judge.measure(model)[1][1]})["measured"])


def _write_plan(folder: Path, checkpoints: Path, setup: EncoderSetup, *, restart: bool) -> None:
    """Remember the plan; refuse checkpoints of another one, and a folder with a trained model.

    While there are checkpoints the model is not saved to its last file, whichever of its files are there.
    """
    shutil.rmtree(folder / DONE, ignore_errors=True)
    if restart:
        shutil.rmtree(checkpoints, ignore_errors=True)
        (folder / RECORD).unlink(missing_ok=True)
    elif is_there(folder / RECORD) and not checkpoints.is_dir():
        raise ParameterError(f"{folder} holds a trained model already: choose another --out, or add --restart")
    digest, plan = setup.digest(), setup.plan()
    path = checkpoints / PLAN
    if is_there(path) and last_checkpoint(checkpoints) is not None:
        kept = record_of(SavedPlan, read_json(path), f"{path} is damaged: begin anew with --restart")
        if kept.digest != digest:
            apart = _differences(kept.plan, plan)
            raise ParameterError(
                f"{checkpoints} holds checkpoints of another configuration ({apart}): choose another --out, or begin "
                "anew with --restart"
            )
        return
    shutil.rmtree(checkpoints, ignore_errors=True)
    write_whole(path, json.dumps({"digest": digest, "plan": plan}, indent=2, default=str).encode())


def _wait_for_plan(path: Path, digest: str) -> None:
    """Wait until the first process has made the folder ready."""
    for _ in range(PATIENCE):
        if is_there(path) and read_json_object(path).get("digest") == digest:
            return
        time.sleep(1)
    raise OffsphereError(f"{path} does not appear: did the first process fail?")


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What two plans do not share, in words."""
    before, now = _flatten(there), _flatten(here)
    apart = [name for name in before if before[name] != now.get(name) and not isinstance(before[name], dict)]
    return ", ".join(f"{name} {before[name]} there, {now.get(name)} here" for name in apart) or (
        "other texts or another model"
    )


def _flatten(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan as a file has it, the fields of its recipe beside all others, without notes."""
    values = json.loads(json.dumps(plan, default=str))
    recipe = values.get("recipe")
    return {**values, **(recipe if isinstance(recipe, dict) else {}), "notes": None}
