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
    across: float
    within: float
    positive: bool  # whether the positive stands in the denominator
    both_directions: bool
    temperature: float  # to start from
    paper: str

    def __call__(self, scores: Tensor, targets: Tensor, within: Tensor | None) -> Tensor:
        """The mean over anchors.

        ``scores`` (anchors, candidates) hold the positive of anchor i in column ``targets[i]``, ``within`` (anchors,
        others) those of its own side; minus infinity marks what does not count. An anchor without any negative gives
        nothing where the positive does not stand in the denominator.
        """
        if self.across == 1 and self.positive and within is None:  # nothing else than a cross-entropy, which is faster
            return functional.cross_entropy(scores, targets)
        column = targets[:, None]
        positive = scores.gather(1, column)  # (anchors, 1)
        total = torch.cat(self._terms(scores, column, positive, within), dim=1)
        if not self.positive:
            counted = (total > -inf).any(dim=1)
            if not bool(counted.all()):
                if not bool(counted.any()):
                    return positive.sum() * 0
                total, positive = total[counted], positive[counted]
        return (total.logsumexp(dim=1) - positive[:, 0]).mean()

    def _terms(self, scores: Tensor, column: Tensor, positive: Tensor, within: Tensor | None) -> list[Tensor]:
        terms = []
        if self.across > 0:
            weighted = scores + log(self.across) if self.across != 1 else scores
            own = positive if self.positive else torch.full_like(positive, -inf)
            terms.append(weighted.scatter(1, column, own))
        elif self.positive:
            terms.append(positive)
        if within is not None:
            terms.append(within + log(self.within) if self.within != 1 else within)
        return terms

    @property
    def scaling(self) -> str:
        """What becomes of the scale unless one says otherwise."""
        return "calibrated"

    @property
    def start(self) -> tuple[float, float | None]:
        """The scale to start from, and the bias where there is one."""
        return 1 / self.temperature, None


def _point(name: str, weights: tuple[float, float], paper: str, *, positive: bool = True, both: bool = True) -> Softmax:
    return Softmax(name, *weights, positive, both, TEMPERATURE, paper)


INFONCE = _point("infonce", (1, 0), "van den Oord et al. 2018, arXiv:1807.03748", both=False)
CLIP = _point("clip", (1, 0), "Radford et al. 2021, arXiv:2103.00020")
SIMCLR = _point("simclr", (1, 1), "Chen et al. 2020, arXiv:2002.05709")
DCL = _point("dcl", (1, 1), "Yeh et al. 2022, arXiv:2110.06848", positive=False)
DHEL = _point("dhel", (0, 1), "Koromilas et al. 2024, arXiv:2405.18045", positive=False)
