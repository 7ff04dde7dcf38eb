"""The plan of an encoder's training, before anything is trained."""

from __future__ import annotations

from typing import Any

from offsphere.data.task import Task
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data


def plan_training(
    task: Task,
    model: Any,
    test: Task,
    recipe: EncoderRecipe,
    *,
    held_out: Task | None = None,
    new_documents: bool = False,
    metric: str | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """What ``train`` would do with these arguments, as plain values: data, model, stages, steps, recipe, notes."""
    data = text_data(task, held_out=held_out, judged=[test], new_documents=new_documents, metric=metric, seed=seed)
    return EncoderSetup.of(model, data, recipe, seed).plan() | {"judged_by": test.summary()}
