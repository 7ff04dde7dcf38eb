"""The compiled loop of soft cosine: what two bags of words have in common, similar words in part.

Compiled code does not ask whether an index is inside its array: ``SoftCosine`` checks that every word of a bag is one
of the vocabulary, whose similarities are as many rows and columns; ``check_pairs`` that every pair is one of two texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def soft_products(
    left_words: Any,
    left_weights: Any,
    left_ends: Any,
    right_words: Any,
    right_weights: Any,
    right_ends: Any,
    starts: Any,
    near: Any,
    similarity: Any,
    lefts: Any,
    rights: Any,
) -> Any:
    """``x S y`` for each pair; row i of S has ``similarity`` with the words ``near``, from ``starts[i]``."""
    result = np.zeros(lefts.size)
    weight_of = np.zeros(starts.size - 1)
    for pair in range(lefts.size):
        left, right = lefts[pair], rights[pair]
        low, high = (right_ends[right - 1] if right else 0), right_ends[right]
        for entry in range(low, high):
            weight_of[right_words[entry]] += right_weights[entry]
        total = 0.0
        for entry in range(left_ends[left - 1] if left else 0, left_ends[left]):
            word, part = left_words[entry], 0.0
            for position in range(starts[word], starts[word + 1]):
                part += similarity[position] * weight_of[near[position]]
            total += left_weights[entry] * part
        result[pair] = total
        for entry in range(low, high):
            weight_of[right_words[entry]] = 0.0
    return result
