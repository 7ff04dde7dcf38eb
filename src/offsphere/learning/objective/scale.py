"""The scale of scores: one over the temperature, fixed, learned, or calibrated to the lengths of the vectors."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, log
from typing import Any, Self

import torch
from torch import Tensor, nn

from offsphere.base.errors import ParameterError
from offsphere.learning.objective.contrastive_options import SCALES

LEAST, MOST = 0.01, 100.0  # a learned scale stays between them (Radford et al. 2021, arXiv:2103.00020, for the upper)
FIRST_BATCHES = 8  # whose lengths calibrate


class Scale(nn.Module):
    """The number that scores are multiplied by: fixed at ``alpha``, learned from there, or calibrated to lengths.

    With the scale that suits cosines, raw dot products of long vectors would give logits of thousands. The calibrated
    scale is ``alpha / (mean|q| ** (1 - gq) * mean|d| ** (1 - gd))`` over the first batches: equal to alpha under
    cosine, and for the others a scale at which scores spread about as much. It is ours, not from a paper.
    """

    lengths: Tensor
    raw: Tensor | None

    def __init__(self, alpha: float, mode: str = "calibrated") -> None:
        super().__init__()
        if mode not in SCALES:
            raise ParameterError(f"scale = {mode!r}: choose {', '.join(SCALES)}")
        if not (0 < alpha < float("inf")):
            raise ParameterError(f"a scale of {alpha} is not positive: is the temperature above zero?")
        if mode == "learn" and not LEAST <= alpha <= MOST:
            raise ParameterError(f"a learned scale stays in [{LEAST:g}, {MOST:g}] and cannot start at {alpha:g}")
        self.alpha, self.mode = float(alpha), mode
        self.register_parameter("raw", nn.Parameter(torch.tensor(log(alpha))) if mode == "learn" else None)
        self.register_buffer("lengths", torch.zeros(3, dtype=torch.float64))  # sums of both sides, and how many

    def _apply(self, fn: Callable[[Tensor], Tensor], *how: Any, **more: Any) -> Self:
        """Move what is learned and leave the sums: they are numbers in float64, which not every device has."""
        sums = self._buffers.pop("lengths")
        try:
            super()._apply(fn, *how, **more)  # type: ignore[no-untyped-call,unused-ignore]
        finally:
            self._buffers["lengths"] = sums
        return self

    def observe(self, queries: Tensor, documents: Tensor) -> None:
        """Take in the lengths of raw vectors; after the first batches of a training nothing changes any more."""
        if self.mode != "calibrated" or not self.training or self.lengths[2] >= FIRST_BATCHES:
            return
        with torch.no_grad():
            means = [float(side.norm(dim=-1).mean()) for side in (queries, documents)]
            self.lengths += torch.tensor([*means, 1.0], dtype=torch.float64)

    def forward(self, query: Tensor | float, document: Tensor | float) -> Tensor | float:
        """The scale now, given the exponents; a calibrated one has a gradient where they have."""
        if self.raw is not None:
            with torch.no_grad():  # as a value, not in the graph: beyond a clamp there would be no way back
                self.raw.clamp_(log(LEAST), log(MOST))
            return self.raw.exp()
        sums = self.lengths.tolist()
        if self.mode == "fixed" or not (sums[0] > 0 and sums[1] > 0):
            return self.alpha
        left = (1 - query) * log(sums[0] / sums[2]) + (1 - document) * log(sums[1] / sums[2])
        return self.alpha * (torch.exp(-left) if isinstance(left, Tensor) else exp(-left))
