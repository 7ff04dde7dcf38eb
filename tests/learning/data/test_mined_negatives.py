"""Hard negatives are mined by the scorer that is trained, and nothing relevant is one."""

from __future__ import annotations

import numpy as np

import offsphere as osp
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.data.mined_negatives import MinedNegatives
from offsphere.learning.data.task_sources import VectorSource
from offsphere.learning.data.training_pairs import TrainingPairs
from tests.learning.conftest import hidden


def test_negatives_are_mined_by_the_scorer_that_is_trained(hidden_map):
    """Under the dot product long documents are hard; cosine would not have found them."""
    setup = AdapterSetup.of(hidden_map)
    rng = np.random.default_rng(0)
    lengths = np.linalg.norm(hidden_map[1].documents, axis=1)
    mined = {name: MinedNegatives.by(osp.parse_scorer(name), setup.pairs, rng).negatives for name in ("dot", "cosine")}
    mean = {name: lengths[rows[rows >= 0]].mean() for name, rows in mined.items()}
    assert mean["dot"] > 1.1 * mean["cosine"]


def test_no_relevant_document_is_mined():
    task, vectors = hidden()
    copies = RankingTask.from_judgments(  # every document twice, under another id: the copy is relevant too
        {
            name: {f"d{number}": 1.0}
            for name, number in zip(task.query_ids, task.judgments.documents.tolist(), strict=True)
        },
        [*task.document_ids, *(f"copy-{name}" for name in task.document_ids)],
    )
    doubled = RankingVectors.of(copies, vectors.queries, np.concatenate([vectors.documents] * 2))
    pairs = TrainingPairs.of(VectorSource(copies, doubled))
    mined = MinedNegatives.by(osp.Scorer(), pairs, np.random.default_rng(0)).negatives
    relevant = copies.judgments.documents
    rows = np.arange(len(relevant))[:, None]
    assert not (mined[rows[:, 0]] == relevant[:, None]).any()
    assert not (mined[rows[:, 0]] == relevant[:, None] + 400).any()
