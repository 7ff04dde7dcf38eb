"""Word Rotator's Distance: the least cost of turning the tokens of one text into those of another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import ParameterError
from offsphere.base.known_names import known_name
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs, check_pairs, in_threads
from offsphere.tokens.token_weights import PHRASES, entry_weights
from offsphere.tokens.vocabulary import Vocabulary

WEIGHTS = ("length", "uniform", "sif")
COSTS = ("cosine", "norm-gap")


@dataclass(frozen=True, slots=True)
class Transport:
    """Optimal transport between the tokens of two texts, negated; exact.

    With lengths as weights and one less the cosine as cost this is Word Rotator's Distance (Yokoi et al. 2020,
    arXiv:2004.15003): a token's length says how much it matters, its direction what it means. With uniform weights the
    lengths are thrown away, and the difference between the two is what token length is worth. The other cost is the
    norm gap of ``NormGap``, ``| |x| - |y| | + angle_weight * angle``, with lengths in units of the mean length of all
    tokens of the two texts, so that it does not matter in what units a model writes its vectors.

    Args:
        weights: ``length``, ``uniform`` or ``sif``.
        cost: ``cosine`` or ``norm-gap``.
        angle_weight: what a radian counts against a mean length, for the norm gap.

    Raises:
        UnknownNameError: other weights, or another cost.
        ParameterError: an angle that weighs less than nothing.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> from offsphere.tokens.token_measure import TextPairs
        >>> table = np.array([[3.0, 0.0], [0.0, 1.0]], np.float32)
        >>> bags = TokenBags.of(table, np.arange(2), np.array([0, 1, 0]), np.array([2, 3]))  # both tokens; the first
        >>> Transport("length").scores(bags, bags, TextPairs(np.array([0]), np.array([1]))).tolist()
        [-0.25]
        >>> Transport("uniform").scores(bags, bags, TextPairs(np.array([0]), np.array([1]))).tolist()
        [-0.5]
    """

    weights: str = "length"
    cost: str = "cosine"
    angle_weight: float = 1.0

    by_word = False

    def __post_init__(self) -> None:
        """Refuse names that are none."""
        object.__setattr__(self, "weights", known_name("weights of tokens", self.weights, WEIGHTS))
        object.__setattr__(self, "cost", known_name("cost of transport", self.cost, COSTS))
        if not 0 <= self.angle_weight < np.inf:
            raise ParameterError(f"angle_weight = {self.angle_weight}: a radian counts for at least nothing")

    @property
    def name(self) -> str:
        """The name of the measure; settings other than the usual ones follow in brackets."""
        unusual = [part for part, usual in ((self.weights, "length"), (self.cost, "cosine")) if part != usual]
        return f"wrd({', '.join(unusual)})" if unusual else "wrd"

    @property
    def phrase(self) -> str:
        """Say what it does."""
        cost = "" if self.cost == "cosine" else " at the cost of both their angle and the gap of their lengths"
        return f"move the tokens of one text to those of the other{cost}; {PHRASES[self.weights]}"

    def ranking_twin(self) -> str:
        """No two of them rank alike."""
        return self.name

    def without_length(self) -> Transport | None:
        """Uniform weights at the same cost."""
        return replace(self, weights="uniform") if self.weights == "length" else None

    def fit(self, vocabulary: Vocabulary) -> Transport:  # noqa: ARG002
        """Give itself: there is nothing to fit."""
        return self

    def scores(self, left: TokenBags, right: TokenBags, pairs: TextPairs) -> Array:
        """Score each pair, some at a time in every core."""
        from offsphere.tokens.transport_kernels import transport_costs

        check_pairs(left, right, pairs)
        sides = [
            (bags.table, bags.lengths, bags.rows, bags.counts, entry_weights(bags, self.weights), bags.ends)
            for bags in (left, right)
        ]
        angle_weight = self.angle_weight if self.cost == "norm-gap" else -1.0

        def work(lefts: Index, rights: Index) -> Array:
            return np.asarray(transport_costs(*sides[0], *sides[1], lefts, rights, angle_weight))

        return -in_threads(work, pairs)
