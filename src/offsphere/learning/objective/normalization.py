"""Normalisation as a module: each side's vectors over a power of their length, fixed or learned."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from offsphere.learning.objective.exponents import Exponents, Normalize
from offsphere.scoring.transforms import Side
from offsphere.vectors.powered import powered


class Normalization(nn.Module):
    """Divides by the power of the length that each side has; learned exponents are a ``sigmoid`` that starts at 0.5."""

    raw: Tensor | None

    def __init__(self, normalize: Normalize) -> None:
        super().__init__()
        self.start = Exponents.of(normalize)
        self.register_parameter("raw", nn.Parameter(torch.zeros(2)) if self.start.learned else None)

    def exponent(self, side: Side) -> Tensor | float:
        """The exponent of a side: a number, or a tensor that has a gradient."""
        if self.raw is None:
            return self.start.query if side == "query" else self.start.document
        return torch.sigmoid(self.raw[0 if side == "query" else 1])

    @property
    def exponents(self) -> Exponents:
        """Both exponents as they stand now."""
        if self.raw is None:
            return self.start
        query, document = torch.sigmoid(self.raw.detach()).tolist()
        return Exponents(query, document, learned=True)

    def forward(self, vectors: Tensor, side: Side) -> Tensor:
        """Divide vectors of a side by the power of their length with which they are scored."""
        return powered(vectors, self.exponent(side))
