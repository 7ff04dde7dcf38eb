"""Angular similarity: the negated angle between query and document."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Similarity, Terms, angle, undefined_last
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True)
class Angular(Similarity):
    """``-arccos(cosine)``: the negated angle in radians; ranks as cosine.

    Example:
        >>> import numpy as np
        >>> from offsphere import Angular
        >>> Angular()(np.array([0.0]), np.array([3.0]), np.array([4.0])).round(4).tolist()  # a right angle
        [-1.5708]
    """

    kind = "angular"
    phrase = "compare angles alone"
    formula = "-arccos(dot / (|q| |d|))"

    @property
    def orders_as(self) -> Similarity:
        """Cosine: the angle falls as cosine rises."""
        return COSINE

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Compute the angle, negated."""
        return undefined_last(-angle(dot, query_lengths, document_lengths))

    def document_terms(self, lengths: Array) -> Terms:
        """Give the terms of cosine."""
        return COSINE.document_terms(lengths)

    def query_factor(self, lengths: Array) -> Array:
        """Give the length, as cosine does."""
        return lengths

    def value_of_key(self, keys: Array, query_lengths: Array) -> Array:
        """Divide by the query's length, which gives the cosine."""
        return -np.arccos(np.clip(keys / query_lengths, -1, 1))
