"""The InfoNCE family: the positive against a sum of exponentials over negatives.

For an anchor with positive score p: ``log(c0 e^p + c1 Sum across e^s + c2 Sum within e^s) - p``, with scores already
multiplied by the scale. *Across* are the other side's vectors, *within* the anchor's own side's. c0 is 1 where psi of
Lee et al. 2025 (arXiv:2506.09781) is ``log(1 + x)`` and 0 where it is ``log x``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

import torch
from torch import Tensor
from torch.nn import functional

TEMPERATURE = 0.05


@dataclass(frozen=True, slots=True)
class Softmax:
    """One point of the family: its weights, and whether documents are anchors too."""

    name: str
    paper: str
    across: float = 1
    within: float = 0
    positive: bool = True  # whether the positive stands in the denominator
    both_directions: bool = True
    temperature: float = TEMPERATURE  # to start from

    def __call__(self, scores: Tensor, targets: Tensor, within: Tensor | None, weights: Tensor | None = None) -> Tensor:
        """The mean over anchors of scores as ``Loss`` describes them, each times its weight where there are some.

        An anchor without any negative gives nothing where the positive does not stand in the denominator.
        """
        if self.across == 1 and self.positive and within is None:  # nothing else than a cross-entropy, which is faster
            if weights is None:
                return functional.cross_entropy(scores, targets)
            return (functional.cross_entropy(scores, targets, reduction="none") * weights).mean()
        column = targets[:, None]
        positive = scores.gather(1, column)  # (anchors, 1)
        total = torch.cat(self._terms(scores, column, positive, within), dim=1)
        if not self.positive:
            counted = (total > -inf).any(dim=1)
            if not bool(counted.all()):
                if not bool(counted.any()):
                    return positive.sum() * 0
                total, positive = total[counted], positive[counted]
                weights = weights[counted] if weights is not None else None
        losses = total.logsumexp(dim=1) - positive[:, 0]
        return losses.mean() if weights is None else (losses * weights).mean()

    def _terms(self, scores: Tensor, column: Tensor, positive: Tensor, within: Tensor | None) -> list[Tensor]:
        """What stands in the denominator, as logarithms: (anchors, n) each."""
        terms = []
        if self.across > 0:
            weighted = scores + log(self.across) if self.across != 1 else scores
            instead = positive if self.positive else torch.full_like(positive, -inf)
            terms.append(weighted.scatter(1, column, instead))
        elif self.positive:
            terms.append(positive)
        if within is not None:
            terms.append(within + log(self.within) if self.within != 1 else within)
        return terms

    @property
    def scaling(self) -> str:
        """What becomes of the scale unless one says otherwise: it is calibrated."""
        return "calibrated"

    @property
    def start(self) -> tuple[float, float | None]:
        """The scale to start from, and the bias where there is one."""
        return 1 / self.temperature, None
