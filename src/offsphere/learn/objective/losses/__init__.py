"""The losses by name, each a point in one of two families."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from offsphere.base.errors import UnknownNameError
from offsphere.learn.objective.losses.additive import SIGLIP, SPECTRAL, Additive
from offsphere.learn.objective.losses.softmax import CLIP, DCL, DHEL, INFONCE, SIMCLR, Softmax

Loss = Softmax | Additive

LOSSES: Mapping[str, Loss] = MappingProxyType(
    {loss.name: loss for loss in (INFONCE, CLIP, SIMCLR, DCL, DHEL, SIGLIP, SPECTRAL)}
)


def loss_of(name: str | Loss) -> Loss:
    """The loss of that name, or the one given."""
    if not isinstance(name, str):
        return name
    if name not in LOSSES:
        raise UnknownNameError("loss", name, list(LOSSES))
    return LOSSES[name]
