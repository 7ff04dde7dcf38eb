"""Norm mixture: cosine and the two lengths, added."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Similarity, Terms, undefined_last
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True)
class NormMix(Similarity):
    """``alpha * cosine + (1 - alpha) (|q| + |d|)``: direction and length, added (You 2025, arXiv:2504.16318).

    Args:
        alpha: the share of cosine, from 0 to 1; with 1 it is cosine.

    Example:
        >>> import numpy as np
        >>> from offsphere import NormMix
        >>> NormMix(0.9)(np.array([6.0]), np.array([3.0]), np.array([4.0])).round(4).tolist()
        [1.15]
    """

    alpha: float = 0.5

    kind = "norm-mix"
    phrase = "add a share of the vector lengths to the cosine"
    formula = "alpha cosine + (1 - alpha)(|q| + |d|)"
    ranges = MappingProxyType({"alpha": (0.0, 1.0)})
    has_offset = True
    linear = True

    @property
    def orders_as(self) -> Similarity:
        """Cosine where nothing else is mixed in."""
        return COSINE if self.alpha == 1 else self

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Mix the cosine with the two lengths."""
        cosine = COSINE(dot, query_lengths, document_lengths)
        with np.errstate(invalid="ignore"):
            return undefined_last(self.alpha * cosine + (1 - self.alpha) * (query_lengths + document_lengths))

    def document_terms(self, lengths: Array) -> Terms:
        """Give a scaled direction, and the length as an offset."""
        scaled = COSINE.document_terms(lengths)
        return Terms(self.alpha * scaled.weight, scaled.offset + (1 - self.alpha) * lengths)

    def query_factor(self, lengths: Array) -> Array:
        """Give the length, since the value is ``key / |q| + (1 - alpha) |q|``."""
        return lengths

    def value_of_key(self, keys: Array, query_lengths: Array) -> Array:
        """Divide by the query's length, and add its share."""
        return keys / query_lengths + (1 - self.alpha) * query_lengths
