"""Tanh: the ratio of inner product to squared lengths, squashed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Similarity, undefined_last
from offsphere.scoring.similarity.overlap import Overlap


@dataclass(frozen=True)
class Tanh(Overlap):
    """``tanh(2 dot / (|q|^2 + |d|^2))`` (arXiv:2509.19323); ranks as Overlap.

    Example:
        >>> import numpy as np
        >>> from offsphere import Tanh
        >>> Tanh()(np.array([6.25]), np.array([3.0]), np.array([4.0])).round(4).tolist()
        [0.4621]
    """

    kind = "tanh"
    phrase = "rank by how much two vectors share of all that they span together, squashed to at most 1"
    formula = "tanh(2 dot / (|q|^2 + |d|^2))"

    @property
    def orders_as(self) -> Similarity:
        """Overlap: both rise with ``dot / (|q|^2 + |d|^2)``."""
        return Overlap()

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Squash the ratio of inner product and squared lengths."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return undefined_last(np.tanh(2 * dot / (query_lengths**2 + document_lengths**2)))
