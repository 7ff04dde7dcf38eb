"""Means of token vectors, weighted: by nothing, by the length of a token once more, without it, or by its rarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.known_names import known_name
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs, check_pairs
from offsphere.tokens.token_weights import PHRASES, WEIGHTS, entry_weights
from offsphere.tokens.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class WeightedMean:
    """The cosine of the weighted sums of token vectors.

    A plain sum weighs tokens by their lengths already, since long vectors move it more. ``direction`` takes that away,
    ``length`` has it twice, and ``sif`` weighs rare tokens more, whatever their length (Arora, Liang & Ma 2017).

    Args:
        weights: ``uniform``, ``direction``, ``length`` or ``sif``.

    Raises:
        UnknownNameError: other weights.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> from offsphere.tokens.token_measure import TextPairs
        >>> table = np.array([[3.0, 0.0], [0.0, 4.0]], np.float32)
        >>> bags = TokenBags.of(table, np.arange(2), np.array([0, 1, 0]), np.array([2, 3]))  # both tokens; the first
        >>> WeightedMean("uniform").scores(bags, bags, TextPairs(np.array([0]), np.array([1]))).round(4).tolist()
        [0.6]
    """

    weights: str = "uniform"

    by_word = False

    def __post_init__(self) -> None:
        """Refuse names that are none."""
        object.__setattr__(self, "weights", known_name("weights of tokens", self.weights, WEIGHTS))

    @property
    def name(self) -> str:
        """The name of the measure; settings other than the usual ones follow in brackets."""
        return "mean" if self.weights == "uniform" else f"mean({self.weights})"

    @property
    def phrase(self) -> str:
        """Say what it does."""
        return f"compare the directions of mean token vectors; {PHRASES[self.weights]}"

    def ranking_twin(self) -> str:
        """No two of them rank alike."""
        return self.name

    def without_length(self) -> WeightedMean | None:
        """The sum of directions: a plain sum weighs by length already."""
        return WeightedMean("direction") if self.weights in ("uniform", "length") else None

    def fit(self, vocabulary: Vocabulary) -> WeightedMean:  # noqa: ARG002
        """Give itself: there is nothing to fit."""
        return self

    def scores(self, left: TokenBags, right: TokenBags, pairs: TextPairs) -> Array:
        """Score each pair; no number for a text whose sum is zero."""
        check_pairs(left, right, pairs)
        sums = [self.sums(bags) for bags in (left, right)]
        first, second = (side[numbers] for side, numbers in zip(sums, pairs, strict=True))
        products = np.einsum("pd,pd->p", first, second)
        both = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        return np.asarray(np.divide(products, both, out=np.full(len(products), np.nan), where=both > 0))

    def sums(self, bags: TokenBags) -> Array:
        """The weighted sum of each text's token vectors, (texts, dimension); zero for a text without tokens."""
        from scipy.sparse import csr_array

        starts = np.concatenate([[0], bags.ends])
        chosen = csr_array((entry_weights(bags, self.weights), bags.rows, starts), shape=(len(bags), len(bags.table)))
        return np.asarray(chosen @ bags.table.astype(np.float64))
