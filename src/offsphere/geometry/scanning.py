"""One pass over vectors, and the state it leaves: everything that is measured without neighbours comes from it.

States of parts merge into the state of the whole, so a corpus may be larger than memory, or lie on many machines.
Beside some matrices of the dimension the state holds eight bytes a vector (its length) and a sample of bounded size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.cores import available_cores, in_order, one_blas_thread
from offsphere.base.errors import VectorError
from offsphere.base.progress import Progress
from offsphere.geometry.directions import Directions
from offsphere.geometry.sample import Sample, random_keys
from offsphere.vectors.blocks import TILE, Blocks, Documents
from offsphere.vectors.moments import Moments

SAMPLE = 8_192  # rows from which quadratic quantities are computed: exact up to here, sampled beyond
SCAN_TILE = 4 * TILE  # rows that a thread works on at a time
PRECISE = 131_072  # rows up to which the scatter is multiplied in float64, beyond in float32: twice as fast


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """What is kept of vectors: moments, sums of directions, every length in order, a sample of rows."""

    moments: Moments
    directions: Directions
    lengths: Array  # (count,)
    sample: Sample

    @classmethod
    def of(cls, vectors: Vectors, first: int = 0, *, sample: int = SAMPLE, seed: int = 0) -> Scan:
        """The state of one chunk, whose first row has the number ``first`` in the whole."""
        directions, lengths = Directions.of(vectors)
        return cls(Moments.of(vectors), directions, lengths, Sample.of(vectors, first, sample, seed))

    def merge(self, other: Scan) -> Scan:
        """The state of both, ``other`` coming after this one."""
        return Scan(
            self.moments.merge(other.moments),
            self.directions.merge(other.directions),
            np.concatenate([self.lengths, other.lengths]),
            self.sample.merge(other.sample),
        )

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return len(self.moments.mean)


def scan(
    vectors: Documents | Blocks,
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    first: int = 0,
    total: int | None = None,
) -> Scan:
    """One pass over all vectors, read block by block; the same result whatever the threads.

    Args:
        vectors: Rows, in memory, from the map or as blocks.
        sample: How many rows are kept, from which quadratic quantities are computed.
        seed: Of the sample.
        threads: How many tiles are worked on at a time; as many as there are cores without it.
        progress: Is told how many vectors are done.
        first: The number of the first row, where these are a shard of more.
        total: How many rows there are in all shards; by it the precision is chosen.

    Returns:
        Moments, sums of directions, every length, and the sample.

    Raises:
        VectorError: A vector that is not finite, or no vectors at all.

    Example:
        >>> import numpy as np
        >>> from offsphere.geometry import scan
        >>> state = scan(np.array([[3.0, 4.0], [0.0, 2.0]], np.float32))
        >>> state.lengths.tolist(), round(state.directions.mean_cosine, 3)
        ([5.0, 2.0], 0.8)
    """
    blocks = Blocks.of(vectors)
    product: type[np.floating] = np.float64 if (total or blocks.count) <= PRECISE else np.float32
    keys = random_keys(np.arange(first, first + blocks.count), seed)
    limit = np.partition(keys, sample - 1)[sample - 1] if blocks.count > sample else None
    lengths, samples, done = [], [], 0
    sums: tuple[Moments, Directions] | None = None

    def measure_tile(tile: Vectors, number: int) -> tuple[Moments, Directions, Array, Sample]:
        return Moments.of(tile, product), *Directions.of(tile), Sample.of(tile, number, sample, seed, limit)

    # one BLAS thread in each of ours: a tile stays in its core's cache, and rounds the same way every time
    with one_blas_thread():
        tiles = in_order(measure_tile, _tiles(blocks, first), threads or available_cores())
        for moments, directions, tile_lengths, tile_sample in tiles:
            sums = (moments, directions) if sums is None else _merge_sums(sums, (moments, directions))
            lengths.append(tile_lengths)
            samples.append(tile_sample)
            done += len(tile_lengths)
            if progress is not None:
                progress(done, blocks.count)
    assert sums is not None  # Blocks refuses an empty corpus
    every_length = np.concatenate(lengths)
    if not np.isfinite(every_length).all():
        row = first + int(np.flatnonzero(~np.isfinite(every_length))[0])
        raise VectorError(f"the vector in row {row} is not finite: remove it or encode it again")
    return Scan(*sums, every_length, Sample.merge_all(samples))


def _tiles(blocks: Blocks, first: int) -> Iterator[tuple[Vectors, int]]:
    """Pieces of the blocks, each with the number of its first row; that of the first block is given."""
    for block in blocks:
        for start in range(0, len(block), SCAN_TILE):
            yield block[start : start + SCAN_TILE], first + start
        first += len(block)


def _merge_sums(left: tuple[Moments, Directions], right: tuple[Moments, Directions]) -> tuple[Moments, Directions]:
    return left[0].merge(right[0]), left[1].merge(right[1])
