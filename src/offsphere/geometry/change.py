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
from offsphere.base.short_repr import short_repr
from offsphere.geometry.layers import Layers
from offsphere.statistics.correlation import Correlation, correlation
from offsphere.statistics.values import mean_or_nan

ENOUGH_SHARED = 0.8  # a smaller share of common tokens raises doubt
MOST = 10  # tokens named in each direction


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SelfSimilarityChange:
    """How the self-similarity of tokens changed in the last layer, from ``base`` to ``model``."""

    model: str
    base: str
    tokens: Sequence[str]
    values: Array
    mean: float
    at_least: int  # occurrences, in the model's texts, of a token that is frequent
    frequent: int  # tokens that are
    frequent_mean: float  # over those, as Xiao et al. count
    risen: Sequence[tuple[str, float]]  # the most
    fallen: Sequence[tuple[str, float]]
    shared: float  # of the model's compared tokens, the share that the base writes the same way

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """The mean change, over how many tokens, and for which share it rose."""
        return (
            f"from {self.base} to {self.model}: adjusted self-similarity changed by {self.mean:+.3f} on average over "
            f"{len(self.tokens)} tokens{self._doubt}{self._over_frequent}; it rose for {(self.values > 0).mean():.0%}"
        )

    @property
    def _over_frequent(self) -> str:
        """The mean over frequent tokens, where there are any."""
        if not self.frequent:
            return ""
        return f", by {self.frequent_mean:+.3f} over the {self.frequent} that occur at least {self.at_least} times"

    @property
    def _doubt(self) -> str:
        """A question where the two models share few tokens."""
        if self.shared > ENOUGH_SHARED:
            return ""
        return f" (only {self.shared:.0%} of the model's: are the tokenizers of one kind?)"


def self_similarity_change(model: Layers, base: Layers) -> SelfSimilarityChange:
    """Compare two models token by token, in the last layer of each.

    Args:
        model: The layers of the model that was made from the base.
        base: The layers of the model it was made from, over the same texts.

    Returns:
        The change of every token that both models write the same way.

    Raises:
        OffsphereError: No token in common.
    """
    before = dict(zip(base.tokens, base.layers[-1].self_adjusted_by_token.tolist(), strict=True))
    after = dict(zip(model.tokens, model.layers[-1].self_adjusted_by_token.tolist(), strict=True))
    shared = [token for token in after if token in before]
    if not shared:
        raise OffsphereError(f"{model.model} and {base.model} share no token that stands in two texts")
    values = np.array([after[token] - before[token] for token in shared])
    counts = dict(zip(model.tokens, model.counts.tolist(), strict=True))
    frequent = np.array([counts[token] >= model.at_least for token in shared])
    order = np.argsort(-values, kind="stable")
    ranked = [(shared[number], float(values[number])) for number in order.tolist()]
    return SelfSimilarityChange(
        model=model.model,
        base=base.model,
        tokens=shared,
        values=values,
        mean=float(values.mean()),
        at_least=model.at_least,
        frequent=int(frequent.sum()),
        frequent_mean=mean_or_nan(values[frequent]),
        risen=[entry for entry in ranked[:MOST] if entry[1] > 0],
        fallen=[entry for entry in ranked[::-1][:MOST] if entry[1] < 0],
        shared=len(shared) / len(after),
    )


def correlate_changes(first: SelfSimilarityChange, second: SelfSimilarityChange) -> Correlation:
    """Whether two pairs of models changed the same tokens.

    Args:
        first: The change of one pair of models.
        second: The change of another pair.

    Returns:
        The correlation of the two changes over the tokens they share.
    """
    others = dict(zip(second.tokens, second.values.tolist(), strict=True))
    values = zip(first.tokens, first.values.tolist(), strict=True)
    pairs = np.array([(value, others[token]) for token, value in values if token in others]).reshape(-1, 2)
    return correlation(pairs[:, 0], pairs[:, 1])
