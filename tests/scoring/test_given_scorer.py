"""One map wherever a scorer is fitted: what was measured is what is searched with, shown and exported, to the bit."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.mteb_search import ScorerIndex
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.vectors.blocks import TILE

NAME = "whiten(0.5) + cosine"


@pytest.fixture(scope="module")
def embedded():
    """A corpus of more than three blocks, whose parts sum to other bits in another order."""
    rng = np.random.default_rng(0)
    documents = (rng.normal(size=(3 * 16 * TILE + 100, 6)) * rng.lognormal(0, 1, 6)).astype(np.float32)
    queries = documents[:12] + rng.normal(0, 0.1, (12, 6)).astype(np.float32)
    task = osp.RankingTask.from_judgments(
        {f"q{row}": {str(row): 1} for row in range(12)}, [str(d) for d in range(len(documents))]
    )
    return task, task.vectors(queries, documents)


def test_what_compare_measured_is_what_is_exported_and_fitted_anywhere(embedded, tmp_path):
    task, vectors = embedded
    measured = osp.compare(task, vectors, [NAME])[NAME].scorer.map_key
    exported = osp.export(NAME, vectors.documents, f"faiss:{tmp_path}/documents.faiss").scorer
    index = ScorerIndex(osp.parse_scorer(NAME))
    index.add_documents(vectors.documents, task.document_ids)
    cut = osp.threshold(task, vectors, [NAME], recall=0.5)[NAME].scorer
    in_parts = fitted_scorer(osp.parse_scorer(NAME), [vectors.documents[:1000], vectors.documents[1000:]])
    alone = osp.parse_scorer(NAME).fit(vectors.documents)
    for scorer in (exported, index._ready, cut, in_parts, alone):
        assert scorer.map_key == measured


def test_fitting_never_copies_the_whole_corpus():
    documents = np.ones((40 * 16 * TILE, 4), np.float32)
    tracemalloc.start()
    try:
        osp.parse_scorer("center + dot").fit(documents)
        assert tracemalloc.get_traced_memory()[1] < documents.nbytes
    finally:
        tracemalloc.stop()
