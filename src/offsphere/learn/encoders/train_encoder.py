"""``train``: fine-tune an encoder with each side's normalisation under control, and save it as it was trained."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.base.files import write_whole
from offsphere.base.plain import plain
from offsphere.base.progress import Progress
from offsphere.data.task import Task
from offsphere.learn.encoders.callbacks import cannot_write, last_checkpoint, not_written
from offsphere.learn.encoders.card import add_to_card, length_report
from offsphere.learn.encoders.encoder_dynamics import Row, TextProbe
from offsphere.learn.encoders.encoder_recipe import EncoderRecipe
from offsphere.learn.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learn.encoders.fit import Fit, fit
from offsphere.learn.encoders.judging import Judge
from offsphere.learn.encoders.named_recipes import recipe_with
from offsphere.learn.encoders.outcome import Outcome, outcome_of
from offsphere.learn.encoders.prepare import settle
from offsphere.learn.objective.exponents import Normalize, written_normalize
from offsphere.scoring.record import Training

CHECKPOINTS = "checkpoints"
PLAN = "plan.json"
PATIENCE = 120  # seconds that a process waits for the first one


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainedEncoder:
    """The model, how its training went, and what it is worth on the test queries."""

    model: Any
    plan: dict[str, Any]
    record: Training
    outcome: Outcome | None

    def __repr__(self) -> str:
        """What it gained on held-out queries."""
        return f"TrainedEncoder({self.record})"

    def to_json(self) -> dict[str, Any]:
        """Plain values for machines."""
        outcome = plain(self.outcome) if self.outcome is not None else None
        said = self.outcome.conclusion if self.outcome is not None else None
        return {"plan": self.plan, "training": self.record.to_json(), "outcome": outcome, "conclusion": said}


def train(
    task: Task,
    model: Any,
    out: str | Path | None = None,
    *,
    test: Task | None = None,
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
    seen: Callable[[Row], None] | None = None,
    before_step: Callable[[int], None] | None = None,
    **options: Any,
) -> TrainedEncoder:
    """Train a model on the texts of a task.

    ``model`` is a name as everywhere, or a SentenceTransformer. ``recipe`` is the name of a recipe or one of your own;
    ``normalize`` and further ``options`` change its fields. Training stops by the value on ``held_out``, without it on
    queries put aside, scored as it is trained; cosine is measured beside it. ``test`` is looked at once, at the end.
    With ``out`` the model is saved there with its record and card; a killed training goes on from its last checkpoint.
    """
    folder = Path(out) if out is not None else None
    chosen = recipe_with(recipe, normalize, **options)
    data = text_data(
        task,
        held_out=held_out,
        judged=[test] if test is not None else [],
        new_documents=new_documents,
        metric=metric,
        seed=seed,
    )
    setup = EncoderSetup.of(model, data, chosen, seed)
    place = None
    if folder is not None:
        place = folder / CHECKPOINTS
        if _writes():
            _begin(folder, setup, restart=restart)
        else:
            _wait_for(place / PLAN, setup.digest())
    judge = Judge(test, data.metric) if test is not None else None
    before = _measured(judge, setup.model, place)
    setup = setup.with_negatives()
    trained = fit(
        setup.model,
        chosen,
        setup.pairs,
        setup.judge,
        seed,
        probe=TextProbe.of(data.held_out.task, seed),
        layers=layers,
        folder=place,
        progress=progress,
        seen=seen,
        before_step=before_step,
    )
    settle(setup.model)
    outcome = None
    if judge is not None and before is not None:
        measuring, measured = judge.measured(setup.model)
        outcome = outcome_of(judge, measuring.evaluation, [before, *measured], seed)
    found = TrainedEncoder(setup.model, setup.plan(), _record(setup, trained, outcome), outcome)
    if folder is not None and _writes():
        try:
            save(found, trained, folder)
        except Exception as error:
            if not cannot_write(error):
                raise
            raise not_written(error, folder / CHECKPOINTS) from error
        shutil.rmtree(folder / CHECKPOINTS, ignore_errors=True)
    if push_to_hub is not None and _writes():
        push(found.model, push_to_hub, folder)
    return found


def save(found: TrainedEncoder, trained: Fit, folder: Path) -> None:
    """The model, its card with the report on lengths, and the record of its training."""
    found.model.save_pretrained(str(folder))
    exponents = trained.loss.objective.normalization.exponents
    add_to_card(folder, length_report(exponents, found.plan, trained.dynamics, found.outcome))
    found.record.save(folder)
    write_whole(folder / "outcome.json", json.dumps(found.to_json(), indent=2).encode())


def push(model: Any, name: str, folder: Path | None = None) -> None:
    """To the hub, because somebody asked for it: the folder as it was saved, where there is one."""
    try:
        model.push_to_hub(name, private=True, exist_ok=True, local_model_path=str(folder) if folder else None)
    except Exception as error:  # the hub raises many kinds
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise OffsphereError(f"the model could not be pushed to {name}: {reason}; what was saved is whole") from error


def _writes() -> bool:
    """Of several processes the first one writes."""
    return os.environ.get("RANK", "0") == "0"


def _wait_for(plan: Path, digest: str) -> None:
    """Another process makes the folder ready."""
    for _ in range(PATIENCE):
        if plan.is_file() and json.loads(plan.read_bytes())["digest"] == digest:
            return
        time.sleep(1)
    raise OffsphereError(f"{plan} does not appear: did the first process fail?")


def _begin(folder: Path, setup: EncoderSetup, *, restart: bool) -> None:
    """Remember the plan; refuse checkpoints of another one, and a folder with a finished model."""
    place = folder / CHECKPOINTS
    if restart:
        shutil.rmtree(place, ignore_errors=True)
        (folder / "training.json").unlink(missing_ok=True)
    elif (folder / "training.json").is_file():
        raise ParameterError(f"{folder} holds a trained model: choose another --out, or train anew with --restart")
    digest, plan = setup.digest(), setup.plan()
    known = place / PLAN
    if known.is_file() and last_checkpoint(place) is not None:
        kept = json.loads(known.read_bytes())
        if kept["digest"] != digest:
            raise ParameterError(
                f"{place} holds checkpoints of another configuration ({_differences(kept['plan'], plan)}): choose "
                "another --out, or begin anew with --restart"
            )
        return
    shutil.rmtree(place, ignore_errors=True)
    write_whole(known, json.dumps({"digest": digest, "plan": plan}, indent=2, default=str).encode())


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """In words, what two plans do not share."""
    one, other = json.loads(json.dumps(before, default=str)), json.loads(json.dumps(now, default=str))
    flat = {**one, **one.pop("recipe"), "notes": None}, {**other, **other.pop("recipe"), "notes": None}
    apart = [name for name in flat[0] if flat[0][name] != flat[1].get(name) and not isinstance(flat[0][name], dict)]
    said = [f"{name} {flat[0][name]} there, {flat[1].get(name)} here" for name in apart]
    return ", ".join(said) or "other texts or another model"


def _measured(judge: Judge | None, model: Any, place: Path | None) -> Any:
    """By cosine before training, once: a training that goes on has measured it already."""
    if judge is None:
        return None
    import numpy as np

    kept = place / "before.npy" if place is not None else None
    if kept is not None and kept.is_file():
        return np.load(kept, allow_pickle=False)
    _, (_, found) = judge.measured(model)
    if kept is not None and _writes():
        np.save(kept, found)
    return found


def _record(setup: EncoderSetup, trained: Fit, outcome: Outcome | None) -> Training:
    notes = [*setup.notes, *([trained.run.stopped] if trained.run.broke else [])]
    if trained.run.best_step == 0:
        notes.append(
            "no step was better than the start on held-out data, so the saved model is the one you gave: try another "
            f"--rate than {setup.recipe.rate:g} (static models want about 0.003), or more steps"
        )
    return Training(
        setup.recipe.config(),
        trained.loss.get_config_dict(),
        setup.data.metric,
        setup.counts,
        [trained.run],
        0,
        trained.dynamics,
        notes,
        said=[_said(setup), *([f"{outcome.task['name']}: {outcome.conclusion}"] if outcome is not None else [])],
    )


def _said(setup: EncoderSetup) -> str:
    """Where the model is from, for somebody who sees it later."""
    split = f" ({setup.data.source.task.split})" if setup.data.source.task.split else ""
    what = f"{len(setup.pairs):,} pairs of {setup.data.source.task.name}{split}"
    return f"Trained from {setup.name} on {what}, normalize {written_normalize(setup.recipe.normalize)}."
