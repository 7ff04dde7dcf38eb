from __future__ import annotations

import numpy as np
import pytest

from offsphere.geometry import query_nearness
from offsphere.geometry.query_nearness import nearness_by_fold


@pytest.mark.parametrize("at_once", [7, 4_096])
def test_means_are_those_of_plain_sorting(monkeypatch, at_once):
    """In blocks that end anywhere, with more neighbours asked for than there are; who wants a document is at -1."""
    monkeypatch.setattr(query_nearness, "DOCUMENTS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    queries, documents = rng.normal(size=(30, 5)).astype(np.float32), rng.normal(size=(50, 5)).astype(np.float32)
    documents[3] = 0
    wanted, folds = np.nonzero(rng.random((30, 50)) < 0.1), rng.permutation(np.arange(30) % 4)
    sizes = np.maximum(np.linalg.norm(documents, axis=1), 1e-9)
    cosines = (queries / np.linalg.norm(queries, axis=1, keepdims=True)) @ (documents / sizes[:, None]).T
    cosines[wanted] = -1
    for fold, means in enumerate(nearness_by_fold(queries, documents, wanted, folds, (3, 100))):
        ranked = -np.sort(-cosines[folds != fold], axis=0)
        assert means[0] == pytest.approx(ranked[:3].mean(axis=0), abs=1e-6)
        assert means[1] == pytest.approx(ranked.mean(axis=0), abs=1e-6)
