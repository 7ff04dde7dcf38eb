from __future__ import annotations

import numpy as np

import offsphere as osp


def drawn(order=None):
    """A task with a hub, its documents in some order."""
    rng = np.random.default_rng(4)
    documents = rng.normal(size=(120, 8)).astype(np.float32)
    documents[7] = 5 * documents.mean(axis=0) + 0.5
    queries = documents[:40] + rng.normal(0, 0.6, (40, 8)).astype(np.float32)
    judged = {f"q{row}": {f"d{row}": 1} for row in range(40)}
    order = np.arange(120) if order is None else order
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in order])
    return task, osp.RankingVectors.of(task, queries, documents[order])


def test_the_biases_that_a_comparison_gives_follow_their_documents():
    task, vectors = drawn()
    table = osp.compare(task, vectors)
    order = np.random.default_rng(0).permutation(120)
    moved, moved_vectors = drawn(order)
    for name in ("cosine + nnn (tuned)", "cosine + csls"):
        scorer = table[name].scorer
        assert list(scorer.bias.ids) == list(task.document_ids)
        assert (scorer.bias.bank.queries == vectors.queries).all()
        before = osp.compare(task, vectors, [scorer])[scorer.name].value
        assert osp.compare(moved, moved_vectors, [scorer])[scorer.name].value == before


def test_hubs_are_looked_at_under_a_scorer_with_a_bias():
    task, vectors = drawn()
    scorer = osp.csls(osp.Scorer(), vectors.documents[::-1], vectors.queries, ids=task.document_ids[::-1])
    by_row = osp.csls(osp.Scorer(), vectors.documents, vectors.queries)
    named, plain = (osp.measure(task, vectors, ["hubness"], scorer=each).hubness[-1] for each in (scorer, by_row))
    assert named.skewness == plain.skewness
