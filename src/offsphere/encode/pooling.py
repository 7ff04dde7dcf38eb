"""The compiled inner loop of static models: means of table rows, texts over all cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def mean_rows(
    table: NDArray[np.float32],
    rows: NDArray[np.int64],
    weights: NDArray[np.float32],
    tokens: NDArray[np.int64],
    ends: NDArray[np.int64],
    unknown: int,
) -> NDArray[np.float32]:
    """A mean for each text; ``ends`` says where its tokens end. Zero for a text of no (known) tokens."""
    result = np.zeros((len(ends), table.shape[1]), np.float32)
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    workers = os.cpu_count() or 1
    cuts = np.linspace(0, len(ends), workers + 1).astype(int)
    with ThreadPoolExecutor(workers) as pool:
        for first, last in pairwise(cuts):
            part = slice(int(first), int(last))
            pool.submit(_means, table, rows, weights, tokens, starts[part], ends[part], unknown, result[part])
    return result


@njit(cache=True, nogil=True)
def _means(table: Any, rows: Any, weights: Any, tokens: Any, starts: Any, ends: Any, unknown: int, result: Any) -> None:
    for text in range(starts.size):
        count = 0
        mean = result[text]
        for place in range(starts[text], ends[text]):
            token = tokens[place]
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
