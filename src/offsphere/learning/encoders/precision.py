"""In which numbers a model multiplies: while it learns as its recipe says, afterwards as it is saved and used."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import torch


def products_of(model: Any, precision: str) -> AbstractContextManager[Any]:
    """Multiply as the trainer does in a step, so that a training's first value is measured as its later ones are.

    Args:
        model: The model that is trained.
        precision: Of its recipe, ``"fp32"`` or ``"bf16"``.

    Returns:
        What to measure under.
    """
    return torch.autocast(model.device.type, torch.bfloat16, enabled=precision == "bf16")


def multiply_as_saved(model: Any) -> None:
    """Take away what the trainer left around a model's products, so that it is judged as whoever loads it has it."""
    if model.__dict__.pop("_original_forward", None) is not None:  # accelerate's, whose own is in its place
        del model.forward
