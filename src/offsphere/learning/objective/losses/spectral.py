"""The spectral contrastive loss: ``-p + mean across s^2``."""

import torch
from torch import Tensor

from offsphere.learning.objective.losses.additive import Additive


def identity(scores: Tensor) -> Tensor:
    """The scores as they are."""
    return scores


LOSS = Additive(
    "spectral",
    "HaoChen et al. 2021, arXiv:2106.04156; weights as in Lee et al. 2025",
    phi=identity,
    psi=torch.square,
)
