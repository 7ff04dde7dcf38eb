"""The losses by name, one a file. A new loss is a file that holds it as ``LOSS``, and its name here. Knows no torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from offsphere.base.errors import UnknownNameError

if TYPE_CHECKING:
    from offsphere.learning.objective.losses.loss import Loss

LOSSES = (
    "infonce",
    "clip",
    "simclr",
    "dcl",
    "dhel",
    "siglip",
    "spectral",
)


def loss_of(loss: str | Loss) -> Loss:
    """The loss of that name, or the one given."""
    if not isinstance(loss, str):
        return loss
    if loss not in LOSSES:
        raise UnknownNameError("loss", loss, list(LOSSES))
    named: Loss = import_module(f"{__name__}.{loss}").LOSS
    return named
