"""Numbers that depend on nothing but the contents of vectors, to know them again under whatever id."""

from __future__ import annotations

import hashlib

import numpy as np

from offsphere.base.arrays import Index, Vectors
from offsphere.vectors.blocks import Blocks


def keys_of(vectors: Vectors) -> Index:
    """A number for each vector, equal for equal vectors and different for different ones."""
    keys = np.empty(len(vectors), np.int64)
    number = 0
    for block in Blocks.of(vectors) if len(vectors) else ():
        for row in block:
            keys[number] = int.from_bytes(hashlib.blake2b(row.data, digest_size=8).digest(), "little", signed=True)
            number += 1
    return keys
