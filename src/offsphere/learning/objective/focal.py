"""Focal weights: anchors whose positive wins already count less, by how clearly it wins under cosine.

``(1 - p)^gamma`` with p the share of the positive in the softmax of cosines over the temperature (Lin et al. 2017,
arXiv:1708.02002, have it with the probability of the class). Cosine, whatever is trained: a pair that is right by its
angle shall not be pulled by its length.
"""

from __future__ import annotations

import torch
from torch import Tensor

from offsphere.vectors.powered import powered


@torch.no_grad()
def focal_weights(
    anchors: Tensor, candidates: Tensor, targets: Tensor, across: Tensor, alpha: float, gamma: float
) -> Tensor:
    """The weight of every anchor, without a gradient: (anchors,).

    Args:
        anchors: (anchors, dimension) vectors of any length.
        candidates: (candidates, dimension) vectors of any length.
        targets: The positive of each anchor among the candidates.
        across: Entries (anchor, candidate) that do not count as negatives.
        alpha: One over the temperature.
        gamma: The power; 0 weighs all alike.
    """
    cosines = powered(anchors, 1.0) @ powered(candidates, 1.0).T
    if across.shape[1]:
        cosines[across[0], across[1]] = -torch.inf
    shares = (alpha * cosines).softmax(dim=1).gather(1, targets[:, None])[:, 0]
    weights: Tensor = (1 - shares).clamp_min(0) ** gamma
    return weights
