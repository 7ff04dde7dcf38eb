"""The losses by name, one a file. A new loss is a file that holds it as ``LOSS``, and its name here. Knows no torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from offsphere.base.known_names import known_name

if TYPE_CHECKING:
    from offsphere.learning.objective.losses.loss import Loss

# what others call these
ELSEWHERE = {
    **dict.fromkeys(("nce", "info-nce", "contrastive", "mnrl", "multiple-negatives-ranking", "in-batch"), "infonce"),
    **dict.fromkeys(("nt-xent", "ntxent"), "simclr"),
    **dict.fromkeys(("sigmoid", "sig-lip"), "siglip"),
    **dict.fromkeys(("symmetric", "symmetric-infonce"), "clip"),
}
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
    named: Loss = import_module(f"{__name__}.{known_name('loss', loss, LOSSES, ELSEWHERE)}").LOSS
    return named
