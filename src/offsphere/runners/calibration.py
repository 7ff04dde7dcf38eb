"""How fast this machine is, found in about two seconds by doing the real work on a little of random data.

What threads compute is timed by the seconds of a core, so that others who use the machine do not count.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.data.items import Item
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.encode.encoder import Encoder
from offsphere.geometry.scanning import scan
from offsphere.shards.compare_question import CompareOptions, CompareQuestion
from offsphere.shards.compare_state import search_shard
from offsphere.shards.divided_task import DividedTask
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.vectors.blocks import TILE

SECONDS = 1.0  # that each of the two measurements may take, about
MOST_QUERIES = 64  # by which the calibration searches; the time of others is so much more
WRITTEN = 32 << 20  # bytes that are written and read again


class ComparePace(NamedTuple):
    """How fast shards are compared."""

    fit: float  # seconds of one core a document
    search: float  # seconds of one core a document and a query
    maps: int  # that each document goes through: so many matrix products
    lists: int  # that each query gets
    depth: int  # of a list


def pace_of_compare(dimension: int, queries: int, options: CompareOptions) -> ComparePace:
    """Fit and search random documents, by the scorers that are asked for.

    Args:
        dimension: Of the vectors.
        queries: How many there will be.
        options: Of the comparison; a field that groups queries is left out.
    """
    options = replace(options, by=None)
    asking = min(max(queries, options.folds, 2), MOST_QUERIES)
    paces: list[ComparePace] = []

    def compare(rows: int) -> None:
        ids = [str(row) for row in range(rows)]
        judged = {f"q{row}": {str(row): 1} for row in range(asking)}
        task = DividedTask.of(RankingTask.from_judgments(judged, ids), options.metric)
        documents, asked, shard = _random(rows, dimension), _random(asking, dimension), Shard(1, 1)
        started = time.process_time()
        fitted = FitState.of(task, shard, documents, documents)
        between = time.process_time()
        state = search_shard(task, shard, RankingVectors(asked, documents), fitted, options)
        ended = time.process_time()
        question = CompareQuestion.of(task, options, asked, fitted.whole())
        maps = {scorer.map_key for candidate in question.rows().distinct for scorer in candidate.options}
        fit, search = (between - started) / rows, (ended - between) / rows / asking
        paces.append(ComparePace(fit, search, len(maps), len(state.documents), question.metric.depth))

    _until_long_enough(compare, 2 * TILE)
    return paces[-1]


def pace_of_measure(dimension: int) -> float:
    """Scan random vectors, and give the seconds of one core that a vector takes."""
    return _until_long_enough(lambda rows: scan(_random(rows, dimension)), 2 * TILE)


def pace_of_embed(encoder: Encoder, items: Sequence[Item]) -> float:
    """Encode some of the items, and give the seconds that one takes."""
    chosen = [items[row] for row in np.random.default_rng(0).permutation(len(items))[:TILE]]

    def encode(rows: int) -> object:
        return encoder.encode(chosen[:rows], "document")

    return _until_long_enough(encode, 16, len(chosen), time.perf_counter)  # it may work on another device


def pace_of_disk() -> float:
    """Write a file to the folder for temporary ones, read it again from the disk, and give bytes a second."""
    with tempfile.TemporaryFile() as stream:
        stream.write(os.urandom(WRITTEN))
        stream.flush()
        os.fsync(stream.fileno())
        if hasattr(os, "posix_fadvise"):  # else it is read from memory, which is faster
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        started = time.perf_counter()
        stream.seek(0)
        while stream.read(1 << 20):
            pass
        return WRITTEN / max(time.perf_counter() - started, 1e-9)


def _until_long_enough(
    work: Callable[[int], object], rows: int, most: int = 1 << 20, clock: Callable[[], float] = time.process_time
) -> float:
    """Do work on more and more rows until it is long enough to be timed, and give the seconds a row takes."""
    rows = min(rows, most)
    work(rows)  # compiles, and is not counted
    while True:
        started = clock()
        work(rows)
        taken = clock() - started
        if taken >= SECONDS / 2 or rows >= most:
            return taken / rows
        rows = min(max(2 * rows, int(rows * min(SECONDS / max(taken, 1e-6), 16))), most)


def _random(rows: int, dimension: int) -> Vectors:
    """Vectors whose lengths differ."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((rows, dimension), dtype=np.float32)
    vectors *= rng.lognormal(0, 0.2, (rows, 1)).astype(np.float32)
    return vectors
