"""Document biases against hubs: take from each document what it gets from any query at all.

A hub is a document near to everything. Both corrections measure, on a bank of queries, how near a document is to its
nearest bank queries, and subtract that; both lower to one extra coordinate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.ranking.search import check_finite, search
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, Polar
from offsphere.vectors.blocks import Blocks, Documents
from offsphere.vectors.lengths import lengths

NNN_NEIGHBOURS = 128
CSLS_NEIGHBOURS = 10


def nnn(
    scorer: Scorer, documents: Documents | Blocks, bank: Vectors, alpha: float = 0.75, k: int = NNN_NEIGHBOURS
) -> Scorer:
    """Add nearest-neighbour normalisation: ``s - alpha * mean(top-k of s(bank query, d))`` (Chowdhury et al. 2024).

    Args:
        scorer: cosine, dot product or any other of the polar family, fitted where it has transforms.
        documents: the corpus that will be searched, in its order.
        bank: vectors of queries that stand for those to come.
        alpha: how much of a document's nearness to all queries is taken away.
        k: over how many of its nearest bank queries that nearness is averaged.

    Returns:
        The scorer with a document bias.

    Raises:
        OffsphereError: where the scorer's similarity is not of the polar family.
        VectorError: where the bank is empty.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.array([[1.0, 1.0], [1.0, 0.0]], np.float32)  # the first is near to both bank queries
        >>> bank = np.array([[1.0, 0.2], [0.2, 1.0]], np.float32)
        >>> scorer = osp.nnn(osp.Scorer(), documents, bank, alpha=1.0, k=2)
        >>> scorer.name, scorer.bias.values.round(3).tolist()
        ('cosine + nnn(1)', [-0.832, -0.588])
    """
    (means,) = nearest_means(scorer, documents, bank, k)
    return with_nnn(scorer, means, alpha)


def csls(scorer: Scorer, documents: Documents | Blocks, bank: Vectors, k: int = CSLS_NEIGHBOURS) -> Scorer:
    """Add cross-domain similarity local scaling: ``2 c - r(q) - r(d)`` (Conneau et al. 2018, arXiv:1710.04087).

    It ranks as ``c - r(d) / 2``, which is what this scorer computes; r(d) is the mean cosine to the k nearest bank
    queries.

    Args:
        scorer: cosine, fitted where it has transforms.
        documents: the corpus that will be searched, in its order.
        bank: vectors of queries that stand for those to come.
        k: over how many of its nearest bank queries a document's nearness is averaged.

    Returns:
        The scorer with a document bias.

    Raises:
        OffsphereError: where the scorer's similarity is not cosine.
        VectorError: where the bank is empty.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> documents = np.array([[1.0, 1.0], [1.0, 0.0]], np.float32)  # the first is near to both bank queries
        >>> bank = np.array([[1.0, 0.2], [0.2, 1.0]], np.float32)
        >>> scorer = osp.csls(osp.Scorer(), documents, bank, k=2)
        >>> scorer.name, scorer.bias.values.round(3).tolist()
        ('cosine + csls', [-0.416, -0.294])
    """
    (means,) = nearest_means(scorer, documents, bank, k)
    return with_csls(scorer, means)


def with_nnn(scorer: Scorer, means: Array, alpha: float) -> Scorer:
    """Add nearest-neighbour normalisation from means that ``nearest_means`` gave."""
    return replace(scorer, bias=DocumentBias(f"nnn({alpha:g})", -alpha * means))


def with_csls(scorer: Scorer, means: Array) -> Scorer:
    """Add cross-domain similarity local scaling from means that ``nearest_means`` gave."""
    if scorer.similarity != COSINE:
        raise OffsphereError(f"csls is defined for cosine, not for {scorer.similarity.name}")
    return replace(scorer, bias=DocumentBias("csls", -means / 2))


def nearest_means(scorer: Scorer, documents: Documents | Blocks, bank: Vectors, *neighbours: int) -> list[Array]:
    """Compute, for each number of neighbours, every document's mean value over that many of its best bank queries.

    A bank smaller than that is averaged whole. A query without length has the value zero with every document, as in a
    search; a document that has no value gets zero.
    """
    similarity = scorer.similarity
    if not isinstance(similarity, Polar):
        raise OffsphereError(f"a query bank works with cosine, dot and all of the polar family, not {similarity.name}")
    if not len(bank):
        raise VectorError("the query bank is empty: give at least one query vector")
    # the same search with the sides exchanged: documents look for their nearest queries
    turned = scorer.turned()
    bank_lengths = lengths(scorer.transform(bank, "query"))
    check_finite(bank_lengths, "bank query", 0, scorer)
    pointing = bank_lengths > 0
    silent = np.zeros(min(len(bank) - int(pointing.sum()), max(neighbours)))
    parts: list[list[Array]] = [[] for _ in neighbours]
    for block in Blocks.of(documents):
        scores = np.tile(silent, (len(block), 1))
        if pointing.any():
            best = search(block, bank[pointing], [turned], max(neighbours))[0].scores
            scores = np.concatenate([np.where(np.isfinite(best), best, 0), scores], axis=1)
        scores = -np.sort(-scores, axis=1)
        for part, k in zip(parts, neighbours, strict=True):
            part.append(scores[:, :k].mean(axis=1))
    return [np.concatenate(part) for part in parts]
