"""Document biases against hubs: take from each document what it gets from any query at all.

A hub is a document near to everything. Both corrections measure, on a bank of queries, how near a document is to its
nearest bank queries, and subtract that; both lower to one extra coordinate. Given the documents' ids, the bias follows
them, and the bank is kept so that new documents get theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from offsphere.base.arrays import Array, Vectors
from offsphere.base.errors import OffsphereError
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.given_scorer import given_scorer
from offsphere.scoring.query_bank import QueryBank, nearest_means, thin_bank
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.vectors.blocks import Blocks, Documents

NNN_NEIGHBOURS = 128
CSLS_NEIGHBOURS = 10


def nnn(
    scorer: Scorer | str,
    documents: Documents | Blocks,
    bank: Vectors,
    alpha: float = 0.75,
    k: int = NNN_NEIGHBOURS,
    *,
    ids: Sequence[str] | None = None,
) -> Scorer:
    """Add nearest-neighbour normalisation: ``s - alpha * mean(top-k of s(bank query, d))`` (Chowdhury et al. 2024).

    Args:
        scorer: cosine, dot product or any other of the polar family, fitted where it has transforms; or its name, and
            it is fitted on the documents.
        documents: the corpus that will be searched.
        bank: vectors of queries that stand for those to come; of more than 8,192, that many at even steps are taken.
        alpha: how much of a document's nearness to all queries is taken away.
        k: over how many of its nearest bank queries that nearness is averaged.
        ids: of the documents. With them the bias follows each document, in any order and company, and the bank is kept
            for new ones. Without them it goes by row number, for this corpus in this order alone.

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
        >>> scorer = osp.nnn("cosine", documents, bank, alpha=1.0, k=2)
        >>> scorer.name, scorer.bias.values.round(3).tolist()
        ('cosine + nnn(1)', [-0.832, -0.588])
        >>> named = osp.nnn(osp.Scorer(), documents, bank, ids=["hub", "other"])
        >>> osp.search(bank[:1], documents[::-1], [named], k=1, ids=["other", "hub"])[0].documents.tolist()
        [[0]]
    """
    scorer = given_scorer(scorer, documents)
    kept = thin_bank(bank)
    (means,) = nearest_means(scorer.transform, scorer.similarity, documents, kept, k)
    return with_nnn(scorer, means, alpha, ids=ids, bank=kept, k=k)


def csls(
    scorer: Scorer | str,
    documents: Documents | Blocks,
    bank: Vectors,
    k: int = CSLS_NEIGHBOURS,
    *,
    ids: Sequence[str] | None = None,
) -> Scorer:
    """Add cross-domain similarity local scaling: ``2 c - r(q) - r(d)`` (Conneau et al. 2018, arXiv:1710.04087).

    It ranks as ``c - r(d) / 2``, which is what this scorer computes; r(d) is the mean cosine to the k nearest bank
    queries.

    Args:
        scorer: cosine, fitted where it has transforms; or its name, as for ``nnn``.
        documents: the corpus that will be searched.
        bank: vectors of queries that stand for those to come; of more than 8,192, that many at even steps are taken.
        k: over how many of its nearest bank queries a document's nearness is averaged.
        ids: of the documents, as for ``nnn``.

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
    scorer = given_scorer(scorer, documents)
    kept = thin_bank(bank)
    (means,) = nearest_means(scorer.transform, scorer.similarity, documents, kept, k)
    return with_csls(scorer, means, ids=ids, bank=kept, k=k)


def with_nnn(
    scorer: Scorer,
    means: Array,
    alpha: float,
    *,
    ids: Sequence[str] | None = None,
    bank: Vectors | None = None,
    k: int = NNN_NEIGHBOURS,
) -> Scorer:
    """Add nearest-neighbour normalisation from means that ``nearest_means`` gave; with ids the bank is kept."""
    return _with_bias(scorer, f"nnn({alpha:g})", means, alpha, ids, bank, k)


def with_csls(
    scorer: Scorer,
    means: Array,
    *,
    ids: Sequence[str] | None = None,
    bank: Vectors | None = None,
    k: int = CSLS_NEIGHBOURS,
) -> Scorer:
    """Add cross-domain similarity local scaling from means that ``nearest_means`` gave; with ids the bank is kept."""
    if scorer.similarity != COSINE:
        raise OffsphereError(f"csls is defined for cosine, not for {scorer.similarity.name}")
    return _with_bias(scorer, "csls", means, 0.5, ids, bank, k)


def _with_bias(
    scorer: Scorer, name: str, means: Array, share: float, ids: Sequence[str] | None, bank: Vectors | None, k: int
) -> Scorer:
    """Take a share of the means from the documents' scores."""
    kept = QueryBank(bank, k, share) if ids is not None and bank is not None else None
    return replace(scorer, bias=DocumentBias(name, -share * means, ids, kept))
