"""Euclidean similarity: the negated distance between query and document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Similarity, Terms


@dataclass(frozen=True)
class Euclidean(Similarity):
    """``-|q - d|``: the negated distance; ranks as ``dot - |d|^2 / 2``.

    Example:
        >>> import numpy as np
        >>> from offsphere import Euclidean
        >>> Euclidean()(np.array([0.0]), np.array([3.0]), np.array([4.0])).tolist()  # a right angle
        [-5.0]
    """

    kind = "euclidean"
    phrase = "take the distance between the points"
    formula = "-sqrt(|q|^2 + |d|^2 - 2 dot)"
    has_offset = True

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Compute the distance by the law of cosines; rounding below zero counts as zero."""
        return -np.sqrt(np.maximum(query_lengths**2 + document_lengths**2 - 2 * dot, 0))

    def document_terms(self, lengths: Array) -> Terms:
        """Give half the squared length, which is all that a document adds."""
        return Terms(np.ones_like(lengths), -(lengths**2) / 2)

    def query_factor(self, lengths: Array) -> Array:
        """Give one: the query adds nothing that moves a document."""
        return np.ones_like(lengths)

    def value_of_key(self, keys: Array, query_lengths: Array) -> Array:
        """Complete the square with the query's length."""
        return -np.sqrt(np.maximum(query_lengths**2 - 2 * keys, 0))
