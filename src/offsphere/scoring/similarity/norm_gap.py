"""Norm gap: how far the two lengths and the two directions are apart, negated."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import POSITIVE, Form, Similarity, Terms, angle, undefined_last
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True)
class NormGap(Similarity):
    """``-(||q| - |d|| + weight * angle)``: a distance of lengths plus a distance of directions (You 2025).

    Args:
        weight: what a radian of angle counts against a unit of length; not negative.

    Example:
        >>> import numpy as np
        >>> from offsphere import NormGap
        >>> NormGap(2)(np.array([0.0]), np.array([3.0]), np.array([4.0])).round(4).tolist()
        [-4.1416]
    """

    weight: float = 1.0

    kind = "norm-gap"
    phrase = "rank by how little direction and vector length differ from the query's, each by itself"
    formula = "-(| |q| - |d| | + weight arccos(cosine))"
    ranges = MappingProxyType({"weight": POSITIVE})
    form = Form.GAP
    nearest = "euclidean"

    @property
    def gap_weight(self) -> float:
        """What a radian of angle counts in the ranking key."""
        return self.weight

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Add both distances and negate the sum."""
        apart = angle(dot, query_lengths, document_lengths)
        return undefined_last(-(np.abs(query_lengths - document_lengths) + self.weight * apart))

    def document_terms(self, lengths: Array) -> Terms:
        """Give the inverse length for the angle, the length for the gap."""
        scaled = COSINE.document_terms(lengths)
        return Terms(scaled.weight, np.where(lengths > 0, lengths, -np.inf))

    def query_factor(self, lengths: Array) -> Array:
        """Give the length that the document's is compared with."""
        return lengths
