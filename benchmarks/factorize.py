"""Closed-form factors: against the bare truncated SVD, and against alternating least squares as a reference.

100,000 users x 20,000 items with about ten million interactions, k = 64: within 1.2 times the bare SVD. What the
factors of implicit's ALS at the same k are worth on held-out interactions, and how long they take, is noted beside.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # implicit asks for it; ARPACK gains nothing from more

import time

import implicit
import numpy as np
from harness import Clock, Goals, quick
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

import offsphere as osp
from offsphere.factors.recommending import HeldOutInteractions


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    users, items, k = (2_000, 400, 16) if small else (100_000, 20_000, 64)
    started = time.perf_counter()
    data = osp.simulate(users, items, 20, least_items=50, most_items=160, seed=0)
    print(
        f"{users:,} x {items:,}, {data.interactions.nnz:,} interactions, made in {time.perf_counter() - started:.0f} s"
    )
    speed(data.interactions, k, goals, rounds=1 if small else 2)
    quality(data.interactions, k, goals)
    goals.finish()


def speed(matrix: object, k: int, goals: Goals, rounds: int) -> None:
    clock = Clock()
    clock.run(
        {
            # without the left vectors, as ours
            "bare scipy svds": lambda: svds(matrix, k, return_singular_vectors="vh", rng=np.random.default_rng(0)),
            "ours": lambda: osp.factorize(matrix, k, 10.0),
        },
        rounds,
    )
    clock.show()
    for kind, times in (("wall", clock.wall), ("CPU", clock.cpu)):
        ratio = times["ours"] / times["bare scipy svds"]
        goals.at_most(f"ours / bare truncated SVD, {kind}", ratio, 1.2)


def quality(matrix: object, k: int, goals: Goals) -> None:
    split = osp.hold_out(matrix, most_users=2_000)
    started = time.perf_counter()
    factors = osp.factorize(split.train, k, 10.0)
    goals.note("ours, seconds", time.perf_counter() - started)
    table = osp.recommend(factors, split).table
    goals.note("ours, dot, held-out ndcg@10", table["dot"].value)
    goals.note("ours, cosine, held-out ndcg@10", table["cosine"].value)
    # neither is tuned: lambda 10 here, the library's defaults there
    model = implicit.als.AlternatingLeastSquares(factors=k, iterations=15, random_state=0)
    started = time.perf_counter()
    model.fit(csr_matrix(split.train), show_progress=False)
    goals.note("implicit's ALS, seconds", time.perf_counter() - started)
    table = osp.compare(split.task, vectors_of(model, split), ["dot"])
    goals.note("implicit's ALS, dot, held-out ndcg@10", table["dot"].value)
    goals.note("implicit's ALS, cosine, held-out ndcg@10", table["cosine"].value)


def vectors_of(model: object, split: HeldOutInteractions) -> osp.RankingVectors:
    users, items = np.asarray(model.user_factors), np.asarray(model.item_factors)
    return osp.RankingVectors.of(split.task, users[split.users].astype(np.float32), items.astype(np.float32))


if __name__ == "__main__":
    main()
