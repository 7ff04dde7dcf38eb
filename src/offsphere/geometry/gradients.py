"""How fast pairs would learn under a cosine loss: the gradient on z has norm ``sin(angle) / |z|``.

So long vectors and opposite pairs learn slowly (Draganov et al. 2024, arXiv:2406.16468).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.positives import Positives

SLOW = 0.1  # of the gradient of a unit vector at a right angle to its partner
LEARNT = 0.9  # a cosine above this has little left to learn
OPPOSITE = -(3**0.5) / 2  # an angle of 150 degrees


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Gradients:
    """Gradient norms of the cosine of positive pairs, on one side."""

    side: str
    pairs: int
    mean: float
    median: float
    least: float
    hardly_learn: float  # share of pairs not yet alike that are opposite, or whose gradient is under 0.1
    hardly_learn_long: float  # of these, share of all pairs: since the vector is long
    hardly_learn_opposite: float  # since the two point away from each other
    alike_already: float  # share of pairs that are alike already

    @property
    def sentence(self) -> str:
        """How large the gradient is on average, and how many pairs hardly learn."""
        return (
            f"{self.side}: gradient of cosine {self.mean:.3g} on average; {self.hardly_learn:.1%} of the pairs "
            f"hardly learn ({self.hardly_learn_long:.1%} long, {self.hardly_learn_opposite:.1%} opposite)"
        )


def measure_gradients(evidence: Evidence) -> list[Gradients]:
    """The section: how fast positive pairs would learn, on each side."""
    positives = evidence.positives
    return [
        gradients(side.name, positives, lengths)
        for side, lengths in zip(evidence.sides, (positives.left_lengths, positives.right_lengths), strict=True)
    ]


def gradients(side: str, positives: Positives, lengths: Array) -> Gradients:
    """The gradients on the vectors of one side of the positive pairs."""
    norms = gradient_norms(positives.cosines, lengths)
    opposite = positives.cosines < OPPOSITE
    slow = opposite | ((norms < SLOW) & (positives.cosines < LEARNT))
    return Gradients(
        side=side,
        pairs=len(norms),
        mean=float(norms.mean()),
        median=float(np.median(norms)),
        least=float(norms.min()),
        hardly_learn=float(slow.mean()),
        hardly_learn_long=float((slow & ~opposite).mean()),
        hardly_learn_opposite=float(opposite.mean()),
        alike_already=float((positives.cosines >= LEARNT).mean()),
    )


def gradient_norms(cosines: Array, lengths: Array) -> Array:
    """The norm ``sin(angle) / length`` of the gradient of each cosine."""
    return np.sqrt(np.maximum(1 - cosines**2, 0)) / lengths
