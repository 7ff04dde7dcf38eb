"""Overlap: what two vectors share over what they span together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Form, Similarity, Terms, undefined_last


@dataclass(frozen=True)
class Overlap(Similarity):
    """``dot / (|q|^2 + |d|^2 - |dot|)``: the continuous Jaccard overlap (arXiv:2509.19323).

    With ``x = dot / (|q|^2 + |d|^2)`` it is ``x / (1 - |x|)``, which rises with x: it ranks as Tanh does. On unit
    vectors it is a relabelling of cosine.

    Example:
        >>> import numpy as np
        >>> from offsphere import Overlap
        >>> Overlap()(np.array([5.0]), np.array([3.0]), np.array([4.0])).tolist()
        [0.25]
    """

    kind = "overlap"
    phrase = "rank by how much two vectors share of all that they span together"
    formula = "dot / (|q|^2 + |d|^2 - |dot|)"
    form = Form.RATIO

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Divide what the two share by what they span."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return undefined_last(dot / (query_lengths**2 + document_lengths**2 - np.abs(dot)))

    def document_terms(self, lengths: Array) -> Terms:
        """Give the squared length."""
        return Terms(np.ones_like(lengths), lengths**2)

    def query_factor(self, lengths: Array) -> Array:
        """Give the squared length."""
        return lengths**2
