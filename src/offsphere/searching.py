"""Exact top-k of many scorers in one pass over the documents.

Scorers with the same transforms share one matrix product: a block of documents is transformed once, multiplied with the
queries tile by tile, and each tile is scanned for all scorers while it is still in the cache (``kernels``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.blocks import TILE, Blocks, Documents
from offsphere.calibration import standardized
from offsphere.errors import ParameterError, VectorError
from offsphere.lengths import lengths
from offsphere.scorer import Scorer
from offsphere.similarity import Similarity

QUERY_TILE = 256

Array = NDArray[np.float64]
Rows = NDArray[np.float32]
Progress = Callable[[int, int], None]  # documents done, documents in all


class TopK(NamedTuple):
    """The best documents of every query: their numbers and their values, best first."""

    documents: NDArray[np.int64]  # (queries, k)
    scores: Array  # (queries, k)


def search(
    queries: NDArray[np.floating],
    documents: Documents | Blocks,
    scorers: Sequence[Scorer],
    k: int = 10,
    *,
    block_rows: int = 8 * TILE,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[TopK]:
    """The ``k`` best documents of each query under each scorer, exactly; ties by document order.

    Memory is bounded by ``block_rows`` and by the answer; the result depends on neither that nor ``threads``. A ``k``
    larger than the corpus gives the whole corpus. A query of length zero has no direction: it is scored as if its
    length were one.
    """
    from threadpoolctl import threadpool_limits

    if k < 1:
        raise ParameterError(f"k = {k}: ask for at least one document")
    if not scorers:
        return []
    blocks = Blocks.of(documents, block_rows)
    if queries.ndim != 2 or queries.shape[1] != blocks.dimension:  # noqa: PLR2004
        raise VectorError(f"queries have shape {queries.shape}, documents have {blocks.dimension} dimensions")
    groups = _grouped(queries, scorers, min(k, blocks.count), blocks.count)
    workers = threads or _available_cores()
    # one BLAS thread in each of ours: tiles stay in their core's cache, and a transform rounds the same way every time
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        _scan(blocks, groups, pool, progress)
    results: dict[int, TopK] = {}
    for group in groups:
        results.update(group.results())
    return [results[number] for number in range(len(scorers))]


@dataclass(slots=True)
class _Group:
    """Scorers that share a transform, and the state of their search."""

    members: list[tuple[int, Scorer]]
    given: NDArray[np.floating]  # the queries as they came
    queries: Rows  # transformed
    query_lengths: Array
    factors: Array  # (queries, scorers)
    tops: tuple[NDArray[np.void], NDArray[np.int64], Array]  # entries, how many, k-th best key
    document_lengths: Array
    k: int
    plan: tuple[NDArray[np.int64], Array] = field(init=False)

    def __post_init__(self) -> None:
        forms = np.array([int(scorer.similarity.form) for _, scorer in self.members])
        gaps = np.array([scorer.similarity.parameters.get("weight", 0.0) for _, scorer in self.members])
        self.plan = (forms, gaps)

    def results(self) -> dict[int, TopK]:
        """Sort the lists and turn inner products back into values."""
        entries, sizes, _ = self.tops
        answer = {}
        for s, (number, scorer) in enumerate(self.members):
            filled = np.arange(entries.shape[2]) < sizes[:, s, None]
            found = entries[:, s]
            order = np.lexsort((found["document"], -found["key"], ~filled), axis=1)[:, : self.k]
            best = np.take_along_axis(found, order, axis=1)
            own = _directed(self.query_lengths, scorer.similarity)[:, None]
            scores = scorer.similarity(best["dot"], own, self.document_lengths[best["document"]])
            if scorer.bias is not None:
                scores = scores + scorer.bias.values[best["document"]]
            scores = standardized(scorer, self.given, scores)
            # key and value round differently: let the last bit not contradict the order
            answer[number] = TopK(best["document"].copy(), np.minimum.accumulate(scores, axis=1))
        return answer


class _Prepared(NamedTuple):
    """A block of documents as one group sees it."""

    documents: Rows
    lengths: Array
    terms: tuple[Array, Array, Rows, Rows]  # weights, offsets (scorers, documents), and both in float32


def _grouped(queries: NDArray[np.floating], scorers: Sequence[Scorer], k: int, count: int) -> list[_Group]:
    from offsphere.kernels import ENTRY

    by_map: dict[int, list[tuple[int, Scorer]]] = {}
    for number, scorer in enumerate(scorers):
        if scorer.bias is not None and len(scorer.bias.values) != count:
            raise VectorError(f"{scorer.name}: the bias is of {len(scorer.bias.values)} documents, there are {count}")
        by_map.setdefault(id(scorer.map) if scorer.transforms else 0, []).append((number, scorer))
    groups = []
    for members in by_map.values():
        mapped = np.ascontiguousarray(members[0][1].transform(queries))
        own = lengths(mapped)
        if not np.isfinite(own).all():
            row = int(np.flatnonzero(~np.isfinite(own))[0])
            raise VectorError(f"query vector in row {row} is not finite: remove it or encode it again")
        factors = [s.similarity.query_factor(_directed(own, s.similarity)) for _, s in members]
        shape = (len(mapped), len(members))
        entries = np.empty((*shape, k + k // 2 + 16), ENTRY)
        tops = (entries, np.zeros(shape, np.int64), np.full(shape, np.nan))
        groups.append(_Group(members, queries, mapped, own, np.stack(factors, axis=1), tops, np.empty(count), k))
    return groups


def _scan(blocks: Blocks, groups: list[_Group], pool: ThreadPoolExecutor, progress: Progress | None) -> None:
    """Prepare the next block while the current one is scanned."""
    done = 0
    running: list[Future[None]] = []
    for block in blocks:
        preparing = [pool.submit(_prepare, group, block, done) for group in groups]
        prepared = [future.result() for future in preparing]
        for future in running:
            future.result()
        running = [
            pool.submit(_scan_queries, group, ready, done, start)
            for group, ready in zip(groups, prepared, strict=True)
            for start in range(0, len(group.queries), QUERY_TILE)
        ]
        done += len(block)
        if progress is not None:
            progress(done, blocks.count)
    for future in running:
        future.result()


def _prepare(group: _Group, block: Rows, first: int) -> _Prepared:
    """Transform a block, measure it, and work out what its documents give to each scorer's key."""
    transform = group.members[0][1]
    tiles = [transform.transform(block[start : start + TILE]) for start in range(0, len(block), TILE)]
    documents = block if not transform.transforms else np.concatenate(tiles)
    own = lengths(documents)
    if not np.isfinite(own).all():
        row = first + int(np.flatnonzero(~np.isfinite(own))[0])
        raise VectorError(f"document vector in row {row} is not finite: remove it or encode it again")
    group.document_lengths[first : first + len(block)] = own
    weights = np.empty((len(group.members), len(block)))
    offsets = np.empty_like(weights)
    for s, (_, scorer) in enumerate(group.members):
        weights[s], offsets[s] = scorer.similarity.document_terms(own)
        if scorer.bias is not None:
            offsets[s] += scorer.bias.values[first : first + len(block)]
    with np.errstate(over="ignore"):
        terms = (weights, offsets, weights.astype(np.float32), offsets.astype(np.float32))
    return _Prepared(documents, own, terms)


def _scan_queries(group: _Group, ready: _Prepared, first: int, start: int) -> None:
    """One tile of queries against all tiles of a block."""
    from offsphere.kernels import scan_tile

    chosen = slice(start, start + QUERY_TILE)
    queries, query_lengths, factors = group.queries[chosen], group.query_lengths[chosen], group.factors[chosen]
    tops = tuple(part[chosen] for part in group.tops)
    buffer = np.empty((len(queries), min(TILE, len(ready.documents))), np.float32)
    for tile in range(0, len(ready.documents), TILE):
        rows = slice(tile, tile + TILE)
        documents = ready.documents[rows]
        product = np.matmul(queries, documents.T, out=buffer) if len(documents) == TILE else queries @ documents.T
        sides = (queries, documents, query_lengths, ready.lengths[rows])
        terms = tuple(np.ascontiguousarray(part[:, rows]) for part in ready.terms)
        scan_tile(product, sides, first + tile, group.k, group.plan, terms, factors, tops)


def _directed(query_lengths: Array, similarity: Similarity) -> Array:
    """A query without length cannot be divided by it: take one instead."""
    return np.where(query_lengths > 0, query_lengths, 1.0) if similarity.divides_by_query else query_lengths


def _available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
