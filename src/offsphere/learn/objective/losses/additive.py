"""The additive family: positives and negatives each in a mean of their own.

``-mean phi(s+) + c1 mean psi(s across) + c2 mean psi(s within)`` (Lee et al. 2025, arXiv:2506.09781).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True, slots=True)
class Additive:
    """One point of the family. ``summed`` multiplies the mean over negatives by how many an anchor has."""

    name: str
    across: float
    within: float
    phi: Callable[[Tensor], Tensor]
    psi: Callable[[Tensor], Tensor]
    summed: bool
    scale: float  # to start from
    bias: float | None
    paper: str

    def __call__(self, scores: Tensor, targets: Tensor, within: Tensor | None) -> Tensor:
        """The mean over anchors; shapes and minus infinity as in the InfoNCE family."""
        column = targets[:, None]
        found = -self.phi(scores.gather(1, column)).mean()
        if self.across:
            others = scores.scatter(1, column, torch.full_like(scores[:, :1], -inf))
            found = found + self.across * self._mean(others)
        if within is not None:
            found = found + self.within * self._mean(within)
        return found

    def _mean(self, scores: Tensor) -> Tensor:
        """Of psi over what counts; zero where nothing does."""
        counts = scores > -inf
        values = self.psi(scores.masked_fill(~counts, 0.0)).masked_fill(~counts, 0.0)
        return values.sum() / (len(scores) if self.summed else counts.sum().clamp_min(1))

    @property
    def both_directions(self) -> bool:
        """Scores across the sides are the same from both; only within them there is more to see."""
        return self.within > 0

    @property
    def scaling(self) -> str:
        """What becomes of the scale unless one says otherwise: with a bias, both are learned."""
        return "learn" if self.bias is not None else "calibrated"

    @property
    def start(self) -> tuple[float, float | None]:
        """The scale to start from, and the bias where there is one."""
        return self.scale, self.bias


def _itself(scores: Tensor) -> Tensor:
    return scores


def _softplus(scores: Tensor) -> Tensor:
    """``log(1 + e^s)``, exactly: torch's own becomes a straight line at 20."""
    return -functional.logsigmoid(-scores)


SIGLIP = Additive(
    "siglip",
    across=1,
    within=0,
    phi=functional.logsigmoid,
    psi=_softplus,
    summed=True,
    scale=10.0,
    bias=-10.0,
    paper="Zhai et al. 2023, arXiv:2303.15343",
)
SPECTRAL = Additive(
    "spectral",
    across=1,
    within=0,
    phi=_itself,
    psi=torch.square,
    summed=False,
    scale=1.0,
    bias=None,
    paper="HaoChen et al. 2021, arXiv:2106.04156; weights as in Lee et al. 2025",
)
