"""Soft cosine: bags of words in which similar words are not perpendicular."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.errors import VectorError
from offsphere.base.known_names import known_name
from offsphere.tokens.late_interaction import ELSEWHERE, NORMALIZE
from offsphere.tokens.term_similarity import TermNeighbours
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs, check_pairs, in_threads
from offsphere.tokens.token_weights import PHRASES, entry_weights
from offsphere.tokens.vocabulary import Vocabulary

WEIGHTS = ("uniform", "length", "sif")
SIDES = {
    "both": "divide by the soft lengths of both texts",
    "none": "divide by no length",
    "query": "divide by the soft length of the first text",
    "document": "divide by the soft length of the second text",
}


class TextWords(NamedTuple):
    """The words of texts, one text after the other."""

    columns: Index  # of the vocabulary
    weights: Array
    ends: Index


@dataclass(frozen=True, slots=True, eq=False)
class SoftCosine:
    """``x S y / (sqrt(x S x) sqrt(y S y))`` of two bags of words, S being how alike words are (Sidorov et al. 2014).

    Args:
        normalize: which soft lengths it is divided by: ``both``, ``none``, ``query`` or ``document``.
        weights: what a word counts for, times how often it occurs: ``uniform``, ``length`` or ``sif``.
        neighbours: which words count as alike.
        ids: the numbers of the words, rising, once fitted.
        similarity: how alike they are, once fitted.

    Raises:
        UnknownNameError: another ``normalize``, or other weights.

    Example:
        >>> import numpy as np
        >>> from offsphere.tokens.token_bags import TokenBags
        >>> from offsphere.tokens.token_measure import TextPairs
        >>> from offsphere.tokens.vocabulary import Vocabulary
        >>> table = np.array([[1.0, 0.0], [3.0, 4.0]], np.float32)
        >>> words = Vocabulary(np.arange(2), np.ones(2, np.int64), lambda ids: table[ids])
        >>> bags = TokenBags.of(table, np.arange(2), np.arange(2), np.array([1, 2]))  # the first word; the second
        >>> SoftCosine().fit(words).scores(bags, bags, TextPairs(np.array([0]), np.array([1]))).round(4).tolist()
        [0.36]
    """

    normalize: str = "both"
    weights: str = "uniform"
    neighbours: TermNeighbours = field(default_factory=TermNeighbours)
    ids: Index | None = None
    similarity: Any = None  # scipy's csr_array

    by_word = True

    def __post_init__(self) -> None:
        """Refuse names that are none."""
        typed = ELSEWHERE.get(self.normalize, self.normalize)
        object.__setattr__(self, "normalize", known_name("normalisation of texts", typed, NORMALIZE))
        object.__setattr__(self, "weights", known_name("weights of words", self.weights, WEIGHTS))

    @property
    def name(self) -> str:
        """The name of the measure; settings other than the usual ones follow in brackets."""
        unusual = [part for part, usual in ((self.normalize, "both"), (self.weights, "uniform")) if part != usual]
        return f"softcos({', '.join(unusual)})" if unusual else "softcos"

    @property
    def phrase(self) -> str:
        """Say what it does."""
        shared = "count words that both texts have, similar ones in part"
        return f"{shared}; {SIDES[self.normalize]}; {PHRASES[self.weights]}"

    def ranking_twin(self) -> str:
        """The soft length of a query changes no ranking of its documents."""
        return replace(self, normalize="both" if self.normalize in ("both", "document") else "none").name

    def without_length(self) -> SoftCosine | None:
        """Words that count the same, however long their vectors are."""
        return replace(self, weights="uniform") if self.weights == "length" else None

    def fit(self, vocabulary: Vocabulary) -> SoftCosine:
        """Compare all words of a vocabulary with each other."""
        return replace(self, ids=vocabulary.ids, similarity=vocabulary.alike(self.neighbours))

    def scores(self, left: TokenBags, right: TokenBags, pairs: TextPairs) -> Array:
        """Score each pair; no number for a text without a word, or whose words weigh nothing."""
        check_pairs(left, right, pairs)
        first, second = self._words(left), self._words(right)
        products = self._products(first, second, pairs)
        lengths = [
            np.sqrt(self._products(words, words, TextPairs(every, every)))[numbers]
            for words, every, numbers in (
                (first, np.arange(len(left)), pairs.lefts),
                (second, np.arange(len(right)), pairs.rights),
            )
        ]
        empty = (lengths[0] <= 0) | (lengths[1] <= 0)
        divisor = np.ones(len(products))
        for role, length in zip(("query", "document"), lengths, strict=True):
            if self.normalize in ("both", role):
                divisor = divisor * length
        return np.where(empty, np.nan, products / np.where(empty, 1.0, divisor))

    def _products(self, left: TextWords, right: TextWords, pairs: TextPairs) -> Array:
        """What the texts of each pair have in common."""
        from offsphere.tokens.soft_kernels import soft_products

        matrix = self.similarity

        def work(lefts: Index, rights: Index) -> Array:
            return np.asarray(soft_products(*left, *right, matrix.indptr, matrix.indices, matrix.data, lefts, rights))

        return in_threads(work, pairs)

    def _words(self, bags: TokenBags) -> TextWords:
        """The words of all texts by their columns in the vocabulary, what each counts for, and where texts end."""
        if self.ids is None:
            raise VectorError("soft cosine compares words of a vocabulary: fit it first")
        words = bags.ids[bags.rows]
        columns = np.searchsorted(self.ids, words)
        if len(words) and ((columns == len(self.ids)).any() or (self.ids[columns] != words).any()):
            raise VectorError("a text has a word that is not in the vocabulary: fit it on these texts")
        return TextWords(columns, entry_weights(bags, self.weights), bags.ends)
