"""A random sample of rows that can be merged: each row has a random key, the smallest keys stay.

The key depends on the row's number and the seed alone, so the sample is the same however the rows are cut up, and
merging is associative and commutative, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from offsphere.base.arrays import Index, Rows, Vectors

Keys = NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """At most ``size`` rows of all that were seen, in the order of their numbers."""

    size: int
    seen: int
    keys: Keys
    rows: Index
    vectors: Rows

    @classmethod
    def of(cls, vectors: Vectors, first: int, size: int, seed: int = 0, limit: np.uint64 | None = None) -> Sample:
        """The sample of one chunk whose first row has the number ``first``.

        Where it is known beforehand that no key above ``limit`` will stay, those are not kept.
        """
        keys = random_keys(np.arange(first, first + len(vectors)), seed)
        chosen = smallest(keys, size) if limit is None else np.flatnonzero(keys <= limit)
        return cls(size, len(vectors), keys[chosen], chosen + first, np.asarray(vectors[chosen], dtype=np.float32))

    def merge(self, other: Sample) -> Sample:
        """The sample of both sets together."""
        return self.merge_all([self, other])

    @staticmethod
    def merge_all(parts: list[Sample]) -> Sample:
        """The sample of several sets together."""
        keys = np.concatenate([part.keys for part in parts])
        rows = np.concatenate([part.rows for part in parts])
        kept = smallest(keys, parts[0].size)
        kept = kept[np.argsort(rows[kept], kind="stable")]
        vectors = np.concatenate([part.vectors for part in parts])[kept]
        return Sample(parts[0].size, sum(part.seen for part in parts), keys[kept], rows[kept], vectors)

    @property
    def whole(self) -> bool:
        """Whether all rows are in it, so that what is computed from it is exact."""
        return len(self.rows) == self.seen


def random_keys(rows: Index, seed: int) -> Keys:
    """A random number for each row: the finalizer of SplitMix64 (Steele, Lea & Flood 2014) over its number."""
    with np.errstate(over="ignore"):
        key = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        key += np.uint64(seed) * np.uint64(0xD1342543DE82EF95)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(key ^ (key >> np.uint64(31)))


def smallest(keys: Keys, size: int) -> Index:
    """The positions of the ``size`` smallest keys, ascending."""
    if len(keys) <= size:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, size - 1)[:size])
