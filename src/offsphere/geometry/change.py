"""What fine-tuning did to the tokens: the change of their self-similarity between two models.

``(ss_f - ani_f) - (ss_v - ani_v)`` for each token that both models write the same way (Xiao et al. 2023): positive
where a token means more nearly the same in every context than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.errors import OffsphereError
from offsphere.geometry.layers import Layers
from offsphere.statistics.correlation import Correlation, correlation

ALIKE = 0.8  # a smaller share of common tokens raises doubt
MOST = 10  # tokens named in each direction


@dataclass(frozen=True, slots=True, eq=False)
class SelfSimilarityChange:
    """Changes in the last layer from ``base`` to ``model``."""

    model: str
    base: str
    tokens: Sequence[str]
    values: Array
    mean: float
    risen: Sequence[tuple[str, float]]  # the most
    fallen: Sequence[tuple[str, float]]
    shared: float  # of the model's compared tokens, the share that the base writes the same way

    @property
    def sentence(self) -> str:
        """How many went which way."""
        return (
            f"from {self.base} to {self.model}: adjusted self-similarity changed by {self.mean:+.3f} on average over "
            f"{len(self.tokens)} tokens{self._doubt}; it rose for {(self.values > 0).mean():.0%}"
        )

    @property
    def _doubt(self) -> str:
        return (
            "" if self.shared > ALIKE else f" (only {self.shared:.0%} of the model's: are the tokenizers of one kind?)"
        )


def self_similarity_change(model: Layers, base: Layers) -> SelfSimilarityChange:
    """Token by token, in the last layer of each."""
    before = dict(zip(base.tokens, base.layers[-1].self_adjusted_by_token.tolist(), strict=True))
    after = dict(zip(model.tokens, model.layers[-1].self_adjusted_by_token.tolist(), strict=True))
    shared = [token for token in after if token in before]
    if not shared:
        raise OffsphereError(f"{model.model} and {base.model} share no token that stands in two texts")
    values = np.array([after[token] - before[token] for token in shared])
    order = np.argsort(-values, kind="stable")
    ranked = [(shared[place], float(values[place])) for place in order.tolist()]
    return SelfSimilarityChange(
        model.model,
        base.model,
        shared,
        values,
        float(values.mean()),
        [entry for entry in ranked[:MOST] if entry[1] > 0],
        [entry for entry in ranked[::-1][:MOST] if entry[1] < 0],
        len(shared) / len(after),
    )


def correlate_changes(one: SelfSimilarityChange, other: SelfSimilarityChange) -> Correlation:
    """Whether two pairs of models changed the same tokens."""
    known = dict(zip(other.tokens, other.values.tolist(), strict=True))
    shared = [
        (value, known[token]) for token, value in zip(one.tokens, one.values.tolist(), strict=True) if token in known
    ]
    pairs = np.array(shared).reshape(-1, 2)
    return correlation(pairs[:, 0], pairs[:, 1])
