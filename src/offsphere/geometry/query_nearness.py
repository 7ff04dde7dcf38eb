"""How near each document is to queries that do not want it, learned without one fold of the queries at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Array, Index, Rows, Vectors
from offsphere.base.spilled import gather_rows
from offsphere.ranking.pairs_by_query import Pairs
from offsphere.vectors.lengths import lengths

DOCUMENTS_AT_ONCE = 4_096  # whose cosines with all queries are in memory


def nearness_by_fold(
    queries: Vectors, documents: Vectors, wanted: Pairs, folds: Index, neighbours: Sequence[int]
) -> list[list[Array]]:
    """The mean cosine of each document with its nearest queries, those of one fold left out.

    Queries that want the document are left out too: where each document is wanted once, they would tell which are taken
    already.

    Args:
        queries: A row each.
        documents: A row each; may be a memory map.
        wanted: Rows of the queries, each with that of a document that it wants.
        folds: The fold of each query.
        neighbours: Over how many of the nearest queries a mean goes; several numbers give several means.

    Returns:
        For each fold, and for each number of neighbours, the mean of each document.

    Example:
        >>> import numpy as np
        >>> queries, documents = np.eye(2, dtype=np.float32), np.array([[1, 0], [0, 2]], np.float32)
        >>> first, second = nearness_by_fold(queries, documents, (np.array([0]), np.array([1])), np.array([0, 1]), [1])
        >>> first[0].tolist(), second[0].tolist()  # without the first query, without the second, which is a wanted one
        ([0.0, 1.0], [1.0, -1.0])
    """
    asked = unit_rows(queries)
    others = [np.flatnonzero(folds != fold) for fold in range(int(folds.max()) + 1)]
    means: list[list[list[Array]]] = [[[] for _ in neighbours] for _ in others]
    for start in range(0, len(documents), DOCUMENTS_AT_ONCE):
        cosines = unit_rows(documents[start : start + DOCUMENTS_AT_ONCE]) @ asked.T  # (documents, queries)
        inside = (wanted[1] >= start) & (wanted[1] < start + len(cosines))
        cosines[wanted[1][inside] - start, wanted[0][inside]] = -1.0
        for own, rows in zip(means, others, strict=True):
            nearest = _largest(cosines[:, rows], max(neighbours))
            for part, count in zip(own, neighbours, strict=True):
                part.append(nearest[:, :count].mean(axis=1, dtype=np.float64))
    return [[np.concatenate(part) for part in own] for own in means]


def unit_rows(rows: Vectors, factors: Array | None = None) -> Rows:
    """Rows of length one, or as long as their factors; a row without length stays without."""
    rows = np.asarray(rows)
    sizes = lengths(rows)
    scale = np.divide(1.0 if factors is None else factors, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return np.asarray(rows * scale[:, None], np.float32)


def rows_of_lengths(rows: Vectors, factors: Array) -> Rows:
    """Rows as long as their factors, made a few at a time; in memory where all are small, else in a mapped file.

    Args:
        rows: May be a memory map, or lie in parts.
        factors: How long each becomes; a row without length stays without.
    """
    starts = range(0, len(rows), DOCUMENTS_AT_ONCE)
    cuts = (slice(start, start + DOCUMENTS_AT_ONCE) for start in starts)
    blocks = (unit_rows(rows[cut], factors[cut]) for cut in cuts)
    return gather_rows(blocks, (len(rows), rows.shape[1]), np.float32, "a copy of the documents")


def _largest(rows: Rows, count: int) -> Rows:
    """The largest numbers of each row, the largest first."""
    behind = max(rows.shape[1] - count, 0)
    kept = np.partition(rows, behind, axis=1)[:, behind:] if behind else rows
    return -np.sort(-kept, axis=1)
