"""The additive family: positives and negatives each in a mean of their own.

``-mean phi(s+) + c1 mean psi(s across) + c2 mean psi(s within)`` (Lee et al. 2025, arXiv:2506.09781).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from math import inf

import torch
from torch import Tensor

from offsphere.base.errors import ParameterError


@dataclass(frozen=True, slots=True)
class Additive:
    """One point of the family. ``summed`` multiplies the mean over negatives by how many an anchor has."""

    name: str
    paper: str
    _: KW_ONLY
    phi: Callable[[Tensor], Tensor]
    psi: Callable[[Tensor], Tensor]
    across: float = 1
    within: float = 0
    summed: bool = False
    scale: float = 1.0  # to start from
    bias: float | None = None

    def __call__(self, scores: Tensor, targets: Tensor, within: Tensor | None, weights: Tensor | None = None) -> Tensor:
        """The mean over anchors of scores as ``Loss`` describes them; weights of anchors are not of this family."""
        if weights is not None:
            raise ParameterError(f"focal weights are for losses with a softmax, and {self.name} has none")
        column = targets[:, None]
        total = -self.phi(scores.gather(1, column)).mean()
        if self.across:
            others = scores.scatter(1, column, torch.full_like(scores[:, :1], -inf))
            total = total + self.across * self._mean(others)
        if within is not None:
            total = total + self.within * self._mean(within)
        return total

    def _mean(self, scores: Tensor) -> Tensor:
        """The mean of psi over what counts; zero where nothing does."""
        counts = scores > -inf
        values = self.psi(scores.masked_fill(~counts, 0.0)).masked_fill(~counts, 0.0)
        return values.sum() / (len(scores) if self.summed else counts.sum().clamp_min(1))

    @property
    def both_directions(self) -> bool:
        """Whether documents are anchors too: scores across the sides are the same from both, those within are not."""
        return self.within > 0

    @property
    def scaling(self) -> str:
        """What becomes of the scale unless one says otherwise: with a bias, both are learned."""
        return "learn" if self.bias is not None else "calibrated"

    @property
    def start(self) -> tuple[float, float | None]:
        """The scale to start from, and the bias where there is one."""
        return self.scale, self.bias
