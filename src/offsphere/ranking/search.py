"""Exact top-k of many scorers in one pass over the documents.

Scorers with the same transforms share one matrix product: a block of documents is transformed once, multiplied with the
queries tile by tile, and each tile is scanned for all scorers while it is still in the cache (``kernels``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Array, Index, Rows, Vectors
from offsphere.base.cores import available_cores, one_blas_thread
from offsphere.base.errors import ParameterError, VectorError
from offsphere.base.progress import Progress
from offsphere.ranking.pairs_by_query import Pairs, PairsByQuery, pairs_of
from offsphere.scoring.corpus_biases import CorpusBiases
from offsphere.scoring.given_scorer import given_scorers
from offsphere.scoring.one_space import check_one_space
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import Similarity
from offsphere.scoring.standardize_queries import standardize_scores
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.blocks import TILE, Blocks, Documents
from offsphere.vectors.lengths import lengths

QUERY_TILE = 1024  # at most; queries are divided evenly among the threads
DOCUMENT_TILE = 2 * TILE
SHORT_BLOCK = 16 * TILE  # documents that are in memory at once, where reading or transforming them takes memory
LONG_BLOCK = 2 * SHORT_BLOCK  # else: the longer it is, the fewer documents are ranked exactly and then left behind
TOP_LISTS = 256 * 2**20  # bytes that the top lists of a search may take; more queries are searched in turns
BYTES_AN_ENTRY = 36  # in a top list and in the line before it


class TopK(NamedTuple):
    """The best documents of every query: their row numbers and their scores, best first.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> queries, documents = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [2.0, 0.0]], np.float32)
        >>> top = osp.search(queries, documents, [osp.parse_scorer("dot")], k=1)[0]
        >>> top.documents.tolist(), top.scores.tolist()
        ([[1]], [[2.0]])
    """

    documents: Index  # (queries, k)
    scores: Array  # (queries, k)

    def __repr__(self) -> str:
        """The size, not the numbers."""
        queries, k = self.documents.shape
        return f"TopK({k} documents for each of {queries} queries)"


class KeyedLists(NamedTuple):
    """A top list with the numbers by which it was ranked, so that lists of several parts of a corpus can be merged.

    Of two documents the one with the larger key comes first, of two with one key the one with the smaller number.
    """

    documents: Index  # (queries, k)
    scores: Array  # (queries, k)
    keys: Array  # (queries, k)


def search(
    queries: Vectors,
    documents: Documents | Blocks,
    scorers: Scorer | str | Sequence[Scorer | str],
    k: int = 10,
    *,
    ids: Sequence[str] | None = None,
    excluded: Pairs | None = None,
    block_rows: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[TopK]:
    """Find the ``k`` best documents of each query under each scorer, exactly; ties by document order.

    Memory is bounded by ``block_rows`` and by the answer; the result depends on neither that nor ``threads``. A query
    of length zero has no direction: it is scored as if its length were one.

    Args:
        queries: query vectors, a row each.
        documents: document vectors: an array, a memory map, or several of either.
        scorers: all of them are searched in one pass; those whose transforms do the same share a matrix product. One
            that is given by its name is fitted on the documents.
        k: how many documents a query gets; more than the corpus has gives the whole corpus.
        ids: of the documents, by which a scorer with a bias knows them, whatever their order; a document that is new
            to it gets its bias from the query bank that was kept with it.
        excluded: rows of queries, each with that of a document which it must not get, such as what a user has already.
            A query that may get fewer than ``k`` has -1 behind them, with a score of minus infinity.
        block_rows: how many documents are read at a time; unless told otherwise 16,384, and more where they are read
            where they lie.
        threads: how many threads work; all cores unless told otherwise.
        progress: is told how many documents are done.

    Returns:
        For each scorer the numbers of the best documents and their scores, (queries, k) each, best first.

    Raises:
        ParameterError: where ``k`` is below one.
        VectorError: where vectors are not finite, dimensions do not fit, a bias cannot be matched with the documents,
            or what is excluded does not exist.
        OffsphereError: where a scorer has transforms that were never fitted.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> queries = np.array([[1.0, 0.0]], np.float32)
        >>> documents = np.array([[1.0, 0.1], [9.0, 9.0], [0.0, 1.0]], np.float32)
        >>> cosine, dot = osp.search(queries, documents, ["cosine", "dot"], k=2)
        >>> cosine.documents.tolist(), dot.documents.tolist()
        ([[0, 1]], [[1, 0]])
    """
    lists = keyed_search(
        queries,
        documents,
        scorers,
        k,
        ids=ids,
        excluded=excluded,
        block_rows=block_rows,
        threads=threads,
        progress=progress,
    )
    return [TopK(top.documents, top.scores) for top in lists]


def keyed_search(
    queries: Vectors,
    documents: Documents | Blocks,
    scorers: Scorer | str | Sequence[Scorer | str],
    k: int = 10,
    *,
    ids: Sequence[str] | None = None,
    excluded: Pairs | None = None,
    block_rows: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> list[KeyedLists]:
    """Search as ``search`` does, and keep the keys by which documents were ranked."""
    if k < 1:
        raise ParameterError(f"k = {k}: ask for at least one document")
    if not scorers:
        return []
    queries, blocks = as_vectors(queries, "queries"), Blocks.of(documents, block_rows or SHORT_BLOCK)
    scorers = given_scorers(scorers, blocks)
    if queries.ndim != 2:  # noqa: PLR2004
        raise VectorError(f"queries have shape {queries.shape}: give a row a query, (queries, dimensions)")
    for scorer in scorers:
        check_one_space(scorer, queries, blocks)
    if block_rows is None and blocks.in_place and not any(scorer.transforms for scorer in scorers):
        blocks = Blocks.of(blocks, LONG_BLOCK)
    workers = threads or available_cores()
    biases = [_biases_of(scorer, ids, blocks.count) for scorer in scorers]
    withheld = PairsByQuery.of(excluded, len(queries), blocks.count)
    groups = _make_groups(queries, scorers, biases, withheld, min(k, blocks.count), blocks.count, workers)
    # one BLAS thread in each of ours: tiles stay in their core's cache, and a transform rounds the same way every time
    with one_blas_thread(), ThreadPoolExecutor(workers) as pool:
        _scan(blocks, groups, pool, progress)
        results: dict[int, KeyedLists] = {}
        for group in groups:
            results.update(group.results(pool))
    return [results[number] for number in range(len(scorers))]


def search_in_turns(
    queries: Vectors,
    documents: Documents | Blocks,
    scorers: Sequence[Scorer],
    k: int = 10,
    *,
    ids: Sequence[str] | None = None,
    excluded: Pairs | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Index, list[TopK]]]:
    """Search as ``search`` does, as many queries at a time as their top lists have room in memory.

    Yields:
        The numbers of the queries of this turn, and for each scorer their best documents.
    """
    for chosen in query_turns(len(queries), len(scorers), k):
        some = pairs_of(excluded, chosen)
        yield chosen, search(queries[chosen], documents, scorers, k, ids=ids, excluded=some, progress=progress)


def query_turns(queries: int, scorers: int, k: int) -> Iterator[Index]:
    """Give the numbers of as many queries at a time as their top lists have room in memory."""
    turn = max(1, TOP_LISTS // (max(scorers, 1) * (2 * k + 64) * BYTES_AN_ENTRY))
    for start in range(0, queries, turn):
        yield np.arange(start, min(start + turn, queries))


@dataclass(slots=True, kw_only=True)
class _Group:
    """Scorers whose transforms do the same, and the state of their search."""

    members: list[tuple[int, Scorer]]
    biases: list[CorpusBiases | None]  # of each member
    withheld: PairsByQuery
    given: Vectors  # the queries as they came
    queries: Rows  # transformed
    query_lengths: Array
    factors: Array  # (queries, scorers)
    tops: tuple[NDArray[np.void], Index, Array]  # entries, how many, k-th best key
    document_lengths: Array
    k: int
    query_tile: int
    plan: tuple[Index, Array] = field(init=False)
    desks: list[_Desk] = field(default_factory=list)  # memory that no thread works in just now

    def __post_init__(self) -> None:
        forms = np.array([int(scorer.similarity.form) for _, scorer in self.members])
        gaps = np.array([scorer.similarity.gap_weight for _, scorer in self.members])
        self.plan = (forms, gaps)

    def tiles(self) -> range:
        """Give the numbers of the queries with which tiles start."""
        return range(0, len(self.queries), self.query_tile)

    def free_desk(self) -> _Desk:
        """Take a desk that was used before, or make one where none is free."""
        try:
            return self.desks.pop()
        except IndexError:
            return _Desk.of(self)

    def results(self, pool: ThreadPoolExecutor) -> dict[int, KeyedLists]:
        """Sort the top lists and turn inner products back into values, by the scorers' numbers."""
        parts = [[pool.submit(self._rank, s, start) for start in self.tiles()] for s in range(len(self.members))]
        answer = {}
        for (number, _), futures in zip(self.members, parts, strict=True):
            columns = zip(*(future.result() for future in futures), strict=True)
            answer[number] = KeyedLists(*(np.concatenate(column) for column in columns))
        return answer

    def _rank(self, s: int, start: int) -> KeyedLists:
        """Rank the documents of one tile of queries under one scorer."""
        from offsphere.ranking.kernels import best_entries

        _, scorer = self.members[s]
        chosen = slice(start, start + self.query_tile)
        entries, sizes, _ = self.tops
        keys, documents, dots = best_entries(entries[chosen], sizes[chosen], s, self.k)
        order = ranking_order(keys)
        keys, documents, dots = (np.take_along_axis(part, order, axis=1) for part in (keys, documents, dots))
        query_lengths = query_divisors(self.query_lengths[chosen], scorer.similarity)[:, None]
        with np.errstate(over="ignore", invalid="ignore"):
            scores = scorer.similarity(dots, query_lengths, self.document_lengths[documents])
        biases = self.biases[s]
        if biases is not None:
            scores = scores + biases.values[documents]
        scores = standardize_scores(scorer, self.given[chosen], scores)
        scores = np.where(documents >= 0, scores, -np.inf)
        # key and value round differently: let the last bit not contradict the order
        return KeyedLists(documents, np.minimum.accumulate(scores, axis=1), keys)


@dataclass(slots=True)
class _Desk:
    """The memory that a thread works in, kept from block to block, since memory fresh from the system is slow."""

    product: Rows  # of a tile, flat
    lines: Any  # the kernels' Lines, (queries, scorers, capacity)
    waiting: Index  # how many in each line: none between two blocks
    scratch: Array

    @classmethod
    def of(cls, group: _Group) -> _Desk:
        """Make a desk for any tile of a group's queries."""
        from offsphere.ranking.kernels import Lines

        shape = (group.query_tile, len(group.members))
        capacity = 2 * group.k + 64
        scratch = np.empty((2, max(capacity, group.tops[0].shape[2])))
        product = np.empty(group.query_tile * DOCUMENT_TILE, np.float32)
        columns: tuple[Any, ...] = tuple(
            np.empty((*shape, capacity), kind) for kind in (np.float32, np.float32, np.int32)
        )
        return cls(product, Lines(*columns), np.zeros(shape, np.int64), scratch)

    def work(self, queries: int, documents: int) -> tuple[Any, ...]:
        """Give the arrays that the kernels work with; the last two remember the exact inner products of one query."""
        memory = (np.full(documents, -1, np.int32), np.empty(documents))
        lines = type(self.lines)(*(column[:queries] for column in self.lines))
        return (lines, self.waiting[:queries], self.scratch, *memory)


class _GroupBlock(NamedTuple):
    """A block of documents as one group of scorers sees it."""

    documents: Rows
    lengths: Array
    terms: tuple[Array, Array, Rows, Rows]  # weights, offsets (scorers, documents), and both in float32


def _biases_of(scorer: Scorer, ids: Sequence[str] | None, count: int) -> CorpusBiases | None:
    """Look up a scorer's biases; what cannot be matched is told with the scorer's name."""
    try:
        return CorpusBiases.of(scorer, ids, count)
    except VectorError as error:
        raise VectorError(f"{scorer.name}: {error}") from error


def _make_groups(
    queries: Vectors,
    scorers: Sequence[Scorer],
    biases: Sequence[CorpusBiases | None],
    withheld: PairsByQuery,
    k: int,
    count: int,
    workers: int,
) -> list[_Group]:
    """Put scorers whose transforms do the same into one group, and transform the queries once for each group."""
    from offsphere.ranking.kernels import ENTRY

    by_map: dict[str, list[tuple[int, Scorer]]] = {}
    for number, scorer in enumerate(scorers):
        by_map.setdefault(scorer.map_key, []).append((number, scorer))
    groups = []
    for members in by_map.values():
        mapped = np.ascontiguousarray(members[0][1].transform(queries, "query"))
        query_lengths = lengths(mapped)
        check_finite(query_lengths, "query", 0, members[0][1])
        with np.errstate(over="ignore"):
            factors = [s.similarity.query_factor(query_divisors(query_lengths, s.similarity)) for _, s in members]
        shape = (len(mapped), len(members))
        entries = np.empty((*shape, 2 * k + 16), ENTRY)
        groups.append(
            _Group(
                members=members,
                biases=[biases[number] for number, _ in members],
                withheld=withheld,
                given=queries,
                queries=mapped,
                query_lengths=query_lengths,
                factors=np.stack(factors, axis=1),
                tops=(entries, np.zeros(shape, np.int64), np.full(shape, np.nan)),
                document_lengths=np.empty(count),
                k=k,
                query_tile=_even_tile(len(mapped), workers),
            )
        )
    return groups


def _scan(blocks: Blocks, groups: list[_Group], pool: ThreadPoolExecutor, progress: Progress | None) -> None:
    """Scan all blocks for all groups, and prepare the next block while the current one is scanned."""
    done = 0
    running: list[Future[None]] = []
    for block in blocks:
        preparing = [pool.submit(_prepare, group, block, done) for group in groups]
        ready = [future.result() for future in preparing]
        for future in running:
            future.result()
        running = [
            pool.submit(_scan_queries, group, group_block, done, start)
            for group, group_block in zip(groups, ready, strict=True)
            for start in group.tiles()
        ]
        done += len(block)
        if progress is not None:
            progress(done, blocks.count)
    for future in running:
        future.result()


def _prepare(group: _Group, block: Rows, first: int) -> _GroupBlock:
    """Transform a block, measure it, and work out what its documents give to each scorer's key."""
    scorer = group.members[0][1]  # whose transforms are those of the whole group
    tiles = [scorer.transform(block[start : start + TILE]) for start in range(0, len(block), TILE)]
    documents = block if not scorer.transforms else np.concatenate(tiles)
    document_lengths = lengths(documents)
    check_finite(document_lengths, "document", first, scorer)
    group.document_lengths[first : first + len(block)] = document_lengths
    weights = np.empty((len(group.members), len(block)))
    offsets = np.empty_like(weights)
    with np.errstate(over="ignore", invalid="ignore"):  # what float32 cannot hold is ranked in float64
        for s, (_, member) in enumerate(group.members):
            weights[s], offsets[s] = member.similarity.document_terms(document_lengths)
            biases = group.biases[s]
            if biases is not None:
                offsets[s] += biases.of_block(block, first)
        terms = (weights, offsets, weights.astype(np.float32), offsets.astype(np.float32))
    return _GroupBlock(documents, document_lengths, terms)


def _scan_queries(group: _Group, block: _GroupBlock, first: int, start: int) -> None:
    """Scan one tile of queries against all tiles of a block of documents."""
    from offsphere.ranking.kernels import rank_block, scan_tile

    desk = group.free_desk()
    chosen = slice(start, start + group.query_tile)
    queries, factors = group.queries[chosen], group.factors[chosen]
    tops = tuple(part[chosen] for part in group.tops)
    sides = (_read_only(queries), _read_only(block.documents), group.query_lengths[chosen], block.lengths, factors)
    work = desk.work(len(queries), len(block.documents))
    withheld = group.withheld.of_queries(start, len(queries))
    for tile in range(0, len(block.documents), DOCUMENT_TILE):
        documents = block.documents[tile : tile + DOCUMENT_TILE]
        product = desk.product[: len(queries) * len(documents)].reshape(len(queries), -1)
        with np.errstate(over="ignore", invalid="ignore"):  # such products are not trusted but computed in float64
            np.matmul(queries, documents.T, out=product)
        scan_tile(product, tile, sides, first, group.k, group.plan, block.terms, tops, work, withheld)
    rank_block(sides, first, group.k, group.plan, block.terms, tops, work)
    group.desks.append(desk)


def ranking_order(keys: Array) -> Index:
    """Order the keys of each list, which stand in document order: largest first, of equal ones the first first.

    The fast sort may shuffle equal keys, so lists that have some are sorted again by one that does not.
    """
    order = np.argsort(-keys, axis=1)
    ranked = np.take_along_axis(keys, order, axis=1)
    tied = (ranked[:, 1:] == ranked[:, :-1]).any(axis=1)
    order[tied] = np.argsort(-keys[tied], axis=1, kind="stable")
    return order


def check_finite(row_lengths: Array, side: str, first: int, scorer: Scorer) -> None:
    """Refuse vectors whose lengths are not finite, as they were given or after the scorer's transforms."""
    bad = np.flatnonzero(~np.isfinite(row_lengths))
    if len(bad):
        after = f" in float32 after {' + '.join(part.name for part in scorer.transforms)}" if scorer.transforms else ""
        raise VectorError(
            f"{side} vector in row {first + int(bad[0])} is not finite{after}: remove it or encode it again"
        )


def _read_only(rows: Rows) -> Rows:
    """Give a view that cannot be written to: of a memory map or not, it is one type to compiled code."""
    view = rows.view()
    view.flags.writeable = False
    return view


def _even_tile(queries: int, workers: int) -> int:
    """Compute how many queries make a tile, so that all threads get equally many tiles of equal size."""
    rounds = max(1, -(-queries // (workers * QUERY_TILE)))
    return max(1, -(-queries // (workers * rounds)))


def query_divisors(query_lengths: Array, similarity: Similarity) -> Array:
    """Replace a length of zero by one, where the similarity divides by the query's length."""
    return np.where(query_lengths > 0, query_lengths, 1.0) if similarity.divides_by_query else query_lengths
