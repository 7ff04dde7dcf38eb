"""Query standardisation: scores that mean the same for every query, in closed form.

``(s - mean_q) / deviation_q`` over the whole corpus never changes a ranking, but it makes one threshold fit all
queries. For a scorer that lowers to an inner product ``s = u . v`` neither moment needs a look at the corpus: with
the mean m and the covariance C of the lowered documents, ``mean_q = u . m`` and ``deviation_q^2 = u^T C u``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.moments import Moments


@dataclass(frozen=True, slots=True, eq=False)
class QueryStandardization:
    """Mean and covariance of the lowered documents."""

    mean: Array
    covariance: Array

    def of_lowered(self, lowered_queries: Vectors) -> tuple[Array, Array]:
        """Mean and deviation of each lowered query's scores over the corpus; a deviation of zero counts as one."""
        rows = np.asarray(lowered_queries, dtype=np.float64)
        deviation = np.sqrt(np.maximum(np.einsum("qd,de,qe->q", rows, self.covariance, rows, optimize=True), 0))
        return rows @ self.mean, np.where(deviation > 0, deviation, 1.0)


def standardize_queries(scorer: Scorer, documents: Documents | Blocks) -> Scorer:
    """The same scorer with its scores standardised per query; one pass over the documents."""
    lowering = replace(scorer, standardization=None).lower()
    first, total = 0, None
    for block in Blocks.of(documents):
        kept = lowering.documents(block, first)[lowering.has_place(block)]
        first += len(block)
        if len(kept):
            part = Moments.of(kept)
            total = part if total is None else total.merge(part)
    moments = total if total is not None else Moments.over([])
    return replace(scorer, standardization=QueryStandardization(moments.mean, moments.covariance))


def standardized(scorer: Scorer, queries: Vectors, scores: Array) -> Array:
    """Scores (queries, k) of a scorer without its standardisation, standardised."""
    if scorer.standardization is None:
        return scores
    lowering = replace(scorer, standardization=None).lower()
    rows = lowering.queries(queries)
    centre, spread = scorer.standardization.of_lowered(rows)
    # a similarity adds a constant of the query to its inner product (norm-mix), which the standardisation takes away
    constant = _query_constant(scorer, queries)
    return (scores - constant[:, None] - centre[:, None]) / spread[:, None]


def _query_constant(scorer: Scorer, queries: Vectors) -> Array:
    """What the value has on top of the lowered inner product: its value for a document of length zero, if any."""
    from offsphere.vectors.lengths import lengths

    own = lengths(scorer.transform(queries, "query"))
    similarity = scorer.similarity
    one = np.ones_like(own)
    _, offset = similarity.document_terms(one)
    return similarity(np.zeros_like(own), np.where(own > 0, own, 1.0), one) - offset
