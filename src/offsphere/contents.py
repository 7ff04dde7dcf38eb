"""Numbers that depend on nothing but the contents of vectors, to know them again under whatever id."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from offsphere.blocks import Blocks
from offsphere.tasks.vectors import PairVectors, RankingVectors

Index = NDArray[np.int64]


def keys_of(vectors: NDArray[np.floating]) -> Index:
    """A number for each vector."""
    found = np.empty(len(vectors), np.int64)
    place = 0
    for block in Blocks.of(vectors) if len(vectors) else ():
        for row in block:
            found[place] = int.from_bytes(hashlib.blake2b(row.data, digest_size=8).digest(), "little", signed=True)
            place += 1
    return found


def keys_of_units(vectors: RankingVectors | PairVectors) -> Index:
    """A number for each query, or for each pair in its order."""
    if isinstance(vectors, PairVectors):
        return keys_of(np.concatenate([vectors.left, vectors.right], axis=1))
    return keys_of(vectors.queries)
