"""Tasks with something planted in the documents: popularity, as lengths or apart from them; hubs; or nothing."""

from __future__ import annotations

import numpy as np

import offsphere as osp


def popular(lengths="popularity", documents=240, queries=260, dimensions=12, seed=0):
    """Documents that some want more than others; their lengths are that, or have nothing to do with it ("apart").

    With "product" it is the dot product, and some luck, that says who wants what.
    """
    rng = np.random.default_rng(seed)
    rows, asked = _directions(rng, documents, dimensions), _directions(rng, queries, dimensions)
    appeal = rng.normal(0, 1.1, documents)
    sizes = np.exp(rng.normal(0, 0.3, documents)) if lengths == "apart" else np.exp(0.3 * appeal)
    scores = 9 * asked @ (rows * sizes[:, None]).T if lengths == "product" else 6 * asked @ rows.T + appeal
    wanted = np.argsort(-(scores + rng.gumbel(size=(queries, documents))), axis=1)[:, :3]
    return _task(wanted, asked, rows * sizes[:, None])


def known_items(hubs=0, documents=240, dimensions=20, seed=0):
    """Each document is wanted by one query, whatever its length; some hubs are near to every query and never wanted."""
    rng = np.random.default_rng(seed)
    rows = _directions(rng, documents, dimensions)
    asked = rows + rng.normal(0, 0.28, rows.shape)
    if hubs:
        middle = _directions(rng, 1, dimensions)
        asked = asked + middle
        rows = np.concatenate([rows, _directions(rng, hubs, dimensions) * 0.4 + middle])
    sizes = np.exp(rng.normal(0, 0.3, documents))
    rows[:documents] *= sizes[:, None]
    return _task(np.arange(documents)[:, None], asked, rows)


def _directions(rng, count, dimensions):
    rows = rng.normal(size=(count, dimensions))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _task(wanted, queries, documents):
    judged = {f"q{query}": {f"d{document}": 1.0 for document in row} for query, row in enumerate(wanted)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(len(documents))], "planted")
    return task, osp.RankingVectors.of(task, queries.astype(np.float32), documents.astype(np.float32))
