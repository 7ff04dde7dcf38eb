"""The softmax over each query's rivals, and how far it is from what is wanted: the inner loop of fitting terms.

Compiled code does not ask whether an index is inside its array, and no index in here comes from a file: columns are the
numbers that ``document_terms`` gives to the documents which it found in the lists, a column of the terms for each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def likelihood(
    cosines: Any, columns: Any, stands_for: Any, targets: Any, scale: float, terms: Any, on_logs: Any, on_biases: Any
) -> Any:
    """Minus the log likelihood of what is wanted, and its derivative by the logarithm of the scale.

    Args:
        cosines: of each query with each of its rivals: (queries, rivals), as the next three.
        columns: which of the terms each entry has; -1 where there is none, which counts for nothing.
        stands_for: the logarithm of how many documents each entry stands for.
        targets: which share of what the query wants each entry is; a query that wants nothing counts for nothing.
        scale: of a cosine.
        terms: the factor on the cosine and what is added to it, of each column: (2, columns).
        on_logs: gets the derivative by the logarithm of each factor added to it.
        on_biases: gets the derivative by each bias added to it.
    """
    factors, biases = terms
    value, on_scale = 0.0, 0.0
    scores = np.empty(cosines.shape[1])
    for q in range(cosines.shape[0]):
        top, asked = -np.inf, False
        for r in range(cosines.shape[1]):
            column = columns[q, r]
            if column >= 0:
                scores[r] = scale * cosines[q, r] * factors[column] + biases[column] + stands_for[q, r]
                top = max(top, scores[r])
                asked = asked or targets[q, r] > 0
        if not asked:
            continue
        total = 0.0
        for r in range(cosines.shape[1]):
            if columns[q, r] >= 0:
                away = scores[r] - top
                value -= targets[q, r] * away
                scores[r] = np.exp(away)
                total += scores[r]
        value += np.log(total)
        for r in range(cosines.shape[1]):
            column = columns[q, r]
            if column >= 0:
                apart = scores[r] / total - targets[q, r]
                moved = apart * scale * cosines[q, r] * factors[column]
                on_scale += moved
                on_logs[column] += moved
                on_biases[column] += apart
    return value, on_scale
