from __future__ import annotations

from dataclasses import replace

import numpy as np

import offsphere as osp
from offsphere.comparison.examples import changed_queries
from offsphere.data.judgments import Judgments


def recommended(users=60, items=50, dimensions=6, seed=0):
    """Users who have what is nearest to them, and want what is next by the dot product."""
    rng = np.random.default_rng(seed)
    rows = (rng.normal(size=(items, dimensions)) * rng.lognormal(0, 0.6, (items, 1))).astype(np.float32)
    asked = rng.normal(size=(users, dimensions)).astype(np.float32)
    ranked = np.argsort(-(asked @ rows.T), axis=1)
    judged = {f"u{user}": {f"i{row[8]}": 1.0} for user, row in enumerate(ranked)}
    task = osp.RankingTask.from_judgments(judged, [f"i{row}" for row in range(items)])
    own = np.repeat(np.arange(users), 8), ranked[:, :8].ravel()
    task = replace(task, excluded=Judgments.of(*own, np.ones(users * 8), users, items))
    return task, osp.RankingVectors.of(task, asked, rows)


def test_what_a_user_has_is_not_among_what_he_is_shown():
    task, vectors = recommended()
    table = osp.compare(task, vectors, ["dot"])
    assert table["dot"].value == 1.0  # what is next by it is first once what they have is left out
    shown = changed_queries(task, vectors, table["dot"], table["cosine"])
    assert len(shown) == 5
    for example in shown:
        user = task.query_ids.index(example.id)
        has = {task.document_ids[row] for row in task.excluded.documents[task.excluded.queries == user]}
        assert not has & {document.id for document in (*example.first, *example.second)}
        assert example.first[0].grade == 1.0
        assert example.first_value == 1.0


def test_a_list_is_shorter_where_a_user_may_get_little():
    task, vectors = recommended(items=10)
    table = osp.compare(task, vectors, ["dot"])
    shown = changed_queries(task, vectors, table["dot"], table["cosine"])
    assert {len(example.first) for example in shown} == {2}  # of ten items each user has eight
