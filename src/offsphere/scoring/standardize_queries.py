"""Query standardisation: scores that mean the same for every query, in closed form.

``(s - mean_q) / deviation_q`` over the whole corpus never changes a ranking, but it makes one threshold fit all
queries. For a scorer that lowers to an inner product ``s = u . v`` neither moment needs a look at the corpus: with
the mean m and the covariance C of the lowered documents, ``mean_q = u . m`` and ``deviation_q^2 = u^T C u``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import VectorError
from offsphere.scoring.corpus_biases import CorpusBiases
from offsphere.scoring.given_scorer import given_scorer
from offsphere.scoring.lowering import Lowering
from offsphere.scoring.query_standardization import QueryStandardization
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.lengths import lengths
from offsphere.vectors.moments import Moments


def standardize_queries(
    scorer: Scorer | str, documents: Documents | Blocks, *, ids: Sequence[str] | None = None
) -> Scorer:
    """Standardise a scorer's scores per query, so that one threshold fits all queries; one pass over the documents.

    Args:
        scorer: a scorer that lowers to an inner product and whose value is linear in it, fitted where it has
            transforms; or its name, and it is fitted on the documents.
        documents: the corpus whose scores are to have mean 0 and deviation 1 for every query.
        ids: of the documents, by which a scorer with a bias knows them.

    Returns:
        A scorer that ranks the same, with standardised scores.

    Raises:
        OffsphereError: where the scorer's similarity is not linear in the inner product, or no document has a value.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> queries, documents = rng.normal(size=(2, 8)), rng.normal(1, 1, (100, 8)).astype(np.float32)
        >>> scorer = osp.standardize_queries("dot", documents)
        >>> (top,) = osp.search(queries, documents, [scorer], k=100)
        >>> scorer.name, np.abs(top.scores.mean(axis=1)).round(3).tolist(), top.scores.std(axis=1).round(3).tolist()
        ('dot + z-score', [0.0, 0.0], [1.0, 1.0])
    """
    blocks = Blocks.of(documents)
    scorer = given_scorer(scorer, blocks)
    lowering = replace(scorer, standardization=None).lower()
    if not any(lowering.is_rankable(block).any() for block in blocks):
        raise VectorError(f"{scorer.name}: no document has a value (all have length zero), so nothing is standardised")
    moments = Moments.over(_lowered_blocks(lowering, blocks, ids))
    return replace(scorer, standardization=QueryStandardization(moments.mean, moments.covariance))


def _lowered_blocks(lowering: Lowering, blocks: Blocks, ids: Sequence[str] | None) -> Iterator[Array]:
    """Yield the vectors to index in float64, block by block, without documents that have no value."""
    biases, first = CorpusBiases.of(lowering, ids, blocks.count), 0
    for block in blocks:
        rows = lowering.document_rows(block, biases.of_block(block, first) if biases is not None else None)
        yield rows[lowering.is_rankable(block)]
        first += len(block)


def standardize_scores(scorer: Scorer, queries: Vectors, scores: Array) -> Array:
    """Standardise scores (queries, k) that were computed without the scorer's standardisation, if it has one."""
    if scorer.standardization is None:
        return scores
    lowering = replace(scorer, standardization=None).lower()
    centre, spread = scorer.standardization.of_lowered(lowering.query_rows(queries))
    # a similarity adds a constant of the query to its inner product (norm-mix), which the standardisation takes away
    constant = _query_constant(scorer, queries)
    return (scores - constant[:, None] - centre[:, None]) / spread[:, None]


def _query_constant(scorer: Scorer, queries: Vectors) -> Array:
    """Compute what a value has on top of the lowered inner product, as a constant of the query."""
    query_lengths = lengths(scorer.transform(queries, "query"))
    similarity = scorer.similarity
    ones = np.ones_like(query_lengths)
    _, offset = similarity.document_terms(ones)
    return similarity(np.zeros_like(ones), np.where(query_lengths > 0, query_lengths, 1.0), ones) - offset
