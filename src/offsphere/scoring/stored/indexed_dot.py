"""The inner product of an index that some documents were left out of, since their scorer has no place for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import Similarity, Terms, scaling_terms


@dataclass(frozen=True)
class IndexedDot(Similarity):
    """``dot`` where there is a vector; a vector of zeros stands for a document that is not in the index.

    Example:
        >>> import numpy as np
        >>> IndexedDot()(np.array([-3.0, 0.0]), np.ones(2), np.array([2.0, 0.0])).tolist()
        [-3.0, -inf]
    """

    kind = "indexed-dot"
    formula = "dot"
    linear = True

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:  # noqa: ARG002
        """Give the inner product."""
        return np.where(document_lengths > 0, dot, -np.inf)

    def document_terms(self, lengths: Array) -> Terms:
        """Leave documents as they are."""
        return scaling_terms(np.where(lengths > 0, 1.0, np.inf))

    def query_factor(self, lengths: Array) -> Array:
        """Give one: the query adds nothing that moves a document."""
        return np.ones_like(lengths)
