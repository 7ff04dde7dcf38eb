"""Lowering: a scorer as two maps, one a side, whose plain inner product ranks the same. What a search engine serves."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Flags, Rows, Vectors
from offsphere.base.errors import OffsphereError
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.lengths import lengths


class NotLowerableError(OffsphereError):
    """No pair of maps exists for this scorer."""


class Lowering:
    """Vectors to index and vectors to query with, for any engine that speaks inner product.

    A ranking key ``dot * weight(d) + factor(q) * offset(d)`` is the inner product of ``[q, factor(q)]`` and ``[d *
    weight(d), offset(d)]``. Where the similarity is linear in its key the query is divided by the factor, and the
    inner product is the similarity's own value up to a constant of the query. At most two coordinates are added: one
    for offset and bias, one for the query standardisation.

    A document without length has no place in the ranking of a similarity that divides by it: it becomes the zero
    vector, and ``has_place`` says which ones to leave out of the index.
    """

    def __init__(self, scorer: Scorer) -> None:
        """Refuse what is no inner product."""
        if not scorer.similarity.lowers:
            raise NotLowerableError(
                f"{scorer.name} is no inner product of one vector a side, so no engine can serve it by inner product: "
                f"{scorer.similarity.formula} ties the two lengths together"
            )
        self.scorer = scorer
        self.extended = scorer.similarity.has_offset or scorer.bias is not None

    def queries(self, vectors: Vectors) -> Rows:
        """The vectors to query with."""
        similarity = self.scorer.similarity
        rows = self.scorer.transform(vectors, "query")
        own = lengths(rows)
        factor = similarity.query_factor(np.where(own > 0, own, 1.0) if similarity.divides_by_query else own)
        if similarity.linear:
            rows, factor = (rows / factor[:, None]).astype(np.float32), np.ones_like(factor)
        if self.extended:
            rows = _beside(rows, factor)
        if self.scorer.standardization is not None:
            centre, spread = self.scorer.standardization.of_lowered(rows)
            rows = _beside(rows / spread[:, None], -centre / spread)
        return rows

    def documents(self, vectors: Vectors, first: int = 0) -> Rows:
        """The vectors to index. ``first`` numbers the first of them, where a bias must be looked up."""
        rows = self.scorer.transform(vectors)
        weight, offset = self.scorer.similarity.document_terms(lengths(rows))
        rows = (rows * weight[:, None]).astype(np.float32)
        if self.extended:
            if self.scorer.bias is not None:
                offset = offset + self.scorer.bias.values[first : first + len(rows)]
            rows = _beside(rows, np.where(np.isfinite(offset), offset, 0.0))
        if self.scorer.standardization is not None:
            rows = _beside(rows, np.ones(len(rows)))
        return rows

    def has_place(self, vectors: Vectors) -> Flags:
        """Which documents have a value at all."""
        _, offset = self.scorer.similarity.document_terms(lengths(self.scorer.transform(vectors)))
        return np.isfinite(offset)


def _beside(rows: Vectors, column: Vectors) -> Rows:
    return np.concatenate([rows, column[:, None]], axis=1).astype(np.float32)
