"""A query bank: queries by which every document, a new one too, gets its bias against hubs.

A document's bias is made from how near it is to its nearest bank queries and from nothing else, so a bank that is kept
gives the same bias to the same document whenever it comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from offsphere.base.arrays import Array, Rows, Vectors
from offsphere.base.cores import available_cores, one_blas_thread
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.base.short_repr import short_repr
from offsphere.scoring.similarity import Polar, Similarity
from offsphere.scoring.transforms import Side
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.blocks import TILE, Blocks, Documents
from offsphere.vectors.lengths import lengths

MOST_QUERIES = 8_192  # that a bank keeps: 25 MB of a scorer's file at 768 dimensions in float32
CHUNK = 4_096  # bank queries that a tile of documents is compared with at a time


class TransformFunction(Protocol):
    """What a scorer's transforms make of the vectors of a side."""

    def __call__(self, vectors: Vectors, side: Side = "document") -> Rows:
        """Transform rows of one side."""
        ...


@dataclass(frozen=True, eq=False)
class QueryBank:
    """Queries that stand for those to come, and what a document's nearness to them takes from it.

    Attributes:
        queries: their vectors as the model gave them, at most ``MOST_QUERIES`` rows.
        neighbours: over how many of its nearest bank queries a document's nearness is averaged.
        share: how much of that nearness is taken from the document's similarity.
    """

    queries: Vectors
    neighbours: int
    share: float

    __repr__ = short_repr

    def biases(self, transform: TransformFunction, similarity: Similarity, documents: Documents | Blocks) -> Array:
        """Compute the bias of documents under a scorer's transforms and similarity."""
        (means,) = nearest_means(transform, similarity, documents, self.queries, self.neighbours)
        return -self.share * means


def thin_bank(queries: Vectors) -> Vectors:
    """Leave as many queries as a bank keeps, drawn at even steps; float16 stays, all else becomes float32.

    Example:
        >>> import numpy as np
        >>> from offsphere.scoring.query_bank import thin_bank
        >>> thin_bank(np.zeros((20_000, 2))).shape, thin_bank(np.zeros((5, 2), np.float16)).dtype
        ((8192, 2), dtype('float16'))
    """
    queries = as_vectors(queries, "the bank's queries")
    if len(queries) > MOST_QUERIES:
        queries = queries[np.arange(MOST_QUERIES) * len(queries) // MOST_QUERIES]
    return np.asarray(queries, dtype=np.float16 if queries.dtype == np.float16 else np.float32)


def nearest_means(
    transform: TransformFunction,
    similarity: Similarity,
    documents: Documents | Blocks,
    queries: Vectors,
    *neighbours: int,
) -> list[Array]:
    """Compute, for each number of neighbours, every document's mean value over that many of its best bank queries.

    A bank smaller than that is averaged whole. A document that has no value gets zero, and so does a query
    without length with every document. All of it is in float64, a tile
    of documents at a time, so that neither threads nor the rest of the corpus change a digit above the 14th.

    Args:
        transform: the fitted transforms of a scorer.
        similarity: of the polar family.
        documents: document vectors, a row each.
        queries: the bank, a row each.
        neighbours: over how many of the best the mean is taken.

    Returns:
        A mean for each document, for each number of neighbours.

    Raises:
        OffsphereError: where the similarity is not of the polar family.
        VectorError: where the bank is empty, or a vector is not finite or of another dimension.
    """
    if not isinstance(similarity, Polar):
        raise OffsphereError(f"a query bank works with cosine, dot and all of the polar family, not {similarity.name}")
    if not len(queries):
        raise VectorError("the query bank is empty: give at least one query vector")
    blocks = Blocks.of(documents)
    if queries.ndim != 2:  # noqa: PLR2004
        raise VectorError(f"the query bank has shape {queries.shape}: give a row a query, (queries, dimensions)")
    bank = _mapped(queries, transform(queries, "query"), "bank query", 0)
    width = transform(blocks.parts[0][:1], "document").shape[1]
    if bank.rows.shape[1] != width:
        raise VectorError(f"the query bank has shape {bank.rows.shape}, documents have {width} dimensions")
    chunks = [_MappedRows(*(part[start : start + CHUNK] for part in bank)) for start in range(0, len(queries), CHUNK)]
    most, first = max(neighbours), 0
    parts: list[list[Array]] = [[] for _ in neighbours]
    with one_blas_thread(), ThreadPoolExecutor(available_cores()) as pool:
        for block in blocks:
            tiles = [
                pool.submit(
                    _best_values, similarity, transform, block[start : start + TILE], first + start, chunks, most
                )
                for start in range(0, len(block), TILE)
            ]
            for tile in tiles:
                best = tile.result()
                for part, k in zip(parts, neighbours, strict=True):
                    part.append(best[:, :k].mean(axis=1))
            first += len(block)
    return [np.concatenate(part) for part in parts]


class _MappedRows(NamedTuple):
    """Transformed vectors in float64, and their lengths."""

    rows: Array
    lengths: Array


def _mapped(given: Vectors, rows: Rows, kind: str, first: int) -> _MappedRows:
    """Transformed vectors with their lengths; one that is not finite, as it came or transformed, is refused."""
    row_lengths = lengths(rows)
    bad = np.flatnonzero(~np.isfinite(row_lengths))
    if len(bad):
        after = " in float32 after the transforms" if np.isfinite(given[bad[0]]).all() else ""
        raise VectorError(
            f"{kind} vector in row {first + int(bad[0])} is not finite{after}: remove it or encode it again"
        )
    return _MappedRows(rows.astype(np.float64), row_lengths)


def _best_values(
    similarity: Polar, transform: TransformFunction, tile: Rows, first: int, bank: Sequence[_MappedRows], most: int
) -> Array:
    """Find the best values of a tile's documents with bank queries, best first: (documents, at most ``most``)."""
    documents = _mapped(tile, transform(tile), "document", first)
    best = np.empty((len(tile), 0))
    for chunk in bank:
        values = similarity((documents.rows @ chunk.rows.T).T, chunk.lengths[:, None], documents.lengths).T
        values[:, chunk.lengths == 0] = 0.0  # with every document, as in a search
        best = np.concatenate([best, values], axis=1)
        if best.shape[1] > most:
            best = -np.partition(-best, most - 1, axis=1)[:, :most]
    ordered = -np.sort(-best, axis=1)
    return np.where(np.isfinite(ordered), ordered, 0.0)
