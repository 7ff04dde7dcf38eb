"""The compiled inner loops of search: a fast float32 test that loses no document, an exact float64 ranking behind it.

One tile is some queries times some documents. The float32 product of a tile is trusted only up to its rounding error: a
document whose key *may* be above the query's current k-th best waits in line, with an interval that holds its key; all
others are skipped by a test that vectorises, at about 0.1 ns a score. At the end of a block what still waits in the
lines is ranked in float64. So results are exact, and do not depend on how the matrix product was cut up.

What keeps it fast besides the test: a query's first tile gives a bound at once (``first_bound``). Scorers take turns
over a few queries, so that what the documents give to a scorer stays in the nearest cache. A full line is first
shortened by its intervals alone, so that in the first block, where thresholds are low, few exact products are wasted.
Exact products are shared by the scorers of a query, and their documents are asked for ahead. A list is pruned to its k
best only when it has grown by half. And what is done for a query is done in a loop over some queries, not in a function
of its own: numba counts references to every array that it hands over, which costs more than to test a row.

All of it stands in one file, though it is long: numba keeps what it compiled for as long as this file does not change,
and does not ask whether a function that was imported has. So a line that imports some names the source they came from:
``machine_words`` has what numba has no word for.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: positions count
the documents of a block, lists have room for k of them, and ``search`` makes all arrays for the shapes at hand. What
does come from files is checked there first: that queries and documents are of one width, as many biases as documents,
and every length finite.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from offsphere.ranking.machine_words import (
    CHUNK,
    affine_bits,
    lowest_bit,
    positive_bits,
    prefetch_row,
)  # source f81db5f67fec
from offsphere.vectors.dot_kernels import exact_dot  # source 856c3db53220

NEAR = 32  # queries whose part of a tile's product stays in a core's own cache, while it is scanned for all scorers
AHEAD = 3  # documents that are on their way from memory while one is multiplied
ROUNDING = 2.0**-23  # twice the unit round-off of float32
SMALLEST = 2.0**-149  # the least positive float32: what an underflow may lose, per product
TINY = 1e-30  # squared query lengths below this are not trusted to float32
LARGE = 1e37  # nothing beyond this, or below its inverse, is trusted to float32
DEALT = 4  # documents a hand in first_bound; with fewer the bound is too low to save anything
COSINE_ERROR = 5e-6  # of the series in mark_gap_above: the first term left out, and some rounding

ENTRY = np.dtype([("key", np.float64), ("document", np.int64), ("dot", np.float64)])

AFFINE, RATIO, GAP = 0, 1, 2  # offsphere.scoring.similarity.Form, as numba wants constants


class Lines(NamedTuple):
    """The documents that wait, of every query under every scorer, in document order: (queries, scorers, capacity)."""

    lowers: NDArray[np.float32]  # the interval that holds a document's key
    uppers: NDArray[np.float32]
    positions: NDArray[np.int32]  # of the document in its block


@njit(cache=True, nogil=True)
def scan_tile(
    product: Any, begin: int, sides: Any, first: int, k: int, plan: Any, terms: Any, tops: Any, work: Any, withheld: Any
) -> None:
    """Let every document of a tile that may be among a query's k best wait in line, for all scorers of one transform.

    ``product`` (queries, documents) is the float32 matrix product of the queries and the documents ``begin`` ... of the
    block; for the other arguments see ``rank_block``. The documents in line have intervals that hold their keys.
    ``withheld`` = where each query's begin, and the numbers of the documents that it must not get, rising: they never
    stand in line, so that a list needs to be no deeper for them.
    """
    weights, offsets, weights32, offsets32 = terms
    queries, count = product.shape
    extents = tile_extents(weights, offsets, sides[3], begin, count)
    rows = min(NEAR, queries)
    tests = np.empty((3, rows))
    hits, counts = np.empty((rows, count + 1), np.int32), np.empty(rows, np.int64)
    marks = np.empty(count, np.float32)
    for start in range(0, queries, NEAR):
        stop = min(start + NEAR, queries)
        dots, factors = product[start:stop], sides[4][start:stop]
        for s in range(weights.shape[0]):
            own = weights32[s, begin : begin + count], offsets32[s, begin : begin + count]
            set_bars(s, start, dots, begin, sides, first, k, plan, own, tops, work, withheld, extents[s], marks, tests)
            collect(plan, s, dots, factors, own, tests, marks, hits, counts)
            stand_in_line(
                s, start, dots, begin, sides, first, k, plan, terms, own, tops, work, withheld, tests, hits, counts
            )


@njit(cache=True, nogil=True)
def set_bars(
    s: int, start: int, dots: Any, begin: int, sides: Any, first: int, k: int, plan: Any, own: Any, tops: Any,
    work: Any, withheld: Any, extents: Any, marks: Any, tests: Any,
) -> None:  # fmt: skip
    """Write for each of some queries how far a key may be off, its cosine, and what a float32 key has to exceed."""
    _, documents, query_lengths, _, factors = sides
    form, gap = plan[0][s], plan[1][s]
    weights, offsets = own
    thresholds, scratch = tops[2], work[2]
    dealt = np.empty(scratch.shape[1], np.int64)
    for i in range(start, start + dots.shape[0]):
        factor = factors[i, s]
        slack, nearer = rounding_errors(form, gap, factor, query_lengths[i], documents.shape[1], extents)
        if np.isnan(thresholds[i, s]) and slack < np.inf:
            gone_from, gone_to = held_inside(withheld, i, first + begin, first + begin + dots.shape[1])
            # as many more as the query must not get of this tile: k of them it may
            thresholds[i, s] = first_bound(
                form, gap, factor, slack, nearer, k + gone_to - gone_from,
                dots[i - start], weights, offsets, marks, dealt, scratch,
            )  # fmt: skip
        threshold = thresholds[i, s]
        # no number where nothing is trusted: an overflow to minus infinity must pass too
        tests[0, i - start] = threshold - slack - 8 * ROUNDING * abs(threshold) if slack < np.inf else np.nan
        tests[1, i - start], tests[2, i - start] = slack, nearer


@njit(cache=True, nogil=True)
def stand_in_line(
    s: int, start: int, dots: Any, begin: int, sides: Any, first: int, k: int, plan: Any, terms: Any, own: Any,
    tops: Any, work: Any, withheld: Any, tests: Any, hits: Any, counts: Any,
) -> None:  # fmt: skip
    """Put the documents that were hit into the lines of their queries, with intervals that hold their keys."""
    form, gap, factors = plan[0][s], plan[1][s], sides[4]
    weights, offsets = own
    thresholds, (lines, waiting, scratch, _, _) = tops[2], work
    lowers, uppers, positions = lines.lowers, lines.uppers, lines.positions
    for r in range(dots.shape[0]):
        i = start + r
        gone_from, gone_to = held_inside(withheld, i, first + begin, first + begin + dots.shape[1])
        if gone_from < gone_to:
            counts[r] = without(withheld.documents[gone_from:gone_to], first + begin, hits[r], counts[r])
        for h in range(counts[r]):
            j = np.int64(hits[r, h])
            lower, upper = bounds(
                form, gap, factors[i, s], dots[r, j], weights[j], offsets[j], tests[1, r], tests[2, r]
            )
            if upper <= thresholds[i, s]:
                continue
            if waiting[i, s] == lowers.shape[2]:
                shorten(i, s, k, thresholds, lines, waiting, scratch)
                if waiting[i, s] == lowers.shape[2]:  # ties, or nothing is trusted
                    rank_line(i, s, sides, first, k, plan, terms, tops, work)
            e = waiting[i, s]
            lowers[i, s, e] = lower - ROUNDING * abs(lower)
            uppers[i, s, e] = upper + ROUNDING * abs(upper)
            positions[i, s, e] = begin + j
            waiting[i, s] = e + 1


@njit(cache=True, nogil=True)
def without(gone: Any, first: int, hits: Any, count: int) -> int:
    """Drop the documents with numbers that are gone, rising as hits are, and count the hits that are left."""
    kept = g = 0
    for h in range(count):
        while g < gone.size and gone[g] < first + hits[h]:
            g += 1
        if g == gone.size or gone[g] > first + hits[h]:
            hits[kept] = hits[h]
            kept += 1
    return kept


@njit(cache=True, nogil=True)
def first_bound(
    form: int, gap: float, factor: float, slack: float, nearer: float, k: int,
    dots: Any, weights: Any, offsets: Any, marks: Any, hits: Any, scratch: Any,
) -> Any:  # fmt: skip
    """Bound the k-th best key of a query's first tile from below; no number where the tile is too small for that.

    The documents are dealt into twice k hands. Each hand's best document has a key, and the k-th best of
    those is reached by k documents at least. Most of a tile is then skipped, where it would wait in line and be
    shortened away again.
    """
    hands = 2 * k + 8
    if dots.size < DEALT * hands or hands > scratch.shape[1]:
        return np.nan
    if form == GAP:
        mark_gap(dots, weights, offsets, np.float32(factor), np.float32(gap / factor), marks)
        deal_positions(marks, hands, hits)
        for h in range(hands):
            j = hits[h]
            scratch[0, h], _ = bounds(form, gap, factor, dots[j], weights[j], offsets[j], slack, nearer)
        bound = select(scratch, hands, k)
    else:
        if form == AFFINE:
            mark_affine(dots, weights, offsets, np.float32(factor), marks)
        else:
            mark_ratio(dots, offsets, np.float32(factor), marks)
        deal(marks, hands)
        for h in range(hands):
            scratch[0, h] = marks[h]
        bound = select(scratch, hands, k) - slack
    return bound - 8 * ROUNDING * abs(bound) if bound > -np.inf else np.nan


@njit(cache=True, nogil=True, fastmath={"contract"})
def mark_affine(dots: Any, weights: Any, offsets: Any, factor: Any, marks: Any) -> None:
    """Write the float32 keys of the affine form."""
    for j in range(dots.size):
        marks[j] = dots[j] * weights[j] + factor * offsets[j]


@njit(cache=True, nogil=True, error_model="numpy")
def mark_ratio(dots: Any, offsets: Any, factor: Any, marks: Any) -> None:
    """Write the float32 keys of the ratio form."""
    for j in range(dots.size):
        marks[j] = dots[j] / (factor + offsets[j])


@njit(cache=True, nogil=True)
def mark_gap(dots: Any, weights: Any, offsets: Any, factor: Any, share: Any, marks: Any) -> None:
    """Write about the key of the gap form, with a straight line for the arc: good enough to choose candidates by."""
    for j in range(dots.size):
        marks[j] = dots[j] * weights[j] * share - abs(factor - offsets[j])


@njit(cache=True, nogil=True)
def deal(marks: Any, hands: int) -> None:
    """Let the first marks be the best of every hand, dealt in turn; what is no number is nobody's best."""
    for h in range(hands):
        marks[h] = marks[h] if marks[h] > -np.inf else np.float32(-np.inf)
    for start in range(hands, marks.size - hands + 1, hands):
        for h in range(hands):
            mark = marks[start + h]
            marks[h] = mark if mark > marks[h] else marks[h]  # noqa: FURB136  # a condition drops what is no number


@njit(cache=True, nogil=True)
def deal_positions(marks: Any, hands: int, positions: Any) -> None:
    """Write the position of every hand's best mark."""
    for h in range(hands):
        best = h
        for j in range(h + hands, marks.size, hands):
            if marks[j] > marks[best]:
                best = j
        positions[h] = best


@njit(cache=True, nogil=True)
def held_inside(withheld: Any, i: int, low: int, high: int) -> Any:
    """Where the documents that a query must not get begin and end, of those with numbers from low to below high."""
    begin, end = withheld.starts[i], withheld.starts[i + 1]
    if begin == end:
        return begin, begin
    own = withheld.documents[begin:end]
    return begin + np.searchsorted(own, low), begin + np.searchsorted(own, high)


@njit(cache=True, nogil=True)
def rank_block(sides: Any, first: int, k: int, plan: Any, terms: Any, tops: Any, work: Any) -> None:
    """Rank exactly what waits in line at the end of a block.

    ``sides`` = queries, documents of the block, the lengths of both, ``factors`` (queries, scorers). ``first`` is the
    first document's number. ``plan`` = (form, gap weight) per scorer; ``terms`` = weights and offsets (scorers,
    documents) in float64 and again in float32. ``tops`` = entries (queries, scorers, capacity) in document order, how
    many there are, and a bound below which no document is among the k best. ``work`` = lines (queries, scorers,
    capacity) in document order, how many wait in each, and scratch space.
    """
    thresholds = tops[2]
    lines, waiting = work[0], work[1]
    for i in range(waiting.shape[0]):
        for s in range(waiting.shape[1]):
            if waiting[i, s] > k:
                shorten(i, s, k, thresholds, lines, waiting, work[2])
            rank_line(i, s, sides, first, k, plan, terms, tops, work)


@njit(cache=True, nogil=True)
def shorten(i: int, s: int, k: int, thresholds: Any, lines: Any, waiting: Any, scratch: Any) -> None:
    """Drop from a line the documents that are certainly behind k others in it."""
    size = waiting[i, s]
    lowers, uppers, positions = lines.lowers[i, s], lines.uppers[i, s], lines.positions[i, s]
    for e in range(size):
        scratch[0, e] = lowers[e]
    least = select(scratch, size, k)
    if not least > -np.inf:
        return
    kept = 0
    for e in range(size):
        upper = uppers[e]
        lowers[kept], uppers[kept], positions[kept] = lowers[e], upper, positions[e]
        kept += upper >= least
    waiting[i, s] = kept
    if not least <= thresholds[i, s]:
        thresholds[i, s] = least


@njit(cache=True, nogil=True)
def rank_line(i: int, s: int, sides: Any, first: int, k: int, plan: Any, terms: Any, tops: Any, work: Any) -> None:
    """Rank the documents of a line exactly: move them, with float64 keys, to the top list of query and scorer."""
    queries, documents, _, _, factors = sides
    forms, gaps = plan
    weights, offsets, _, _ = terms
    entries, sizes, thresholds = tops
    lines, waiting, scratch, known, exact = work
    form, gap, factor = forms[s], gaps[s], factors[i, s]
    uppers, positions = lines.uppers[i, s], lines.positions[i, s]
    left = 0
    for e in range(waiting[i, s]):
        positions[left] = positions[e]
        left += not uppers[e] <= thresholds[i, s]
    multiply_exactly(queries[i], documents, positions[:left], i, known, exact)
    size = sizes[i, s]
    for e in range(left):
        j = np.int64(positions[e])
        key = key_of(form, gap, factor, exact[j], weights[s, j], offsets[s, j], 0.0)
        if key <= thresholds[i, s]:
            continue
        entry = entries[i, s, size]
        entry.key = key
        entry.document = first + j
        entry.dot = exact[j]
        size += 1
        if size == entries.shape[2]:
            thresholds[i, s] = prune(entries[i, s], size, k, scratch)
            size = k
    waiting[i, s] = 0
    if size >= k + k // 2 or sizes[i, s] < k <= size:
        thresholds[i, s] = prune(entries[i, s], size, k, scratch)
        size = k
    sizes[i, s] = size


@njit(cache=True, nogil=True)
def multiply_exactly(query: Any, documents: Any, positions: Any, i: int, known: Any, exact: Any) -> None:
    """Compute the exact inner products of a query, number i, with some documents, but for those that are known."""
    for e in range(positions.size):
        j = np.int64(positions[e])
        if e + AHEAD < positions.size and known[positions[e + AHEAD]] != i:
            prefetch_row(documents, np.int64(positions[e + AHEAD]))
        if known[j] != i:
            exact[j] = exact_dot(query, documents[j])
            known[j] = i


@njit(cache=True, nogil=True)
def tile_extents(weights: Any, offsets: Any, lengths: Any, begin: int, count: int) -> Any:
    """Find per scorer the largest ``|weight| |d|``, ``|offset|``, ``|weight|``, ``|d|``: inf where float32 fails."""
    result = np.zeros((weights.shape[0], 4))
    for s in range(weights.shape[0]):
        for j in range(begin, begin + count):
            weight = abs(weights[s, j])
            if weight > LARGE or 0 < weight < 1 / LARGE:
                weight = np.inf
            result[s, 0] = max(result[s, 0], weight * max(lengths[j], SMALLEST))
            result[s, 2] = max(result[s, 2], weight)
            result[s, 3] = max(result[s, 3], lengths[j])
            if offsets[s, j] > -np.inf:
                result[s, 1] = max(result[s, 1], abs(offsets[s, j]))
    return result


@njit(cache=True, nogil=True)
def rounding_errors(form: int, gap: float, factor: float, query_length: float, dimension: int, extents: Any) -> Any:
    """Bound how far the float32 key of any document of a tile may be off, and how far its cosine (for the gap form).

    The error of a float32 inner product is at most dimension x unit round-off x |q| |d| (Higham 2002, sec. 3.1), and
    what is done with it adds a few more. Where numbers leave the range of float32 the error is infinite: then every
    document passes and is ranked exactly.
    """
    reach, offset, weight, longest = extents
    relative = (dimension + 8) * ROUNDING
    absolute = (dimension + 8) * SMALLEST
    if not query_length * longest < LARGE or not (factor == 0 or 1 / LARGE < factor < LARGE) or not offset < LARGE:
        return np.inf, 0.0
    if form == AFFINE:
        if not query_length * reach + factor * offset < LARGE:
            return np.inf, 0.0
        offset_error = factor * (8 * ROUNDING * offset + 8 * SMALLEST) + 8 * SMALLEST
        return query_length * reach * relative + absolute * weight + offset_error, 0.0
    if form == RATIO:  # |dot| / (|q|^2 + |d|^2) is at most one half
        return (relative + absolute / factor if factor > TINY else np.inf), 0.0
    if factor == 0 or not weight / factor < LARGE or not (gap == 0 or 1 / LARGE < gap < LARGE):
        return np.inf, 0.0
    return 8 * ROUNDING * (factor + offset + 4 * gap), relative + absolute * weight / factor


@njit(cache=True, nogil=True)
def collect(
    plan: Any, s: int, dots: Any, factors: Any, own: Any, tests: Any, marks: Any, hits: Any, counts: Any
) -> None:
    """Collect for some queries the documents whose float32 key is not at most the least, by the form of the key."""
    form, gap = plan[0][s], np.float32(plan[1][s])
    weights, offsets = own
    for r in range(dots.shape[0]):
        factor, least, nearer = np.float32(factors[r, s]), np.float32(tests[0, r]), np.float32(tests[2, r])
        if form == AFFINE:
            counts[r] = collect_affine(dots[r], weights, offsets, factor, least, hits[r])
            continue
        if form == RATIO:
            mark_ratio_above(dots[r], offsets, factor, least, marks)
        else:
            mark_gap_above(dots[r], weights, offsets, factor, gap, nearer, least, marks)
        counts[r] = collect_positive(marks, hits[r])


@njit(cache=True, nogil=True)
def bounds(
    form: int, gap: float, factor: float, dot: Any, weight: Any, offset: Any, slack: float, nearer: float
) -> Any:
    """Give an interval that certainly holds a document's exact key: all numbers where nothing is trusted."""
    if not slack < np.inf:
        return -np.inf, np.inf
    p, w, o = np.float64(dot), np.float64(weight), np.float64(offset)
    upper = key_of(form, gap, factor, p, w, o, nearer) + slack
    if form == GAP:
        return key_of(form, gap, factor, p, w, o, -nearer) - slack, upper
    return upper - 2 * slack, upper


@njit(cache=True, nogil=True)
def collect_affine(dots: Any, weights: Any, offsets: Any, factor: Any, least: Any, hits: Any) -> int:
    """Collect documents with ``dot * weight + factor * offset`` not at most the least: what is no number passes."""
    count, whole = 0, dots.size - dots.size % CHUNK
    for begin in range(0, whole, CHUNK):
        bits = affine_bits(dots, weights, offsets, begin, factor, least)
        while bits:
            hits[count] = begin + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            count += 1
    for j in range(whole, dots.size):
        hits[count] = j
        count += not dots[j] * weights[j] + factor * offsets[j] <= least
    return count


@njit(cache=True, nogil=True)
def collect_positive(marks: Any, hits: Any) -> int:
    """Collect the positions of the marks that are not at most zero: what is no number passes."""
    count, whole = 0, marks.size - marks.size % CHUNK
    for begin in range(0, whole, CHUNK):
        bits = positive_bits(marks, begin)
        while bits:
            hits[count] = begin + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            count += 1
    for j in range(whole, marks.size):
        hits[count] = j
        count += not marks[j] <= 0
    return count


@njit(cache=True, nogil=True)
def mark_ratio_above(dots: Any, offsets: Any, factor: Any, least: Any, marks: Any) -> None:
    """Write what is positive where ``dot / (factor + offset)`` is above the least, without the division."""
    for j in range(dots.size):
        marks[j] = dots[j] - least * (factor + offsets[j])


@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def mark_gap_above(
    dots: Any, weights: Any, offsets: Any, factor: Any, gap: Any, nearer: Any, least: Any, marks: Any
) -> None:
    """Write what is positive where ``-(|factor - offset| + gap * angle)`` is above the least; all if that is no bound.

    The gap of the lengths leaves room for some angle. Its cosine is an easy series (the sine's, a quarter turn off),
    where the angle of a cosine would need a root.
    """
    quarter = np.float32(np.pi / 2)
    inverse, inverse_gap = np.float32(1) / factor, np.float32(1) / gap
    nearer += np.float32(COSINE_ERROR) if least > -np.inf else np.float32(np.inf)
    for j in range(dots.size):
        angle = (-least - abs(factor - offsets[j])) * inverse_gap - quarter
        # conditions, not max and min: they turn what is no number into a bound, and vectorise
        angle = angle if angle > -quarter else -quarter  # noqa: FURB136
        angle = angle if angle < quarter else quarter  # noqa: FURB136
        square = angle * angle
        series = np.float32(1 / 120) + square * (np.float32(-1 / 5040) + square * np.float32(1 / 362880))
        sine = angle * (np.float32(1) + square * (np.float32(-1 / 6) + square * series))
        marks[j] = dots[j] * weights[j] * inverse + nearer + sine


@njit(cache=True, nogil=True)
def key_of(form: int, gap: float, factor: float, dot: float, weight: float, offset: float, nearer: float) -> Any:
    """Compute the ranking key in float64, with ``nearer`` added to a cosine; what is not defined ranks last."""
    if form == AFFINE:
        key = dot * weight + factor * offset
    elif form == RATIO:
        span = factor + offset
        key = dot / span if span > 0 else -np.inf
    else:
        cosine = min(max(dot * weight / factor + nearer, -1.0), 1.0)
        key = -(abs(factor - offset) + gap * np.arccos(cosine))
    return -np.inf if np.isnan(key) else key


@njit(cache=True, nogil=True)
def prune(entries: Any, size: int, k: int, scratch: Any) -> Any:
    """Keep the k best entries of a list, in their order, and return the k-th best key.

    Entries stand in document order, so among equal keys the first ones are the ones to keep.
    """
    for e in range(size):
        scratch[0, e] = entries[e].key
    least = select(scratch, size, k)
    spare = k
    for e in range(size):
        spare -= entries[e].key > least
    kept = 0
    for e in range(size):
        key = entries[e].key
        tie = key == least and spare > 0
        spare -= tie
        entries[kept].key = key
        entries[kept].document = entries[e].document
        entries[kept].dot = entries[e].dot
        kept += key > least or tie
        if kept == k:
            break
    return least


@njit(cache=True, nogil=True)
def best_entries(entries: Any, sizes: Any, s: int, k: int) -> Any:
    """Give keys, documents and inner products of each query's k best under one scorer, in document order.

    Where a query may get fewer than k, number -1 fills its list up, with the last of all keys.
    """
    shape = (entries.shape[0], k)
    keys, documents, dots = np.full(shape, -np.inf), np.full(shape, -1, np.int64), np.zeros(shape)
    scratch = np.empty((2, entries.shape[2]))
    for i in range(entries.shape[0]):
        if sizes[i, s] > k:
            prune(entries[i, s], sizes[i, s], k, scratch)
        for e in range(min(k, sizes[i, s])):
            keys[i, e] = entries[i, s, e].key
            documents[i, e] = entries[i, s, e].document
            dots[i, e] = entries[i, s, e].dot
    return keys, documents, dots


@njit(cache=True, nogil=True)
def select(values: Any, size: int, k: int) -> Any:
    """Find the k-th largest number in the first of two rows, without a branch on any of them; shuffles both rows."""
    row = 0
    while True:
        spare = 1 - row
        first, middle, last = values[row, 0], values[row, size // 2], values[row, size - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        above = below = 0
        for e in range(size):
            value = values[row, e]
            values[row, above] = value
            above += value > pivot
            values[spare, below] = value
            below += value < pivot
        if k <= above:
            size = above
        elif k > size - below:
            k -= size - below
            size, row = below, spare
        else:
            return pivot
