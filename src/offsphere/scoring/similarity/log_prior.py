"""Length as a log-prior: cosine, and a share of the logarithm of the document's length added to it."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import UNBOUNDED, Similarity, Terms
from offsphere.scoring.similarity.polar import COSINE


@dataclass(frozen=True)
class LogPrior(Similarity):
    """``cosine + weight ln |d|``: what a document has in its favour before any query is asked.

    Where relevance is a product of nearness and a power of the length, its logarithm is such a sum. With weight 0 it is
    cosine.

    Args:
        weight: of the logarithm; negative where short documents are to be preferred.

    Example:
        >>> import numpy as np
        >>> from offsphere import LogPrior
        >>> LogPrior(0.5)(np.array([6.0]), np.array([3.0]), np.array([4.0])).round(4).tolist()
        [1.1931]
    """

    weight: float = 0.1

    kind = "log-prior"
    phrase = "add a share of the logarithm of the document's vector length to the cosine"
    formula = "cosine + weight ln |d|"
    ranges = MappingProxyType({"weight": UNBOUNDED})
    has_offset = True
    linear = True

    @property
    def orders_as(self) -> Similarity:
        """Cosine where the length has no weight."""
        return COSINE if self.weight == 0 else self

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Add the weighted logarithm to the cosine."""
        cosine = COSINE(dot, query_lengths, document_lengths)
        return cosine + self._prior(document_lengths)

    def document_terms(self, lengths: Array) -> Terms:
        """Give the direction, and the weighted logarithm as an offset."""
        scaled = COSINE.document_terms(lengths)
        return Terms(scaled.weight, scaled.offset + self._prior(lengths))

    def query_factor(self, lengths: Array) -> Array:
        """Give the length, as cosine does."""
        return lengths

    def _prior(self, lengths: Array) -> Array:
        """Weigh the logarithm; a document without length, which has no cosine either, gets nothing."""
        return self.weight * np.log(np.where(lengths > 0, lengths, 1.0))
