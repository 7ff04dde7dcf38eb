"""The polar family: the inner product over powers of the two lengths. Cosine and the dot product are points of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.similarity.formula import UNBOUNDED, Similarity, Terms, power, scaling_terms, undefined_last

# named points of the normalisation grid, by the exponents of query and document
CORNERS: Mapping[tuple[float, float], str] = MappingProxyType(
    {
        (1.0, 1.0): "cosine",
        (0.0, 0.0): "dot",
        (1.0, 0.0): "query-normalized",
        (0.0, 1.0): "document-normalized",
        (0.5, 0.5): "half",
    }
)

_CORNERS_IN_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "cosine": "compare directions alone",
        "dot": "let both vector lengths count in full",
        "query-normalized": "let the document's vector length count in full",
        "document-normalized": "ignore the document's vector length",
        "half": "let both vector lengths count half",
    }
)


@dataclass(frozen=True)
class Polar(Similarity):
    """``dot / (|q| ** query * |d| ** document)``: the normalisation grid, all between its corners, and beyond.

    ``Polar(1, 1)`` is cosine, ``Polar(0, 0)`` the dot product, ``Polar(1, 0)`` normalises the query only. A document
    exponent below 0 rewards length, one above 1 punishes it. A ranking depends on ``document`` alone, since a query's
    own length is the same for all of its documents (Feng & Watanabe 2026, arXiv:2602.09229).

    Args:
        query: by which power of the query's length the inner product is divided.
        document: by which power of the document's length the inner product is divided.

    Example:
        >>> import numpy as np
        >>> from offsphere import Polar
        >>> dot, query_length, document_length = np.array([6.0]), np.array([3.0]), np.array([4.0])
        >>> Polar(1, 1).name, Polar(1, 1)(dot, query_length, document_length).tolist()
        ('cosine', [0.5])
        >>> Polar(1, 0.5).name, Polar(1, 0.5)(dot, query_length, document_length).tolist()
        ('polar(1, 0.5)', [1.0])
    """

    query: float = 1.0
    document: float = 1.0

    kind = "polar"
    formula = "dot / (|q|^query |d|^document)"
    ranges = MappingProxyType({"query": UNBOUNDED, "document": UNBOUNDED})
    linear = True

    @property
    def name(self) -> str:
        """The corner's name where the point is a named one, else the exponents."""
        return CORNERS.get((self.query, self.document)) or super().name

    @property
    def phrase(self) -> str:
        """What becomes of the lengths."""
        corner = CORNERS.get((self.query, self.document))
        return _CORNERS_IN_WORDS[corner] if corner is not None else _document_in_words(self.document)

    @property
    def ranks_as(self) -> tuple[object, ...]:
        """A key without the query's exponent, which cannot move a document."""
        return ("polar", self.document)

    def __call__(self, dot: Array, query_lengths: Array, document_lengths: Array) -> Array:
        """Divide by the powers of both lengths."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return undefined_last(dot / power(query_lengths, self.query) / power(document_lengths, self.document))

    def document_terms(self, lengths: Array) -> Terms:
        """Scale each document once, by the power of its length."""
        return scaling_terms(power(lengths, -self.document))

    def query_factor(self, lengths: Array) -> Array:
        """Give ``|q| ** query``, since the value is the key divided by it."""
        return power(lengths, self.query)


COSINE = Polar(1.0, 1.0)
DOT = Polar(0.0, 0.0)


def _document_in_words(exponent: float) -> str:
    """Say what dividing by this power of the document's length makes of its length."""
    if exponent == 1:
        return "ignore the document's vector length"
    if exponent == 0:
        return "let the document's vector length count in full"
    if exponent < 0:
        return "let the document's vector length count more than in full"
    effect = "holds long vectors back more" if exponent > 1 else "holds long vectors back less"
    return f"divide by the document's vector length to the power {exponent:g}, which {effect} than cosine does"
