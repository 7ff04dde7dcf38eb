"""A small task on which something can be learned: relevance is seen through a hidden linear map."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors


def hidden(queries=240, documents=400, dimension=16, seed=0):
    """Documents are random; a query is its document turned by a map that the adapter has to find, and noise."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    d = rng.standard_normal((documents, dimension)) * rng.lognormal(0, 0.3, (documents, 1))
    wanted = rng.integers(0, documents, queries)
    q = d[wanted] @ turn + 0.3 * rng.standard_normal((queries, dimension))
    task = RankingTask.from_judgments(
        {f"q{row}": {f"d{number}": 1.0} for row, number in enumerate(wanted)}, [f"d{row}" for row in range(documents)]
    )
    return task, RankingVectors.of(task, q.astype(np.float32), d.astype(np.float32))


@pytest.fixture(scope="session")
def hidden_map():
    return hidden()
