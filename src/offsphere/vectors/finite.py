"""Vectors with which nothing can be computed: those that are not finite are refused, those without length are told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from offsphere.base.arrays import Vectors
from offsphere.base.errors import VectorError
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import lengths


def rows_without_length(vectors: Vectors, kind: str, name_of: Callable[[int], str]) -> list[int]:
    """The rows of length zero among vectors that are all finite.

    Args:
        vectors: A row each; read block by block.
        kind: What they are of, for the error: ``"document"``.
        name_of: Gives the name of the vector in a row, for the error alone.

    Raises:
        VectorError: A number is not finite; the first such vector is named.

    Example:
        >>> import numpy as np
        >>> from offsphere.vectors.finite import rows_without_length
        >>> rows_without_length(np.array([[1, 2], [0, 0]], np.float32), "query", str)
        [1]
    """
    empty: list[int] = []
    start = 0
    for block in Blocks.of(vectors) if len(vectors) else ():
        block_lengths = lengths(block)
        bad = np.flatnonzero(~np.isfinite(block_lengths))
        if len(bad):
            raise VectorError(f"{kind} vector of {name_of(start + int(bad[0]))} is not finite: encode that text again")
        empty += [start + int(row) for row in np.flatnonzero(block_lengths == 0)]
        start += len(block)
    return empty
