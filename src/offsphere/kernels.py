"""The compiled inner loops of search: a fast float32 test that loses no document, an exact float64 ranking behind it.

One tile is some queries times some documents. The float32 product of a tile is trusted only up to its rounding error: a
document whose key *may* be above the query's current k-th best goes into an inbox and is later looked at again in
float64; all others are skipped by a test that vectorises, at about 0.2 ns a score. So results are exact, and do not
depend on how the matrix product was cut up.

Two things keep it fast besides the test. Inboxes are small enough to stay in the core's cache while the lists behind
them, opened once in many tiles, need not be. And a list is pruned to its k best only when it is full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

CHUNK = 64
ROUNDING = 2.0**-23  # twice the unit round-off of float32
SMALLEST = 2.0**-149  # the least positive float32: what an underflow may lose, per product
LARGE = 1e37  # nothing beyond this, or below its inverse, is trusted to float32
ANGLE_ERROR = 7e-5  # of the polynomial in collect_gap (Abramowitz & Stegun 4.4.45: 6.7e-5)

ENTRY = np.dtype([("key", np.float64), ("document", np.int64), ("dot", np.float64)])

AFFINE, RATIO, GAP = 0, 1, 2  # offsphere.similarity.Form, as numba wants constants


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def exact_dot(left: Any, right: Any) -> Any:
    """The inner product of two float32 rows in float64, summed in one order wherever the rows stand."""
    total = 0.0
    for i in range(left.size):
        total += np.float64(left[i]) * np.float64(right[i])
    return total


@njit(cache=True, nogil=True)
def squared_lengths(rows: Any) -> Any:
    """The inner product of each row with itself."""
    result = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        result[i] = exact_dot(rows[i], rows[i])
    return result


@njit(cache=True, nogil=True)
def scan_tile(product: Any, sides: Any, first: int, k: int, plan: Any, terms: Any, factors: Any, tops: Any) -> None:
    """Bring every query's top lists up to date with one tile of documents, for all scorers of one transform.

    ``product`` (queries, documents) is the float32 matrix product of the two ``sides`` = (queries, documents, their
    lengths). ``first`` is the first document's number. ``plan`` = (form, gap weight) per scorer; ``terms`` = weights
    and offsets (scorers, documents) in float64 and again in float32; ``factors`` (queries, scorers). ``tops`` =
    entries (queries, scorers, capacity) in document order, how many there are, and the k-th best key where k are
    known.
    """
    queries, documents, query_lengths, document_lengths = sides
    forms, gaps = plan
    weights, offsets, weights32, offsets32 = terms
    entries, sizes, thresholds = tops
    count = documents.shape[0]
    extents = tile_extents(weights, offsets, document_lengths)
    hits = np.empty(count + 1, np.int64)
    known = np.empty(count, np.bool_)
    exact = np.empty(count)
    scratch = np.empty(max(entries.shape[2], count))
    for i in range(product.shape[0]):
        known[:] = False
        for s in range(forms.size):
            form, gap, factor = forms[s], gaps[s], factors[i, s]
            slack, nearer = rounding_errors(form, gap, factor, query_lengths[i], documents.shape[1], extents[s])
            threshold = thresholds[i, s]
            if np.isnan(threshold) and count >= k and slack < np.inf:
                for j in range(count):
                    scratch[j] = key_of(form, gap, factor, product[i, j], weights[s, j], offsets[s, j], -nearer)
                threshold = select(scratch[:count], k) - slack
                if threshold == -np.inf:  # fewer than k documents have a value: all are needed
                    threshold = np.nan
            least = np.float32(threshold - slack - 8 * ROUNDING * abs(threshold))
            f32 = np.float32(factor)
            if form == AFFINE:
                found = collect_affine(product[i], weights32[s], offsets32[s], f32, least, hits)
            elif form == RATIO:
                found = collect_ratio(product[i], offsets32[s], f32, least, hits)
            else:
                found = collect_gap(
                    product[i], weights32[s], offsets32[s], f32, np.float32(gap), np.float32(nearer), least, hits
                )
            for h in range(found):
                j = hits[h]
                if not known[j]:
                    exact[j] = exact_dot(queries[i], documents[j])
                    known[j] = True
                key = key_of(form, gap, factor, exact[j], weights[s, j], offsets[s, j], 0.0)
                if key <= thresholds[i, s]:
                    continue
                size = sizes[i, s]
                entry = entries[i, s, size]
                entry.key = key
                entry.document = first + j
                entry.dot = exact[j]
                sizes[i, s] = size + 1
                if size + 1 == entries.shape[2]:
                    thresholds[i, s] = prune(entries[i, s], k, scratch)
                    sizes[i, s] = k


@njit(cache=True, nogil=True)
def tile_extents(weights: Any, offsets: Any, lengths: Any) -> Any:
    """Per scorer the largest ``|weight| |d|``, ``|offset|``, ``|weight|`` and ``|d|``; infinite where no float32 holds."""
    result = np.zeros((weights.shape[0], 4))
    for s in range(weights.shape[0]):
        for j in range(lengths.size):
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
    """How far the float32 key of any document of a tile may be off, and how far its cosine (for the gap form).

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
        return (relative + absolute / factor if factor > 1e-30 else np.inf), 0.0
    if factor == 0 or not weight / factor < LARGE:
        return np.inf, 0.0
    return 8 * ROUNDING * (factor + offset + 4 * gap), relative + absolute * weight / factor


@njit(cache=True, nogil=True)
def collect_affine(row: Any, weights: Any, offsets: Any, factor: Any, threshold: Any, hits: Any) -> Any:
    """The documents with ``dot * weight + factor * offset`` not at most the threshold: what is no number passes."""
    found = 0
    for start in range(0, row.size, CHUNK):
        dot = row[start : start + CHUNK]
        weight = weights[start : start + CHUNK]
        offset = offsets[start : start + CHUNK]
        above = np.uint32(0)
        for j in range(dot.size):
            above |= np.uint32(0) if dot[j] * weight[j] + factor * offset[j] <= threshold else np.uint32(1)
        if above:
            for j in range(dot.size):
                hits[found] = start + j
                found += not (dot[j] * weight[j] + factor * offset[j] <= threshold)
    return found


@njit(cache=True, nogil=True)
def collect_ratio(row: Any, offsets: Any, factor: Any, threshold: Any, hits: Any) -> Any:
    """The documents with ``dot / (factor + offset)`` not at most the threshold, tested without the division."""
    found = 0
    for start in range(0, row.size, CHUNK):
        dot = row[start : start + CHUNK]
        offset = offsets[start : start + CHUNK]
        above = np.uint32(0)
        for j in range(dot.size):
            above |= np.uint32(0) if dot[j] <= threshold * (factor + offset[j]) else np.uint32(1)
        if above:
            for j in range(dot.size):
                hits[found] = start + j
                found += not (dot[j] <= threshold * (factor + offset[j]))
    return found


@njit(cache=True, nogil=True)
def collect_gap(
    row: Any, weights: Any, offsets: Any, factor: Any, gap: Any, nearer: Any, threshold: Any, hits: Any
) -> Any:
    """The documents with ``-(|factor - offset| + gap * angle)`` not at most the threshold, for the least angle."""
    found = 0
    inverse = np.float32(1) / factor
    keys = np.empty(CHUNK, np.float32)
    for start in range(0, row.size, CHUNK):
        dot = row[start : start + CHUNK]
        weight = weights[start : start + CHUNK]
        offset = offsets[start : start + CHUNK]
        for j in range(dot.size):
            cosine = dot[j] * weight[j] * inverse + nearer
            flat = min(abs(cosine), np.float32(1))
            series = np.float32(0.0742610) + flat * np.float32(-0.0187293)
            series = np.float32(1.5707288) + flat * (np.float32(-0.2121144) + flat * series)
            acute = np.sqrt(np.float32(1) - flat) * series
            angle = acute if cosine >= np.float32(0) else np.float32(np.pi) - acute
            keys[j] = -(abs(factor - offset[j]) + gap * (angle - np.float32(ANGLE_ERROR)))
        above = np.uint32(0)
        for j in range(dot.size):
            above |= np.uint32(0) if keys[j] <= threshold else np.uint32(1)
        if above:
            for j in range(dot.size):
                hits[found] = start + j
                found += not (keys[j] <= threshold)
    return found


@njit(cache=True, nogil=True)
def key_of(form: int, gap: float, factor: float, dot: float, weight: float, offset: float, nearer: float) -> Any:
    """The ranking key in float64, with ``nearer`` added to a cosine; what is not defined ranks last."""
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
def prune(entries: Any, k: int, scratch: Any) -> Any:
    """Keep the k best entries of a full list, in their order; the k-th best key.

    Entries stand in document order, so among equal keys the first ones are the ones to keep.
    """
    for e in range(entries.size):
        scratch[e] = entries[e].key
    least = select(scratch[: entries.size], k)
    spare = k
    for e in range(entries.size):
        spare -= entries[e].key > least
    kept = 0
    for e in range(entries.size):
        if entries[e].key > least or (entries[e].key == least and spare > 0):
            spare -= entries[e].key == least
            entries[kept] = entries[e]
            kept += 1
    return least


@njit(cache=True, nogil=True)
def select(values: Any, k: int) -> Any:
    """The k-th largest value (Hoare's quickselect); shuffles the values."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]
