"""Late interaction: every token of a text looks for the token of the other that is most like it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cores import one_blas_thread
from offsphere.base.known_names import known_name
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs, check_pairs, in_threads
from offsphere.tokens.token_weights import PHRASES as WEIGHT_PHRASES
from offsphere.tokens.token_weights import entry_weights
from offsphere.tokens.vocabulary import Vocabulary

WEIGHTS = ("uniform", "length", "sif")
NORMALIZE = ("both", "none", "query", "document")
ELSEWHERE = {"cosine": "both", "dot": "none", "left": "query", "right": "document"}
PHRASES = {
    "both": "by cosine",
    "none": "by dot product, so that long tokens count more on both sides",
    "query": "by direction of the query's tokens, so that long tokens of documents win",
    "document": "by direction of the document's tokens, so that long tokens of the query count more",
}


@dataclass(frozen=True, slots=True)
class MaxSim:
    """The mean over the tokens of the first text of their largest similarity with a token of the second.

    That is the score of ColBERT (Khattab & Zaharia 2020, arXiv:2004.12832) over the number of the query's tokens, which
    changes no ranking. With ``symmetric`` it is the mean of both ways, for pairs whose sides play one role.

    Args:
        normalize: which side's tokens lose their length: ``both`` is by cosine, ``none`` by dot product.
        weights: what each token that looks counts for in the mean: ``uniform``, ``length`` or ``sif``.
        symmetric: whether the second text looks for its tokens in the first as well.

    Raises:
        UnknownNameError: another ``normalize``, or other weights.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> from offsphere.tokens.token_measure import TextPairs
        >>> table = np.array([[3.0, 0.0], [0.0, 1.0]], np.float32)
        >>> bags = TokenBags.of(table, np.arange(2), np.array([0, 1, 0]), np.array([2, 3]))  # both tokens; the first
        >>> pair = TextPairs(np.array([0]), np.array([1]))
        >>> MaxSim("both").scores(bags, bags, pair).tolist(), MaxSim("none").scores(bags, bags, pair).tolist()
        ([0.5], [4.5])
    """

    normalize: str = "both"
    weights: str = "uniform"
    symmetric: bool = False

    by_word = False

    def __post_init__(self) -> None:
        """Refuse names that are none; cosine and dot are names of two of them."""
        typed = ELSEWHERE.get(self.normalize, self.normalize)
        object.__setattr__(self, "normalize", known_name("normalisation of tokens", typed, NORMALIZE))
        object.__setattr__(self, "weights", known_name("weights of tokens", self.weights, WEIGHTS))

    @property
    def name(self) -> str:
        """The name of the measure; settings other than the usual ones follow in brackets."""
        unusual = [part for part, usual in ((self.normalize, "both"), (self.weights, "uniform")) if part != usual]
        return f"maxsim({', '.join(unusual)})" if unusual else "maxsim"

    @property
    def phrase(self) -> str:
        """Say what it does."""
        similar = f"for each token find the most similar one of the other text, {PHRASES[self.normalize]}"
        return similar if self.weights == "uniform" else f"{similar}; {WEIGHT_PHRASES[self.weights]}"

    def ranking_twin(self) -> str:
        """The name of the measure that ranks the same: weighting by a query token's length leaves it in the product."""
        if self.weights == "length" and self.normalize in ("both", "query"):
            return replace(self, normalize="document" if self.normalize == "both" else "none", weights="uniform").name
        return self.name

    def without_length(self) -> MaxSim | None:
        """The same measure without any length: by cosine, tokens alike or by rarity; nothing if it is that."""
        bare = replace(self, normalize="both", weights="sif" if self.weights == "sif" else "uniform")
        return bare if bare != self else None

    def fit(self, vocabulary: Vocabulary) -> MaxSim:  # noqa: ARG002
        """Give itself: there is nothing to fit."""
        return self

    def scores(self, left: TokenBags, right: TokenBags, pairs: TextPairs) -> Array:
        """Score each pair, some at a time in every core."""
        check_pairs(left, right, pairs)
        there = self._one_way(left, right, pairs, ("query", "document"))
        if not self.symmetric:
            return there
        back = self._one_way(right, left, TextPairs(pairs.rights, pairs.lefts), ("document", "query"))
        return (there + back) / 2

    def _one_way(self, left: TokenBags, right: TokenBags, pairs: TextPairs, roles: tuple[str, str]) -> Array:
        """The mean over the tokens of left texts."""
        from offsphere.tokens.late_kernels import largest_products

        order = np.argsort(pairs.lefts, kind="stable")
        scales = [
            _scales(bags, normalized=self.normalize in ("both", role))
            for bags, role in zip((left, right), roles, strict=True)
        ]
        weights = entry_weights(left, self.weights)
        asking = (left.table, scales[0], left.rows, weights, left.ends)
        own = len(right.rows) == len(right.table) and bool((right.rows == np.arange(len(right.rows))).all())
        asked = (right.table, scales[1], right.rows, right.ends, not own)

        def work(lefts: Index, rights: Index) -> Array:
            return np.asarray(largest_products(*asking, *asked, lefts, rights))

        with one_blas_thread():
            sums = in_threads(work, TextPairs(pairs.lefts[order], pairs.rights[order]))
        result = np.empty(len(sums))
        result[order] = sums
        sums_of_weights = np.diff(np.concatenate([[0.0], np.cumsum(weights)])[np.concatenate([[0], left.ends])])
        whole = sums_of_weights[pairs.lefts]
        return np.asarray(np.divide(result, whole, out=np.full(len(result), np.nan), where=whole > 0))


def _scales(bags: TokenBags, *, normalized: bool) -> Array:
    """What each vector is multiplied by: one over its length, or one; a vector without a direction stays zero."""
    if not normalized:
        return np.ones(len(bags.table))
    return np.divide(1.0, bags.lengths, out=np.zeros(len(bags.lengths)), where=bags.lengths > 0)
