"""Radial confidence: cosine, trusted more the longer the document."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import POSITIVE, Similarity, Terms, scaling_terms, undefined_last
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True)
class RadialConfidence(Similarity):
    """``cosine * |d| / (|d| + half)``: cosine, trusted more the longer the document, with diminishing returns.

    The idea of weighting the angle by a confidence of the length is You's (2025); this weight is ours.

    Args:
        half: the length at which the confidence is one half: 0 is cosine, and a very large one ranks as the dot
            product.

    Example:
        >>> import numpy as np
        >>> from offsphere import RadialConfidence
        >>> RadialConfidence(4)(np.array([6.0]), np.array([3.0]), np.array([4.0])).tolist()
        [0.25]
    """

    half: float = 1.0

    kind = "radial-confidence"
    phrase = "trust longer vectors more"
    formula = "cosine |d| / (|d| + half)"
    ranges = MappingProxyType({"half": POSITIVE})
    linear = True

    @property
    def orders_as(self) -> Similarity:
        """Cosine where every length has full confidence."""
        return COSINE if self.half == 0 else self

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Multiply cosine with the saturating confidence."""
        with np.errstate(divide="ignore", invalid="ignore"):
            cosine = dot / (query_lengths * document_lengths)
            return undefined_last(cosine * document_lengths / (document_lengths + self.half))

    def document_terms(self, lengths: Array) -> Terms:
        """Scale each document by ``1/|d| * |d| / (|d| + half)``."""
        with np.errstate(divide="ignore"):
            weight = 1 / (lengths + self.half)
        return scaling_terms(np.where(lengths > 0, weight, np.inf))

    def query_factor(self, lengths: Array) -> Array:
        """Give the length, as cosine does."""
        return lengths
