"""The compiled inner loop of the token metrics: lengths and sums of token vectors, sentence by sentence.

Compiled code does not ask whether an index is inside its array. ``TokenBatch`` numbers kinds and groups itself, refuses
a sentence that is none of the batch, and checks that there is a vector for each token.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from offsphere.vectors.dot_kernels import exact_dot  # source 856c3db53220


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_tokens(
    rows: Any, sentences: Any, kinds: Any, groups: Any, lengths: Any, raw: Any, unit: Any, grouped: Any
) -> None:
    """Write the length of each token vector, and add it, raw and as a direction, to the sums of its sentence.

    ``raw`` and ``unit`` are (kinds, sentences, dimension), kinds being ordinary and special tokens; ``grouped``
    (groups, dimension) sums the directions of equal tokens of a sentence.
    """
    dimension = rows.shape[1]
    for r in range(rows.shape[0]):
        row = rows[r]
        squared = exact_dot(row, row)
        lengths[r] = np.sqrt(squared)
        inverse = 1.0 / lengths[r] if squared > 0 else 0.0
        raw_sum, unit_sum, group_sum = raw[kinds[r], sentences[r]], unit[kinds[r], sentences[r]], grouped[groups[r]]
        for i in range(dimension):
            value = np.float64(row[i])
            part = value * inverse
            raw_sum[i] += value
            unit_sum[i] += part
            group_sum[i] += part
