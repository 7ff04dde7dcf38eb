"""The scale of scores: one over the temperature, fixed, learned, or calibrated to the lengths of the vectors."""

from __future__ import annotations

from math import exp, log

import torch
from torch import Tensor, nn

from offsphere.errors import ParameterError
from offsphere.learn.normalize import Exponents
from offsphere.learn.recipe import SCALES

LEAST, MOST = 0.01, 100.0  # a learned scale stays between them (Radford et al. 2021, arXiv:2103.00020, for the upper)
FIRST_BATCHES = 8  # whose lengths calibrate


class Scale(nn.Module):
    """``alpha`` as it is; as the start of a learned one; or over the mean lengths that normalisation leaves.

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

    def observe(self, queries: Tensor, documents: Tensor) -> None:
        """Look at the raw vectors of a batch; after the first batches of a training nothing changes any more."""
        if self.mode != "calibrated" or not self.training or self.lengths[2] >= FIRST_BATCHES:
            return
        with torch.no_grad():
            means = [float(side.norm(dim=-1).mean()) for side in (queries, documents)]
            self.lengths += torch.tensor([*means, 1.0], dtype=torch.float64)

    def forward(self, exponents: Exponents) -> Tensor | float:
        """The scale now; the exponents are those of the normalisation."""
        if self.raw is not None:
            return self.raw.clamp(log(LEAST), log(MOST)).exp()
        query, document, count = self.lengths.tolist()
        if self.mode == "fixed" or not (query > 0 and document > 0):
            return self.alpha
        left = (1 - exponents.query) * log(query / count) + (1 - exponents.document) * log(document / count)
        return self.alpha * exp(-left)
