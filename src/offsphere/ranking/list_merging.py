"""Top lists of two parts of a corpus become the top lists of both: compiled, since there are many of them.

Compiled code does not ask whether an index is inside its array: the shapes are checked by ``merge_lists``, and no
number that is merged is used as a position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.base.arrays import Array, Index


def merge_lists(first: tuple[Index, Array], second: tuple[Index, Array], depth: int) -> tuple[Index, Array]:
    """Merge lists of documents with their keys, (lists, queries, length) each and best first; -1 is no document.

    Of two documents the one with the larger key comes first, of two with one key the one with the smaller number: as
    one search over both parts ranks them, to the last bit.

    Args:
        first: Documents and keys of one part.
        second: Those of the other, for as many lists and queries.
        depth: How many documents a merged list has at most.

    Returns:
        Documents and keys of the merged lists.

    Raises:
        ValueError: The shapes do not fit.

    Example:
        >>> import numpy as np
        >>> from offsphere.ranking.list_merging import merge_lists
        >>> left = np.array([[[4, 1]]]), np.array([[[0.9, 0.5]]])
        >>> right = np.array([[[7, 8]]]), np.array([[[0.9, 0.1]]])
        >>> merge_lists(left, right, 3)[0].tolist()
        [[[4, 7, 1]]]
    """
    parts = [
        (np.ascontiguousarray(docs, np.int64), np.ascontiguousarray(keys, np.float64)) for docs, keys in (first, second)
    ]
    shapes = [part.shape for pair in parts for part in pair]
    if shapes[0] != shapes[1] or shapes[2] != shapes[3] or len({(len(shape), *shape[:2]) for shape in shapes}) > 1:
        raise ValueError(f"lists of shapes {shapes} cannot be merged")
    width = min(depth, shapes[0][2] + shapes[2][2])
    documents = np.full((*shapes[0][:2], width), -1, np.int64)
    keys = np.full(documents.shape, -np.inf)
    _merge_all(*parts[0], *parts[1], documents, keys)
    return documents, keys


@njit(cache=True, nogil=True)
def _merge_all(left: Any, left_keys: Any, right: Any, right_keys: Any, merged: Any, keys: Any) -> None:
    """Take from two lists whichever is ahead, until the merged one is full or both have ended."""
    for s in range(merged.shape[0]):
        for i in range(merged.shape[1]):
            a = b = 0
            for e in range(merged.shape[2]):
                from_left = a < left.shape[2] and left[s, i, a] >= 0
                from_right = b < right.shape[2] and right[s, i, b] >= 0
                if from_left and from_right:
                    mine, other = left_keys[s, i, a], right_keys[s, i, b]
                    from_left = mine > other or (mine == other and left[s, i, a] < right[s, i, b])
                if from_left:
                    merged[s, i, e], keys[s, i, e] = left[s, i, a], left_keys[s, i, a]
                    a += 1
                elif from_right:
                    merged[s, i, e], keys[s, i, e] = right[s, i, b], right_keys[s, i, b]
                    b += 1
                else:
                    break
