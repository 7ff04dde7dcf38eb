from __future__ import annotations

import numpy as np
import pytest

from offsphere import RankingTask, compare
from tests.shards.sharded import compare_sharded


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 7])
def test_scifact_over_shards_is_scifact(embedded, count):
    task, vectors = embedded("scifact")
    assert compare_sharded(task, vectors, count, order=count).to_json() == compare(task, vectors).to_json()


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 7])
def test_many_random_vectors_over_shards_are_those_of_one_run(count):
    rng = np.random.default_rng(0)
    documents = (rng.normal(0.1, 1, (300_000, 32)) * rng.lognormal(0, 0.5, (300_000, 1))).astype(np.float32)
    queries = rng.normal(0.1, 1, (200, 32)).astype(np.float32)
    judged = {f"q{query}": {f"d{row}": 1} for query, row in enumerate((queries @ documents.T).argmax(axis=1))}
    task = RankingTask.from_judgments(judged, [f"d{row}" for row in range(len(documents))])
    vectors = task.vectors(queries, documents)
    options = {"scorers": ["dot", "whiten(0.5) + cosine", "drop-top + polar(1, 0.5)", "euclidean"]}
    assert compare_sharded(task, vectors, count, **options).to_json() == compare(task, vectors, **options).to_json()
