"""What a token tells of the tokens around it: the divergence of its company from that of any token."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.encode.encoder import Tokens

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WINDOW = 5  # tokens on each side that count as company


def information(tokens: Tokens, ids: Index, window: int = WINDOW) -> Array:
    """How much each token tells of its company: ``KL(p(c | w) || p(c))`` in nats (Oyama et al. 2023, arXiv:2212.09663).

    Args:
        tokens: Of all texts.
        ids: The distinct tokens, rising.
        window: How many tokens on each side are company.

    Returns:
        A number for each of ``ids``; no number for a token that never has company.

    Example:
        >>> import numpy as np
        >>> tokens = Tokens.of([[0, 1], [0, 1], [2, 3], [2, 3]])
        >>> (information(tokens, np.arange(4)) / np.log(4)).round(6).tolist()  # each names one of four companions
        [1.0, 1.0, 1.0, 1.0]
    """
    counts = _company(tokens, ids, window)
    around = np.asarray(counts.sum(axis=1), np.float64)
    share = around / max(float(around.sum()), 1.0)  # company is mutual
    rows = np.repeat(np.arange(len(ids)), np.diff(counts.indptr))
    given = counts.data / around[rows]
    sums = np.bincount(rows, given * np.log(given / share[counts.indices]), minlength=len(ids))
    return np.where(around > 0, sums, np.nan)


def information_by_chance(tokens: Tokens, ids: Index, window: int = WINDOW, seed: int = 0) -> Array:
    """The information in shuffled texts: what so many occurrences seem to tell where they tell nothing.

    A token that occurs five times has little company, and that little is never like all company. What is left of the
    divergence when this is taken away is what Oyama et al. hold against the squared length.

    Args:
        tokens: Of all texts.
        ids: The distinct tokens, rising.
        window: How many tokens on each side are company.
        seed: Of the shuffling.

    Returns:
        A number for each of ``ids``.
    """
    return information(Tokens(np.random.default_rng(seed).permutation(tokens.ids), tokens.ends), ids, window)


def _company(tokens: Tokens, ids: Index, window: int) -> csr_array:
    """How often each token stands near each other one in a text, one distance after the other."""
    from scipy.sparse import coo_array

    rows = np.searchsorted(ids, tokens.ids)
    text_of = np.repeat(np.arange(len(tokens.ends)), np.diff(tokens.ends, prepend=0))
    total = coo_array((len(ids), len(ids))).tocsr()
    for distance in range(1, window + 1):
        together = np.flatnonzero(text_of[distance:] == text_of[: max(len(text_of) - distance, 0)])
        first, second = rows[together], rows[together + distance]
        ones = np.ones(len(first))
        total = total + coo_array((ones, (first, second)), shape=total.shape).tocsr()
    return (total + total.T).tocsr()
