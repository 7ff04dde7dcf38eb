"""Document biases against hubs: take from each document what it gets from any query at all.

A hub is a document near to everything. Both corrections measure, on a bank of queries, how near a document is to its
nearest bank queries, and subtract that; both lower to one extra coordinate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.ranking.search import search
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, Polar
from offsphere.vectors.blocks import Blocks, Documents

NNN_NEIGHBOURS = 128
CSLS_NEIGHBOURS = 10


def nnn(
    scorer: Scorer, documents: Documents | Blocks, bank: Vectors, alpha: float = 0.75, k: int = NNN_NEIGHBOURS
) -> Scorer:
    """Nearest-neighbour normalisation: ``s - alpha * mean(top-k of s(bank query, d))`` (Chowdhury et al. 2024)."""
    (means,) = nearest_means(scorer, documents, bank, k)
    return with_nnn(scorer, means, alpha)


def csls(scorer: Scorer, documents: Documents | Blocks, bank: Vectors, k: int = CSLS_NEIGHBOURS) -> Scorer:
    """Cross-domain similarity local scaling: ``2 c - r(q) - r(d)`` (Conneau et al. 2018, arXiv:1710.04087).

    Ranks as ``c - r(d) / 2``, which is what this scorer computes; r(d) is the mean cosine to the k nearest bank
    queries.
    """
    (means,) = nearest_means(scorer, documents, bank, k)
    return with_csls(scorer, means)


def with_nnn(scorer: Scorer, means: Array, alpha: float) -> Scorer:
    """NNN from means that are already known."""
    return replace(scorer, bias=DocumentBias(f"nnn({alpha:g})", -alpha * means))


def with_csls(scorer: Scorer, means: Array) -> Scorer:
    """CSLS from means that are already known."""
    if scorer.similarity != COSINE:
        raise OffsphereError(f"csls is defined for cosine, not for {scorer.similarity.name}")
    return replace(scorer, bias=DocumentBias("csls", -means / 2))


def nearest_means(scorer: Scorer, documents: Documents | Blocks, bank: Vectors, *neighbours: int) -> list[Array]:
    """For each number of neighbours, every document's mean value over that many of its best bank queries.

    A bank smaller than that is averaged whole. A document that has no value gets zero.
    """
    similarity = scorer.similarity
    if not isinstance(similarity, Polar):
        raise OffsphereError(f"a query bank works with cosine, dot and all of the polar family, not {similarity.name}")
    if not len(bank):
        raise VectorError("the query bank is empty: give at least one query vector")
    # the same search with the sides exchanged: documents look for their nearest queries
    turned = scorer.turned()
    parts: list[list[Array]] = [[] for _ in neighbours]
    for block in Blocks.of(documents):
        scores = search(block, bank, [turned], max(neighbours))[0].scores
        scores = np.where(np.isfinite(scores), scores, 0)
        for part, k in zip(parts, neighbours, strict=True):
            part.append(scores[:, :k].mean(axis=1))
    return [np.concatenate(part) for part in parts]
