"""The compiled inner loop of static models: means of table rows.

Compiled code does not ask whether an index is inside its array. ``tokens`` come from a tokenizer's file, ``rows`` from
a model's: ``static_files`` checks that every row is one of the table and that there are as many rows as weights, and
``StaticEncoder`` that no token is beyond them, for each chunk of texts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def mean_rows(table: Any, rows: Any, weights: Any, tokens: Any, ends: Any, unknown: int) -> Any:
    """Average the weighted table rows of each text's tokens; zero for a text of no (known) tokens.

    ``tokens`` are those of all texts in a row, ``ends`` says where each text's end; ``unknown`` is left out.
    """
    result = np.zeros((ends.size, table.shape[1]), np.float32)
    first = 0
    for text in range(ends.size):
        count = 0
        mean = result[text]
        for position in range(first, ends[text]):
            token = tokens[position]
            if token == unknown:
                continue
            count += 1
            weight = weights[token]
            row = table[rows[token]]
            for j in range(row.size):
                mean[j] += weight * row[j]
        if count:
            for j in range(mean.size):
                mean[j] /= np.float32(count)
        first = ends[text]
    return result
