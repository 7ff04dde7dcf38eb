"""The softmax over each query's rivals, and how far it is from what is wanted: the inner loop of fitting terms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def likelihood(scores: Any, stands_for: Any, documents: Any, targets: Any, asked: Any, apart: Any) -> float:
    """Write chances less targets into ``apart``, all (queries, rivals), and return minus the log likelihood.

    Entries without a document count for nothing, and so do queries that were not ``asked`` about.
    """
    value = 0.0
    for q in range(scores.shape[0]):
        apart[q] = 0.0
        if not asked[q]:
            continue
        top = -np.inf
        for r in range(scores.shape[1]):
            if documents[q, r] >= 0:
                top = max(top, scores[q, r] + stands_for[q, r])
        total = 0.0
        for r in range(scores.shape[1]):
            if documents[q, r] >= 0:
                away = scores[q, r] + stands_for[q, r] - top
                chance = np.exp(away)
                total += chance
                apart[q, r] = chance
                value -= targets[q, r] * away
        value += np.log(total)
        for r in range(scores.shape[1]):
            apart[q, r] = apart[q, r] / total - targets[q, r]
    return value
