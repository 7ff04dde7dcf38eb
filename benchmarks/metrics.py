"""Per-query metrics of a run of 7,000 queries x 100 documents: against pytrec_eval and ranx, same values."""

from __future__ import annotations

import numpy as np
import pytrec_eval
import ranx
from harness import Clock, Goals, quick

from offsphere.data.judgments import Judgments
from offsphere.statistics.metrics import parse_metric

OURS = ["ndcg@10", "mrr@10", "recall@100", "map@100"]
TREC = {"ndcg_cut.10", "recip_rank", "recall.100", "map_cut.100"}


def main() -> None:
    small = quick(__doc__)
    queries, documents = (100, 1_000) if small else (7_000, 100_000)
    rng = np.random.default_rng(0)
    ranked = np.stack([rng.choice(documents, 100, replace=False) for _ in range(queries)])
    judged = np.stack([rng.choice(row, 5, replace=False) for row in ranked])
    grades = rng.integers(1, 4, judged.shape)
    owner = np.repeat(np.arange(queries), 5)
    judgments = Judgments.of(owner, judged.ravel(), grades.ravel().astype(float), queries, documents)

    qrels = {f"q{q}": {f"d{d}": int(g) for d, g in zip(judged[q], grades[q], strict=True)} for q in range(queries)}
    run = {f"q{q}": {f"d{d}": 100.0 - rank for rank, d in enumerate(ranked[q])} for q in range(queries)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, TREC)
    ranx_qrels, ranx_run = ranx.Qrels(qrels), ranx.Run(run)
    ranx.evaluate(ranx_qrels, ranx_run, OURS)  # compile

    def ours() -> dict[str, np.ndarray]:
        gains, ideal = judgments.gains(ranked), judgments.ideal()
        return {name: parse_metric(name).function(gains, ideal, parse_metric(name).depth) for name in OURS}

    clock = Clock()
    clock.run(
        {
            "ours": ours,
            "pytrec_eval": lambda: evaluator.evaluate(run),
            "ranx": lambda: ranx.evaluate(ranx_qrels, ranx_run, OURS, return_mean=False),
        },
        1 if small else 5,
    )
    clock.show()
    theirs = evaluator.evaluate(run)
    assert np.allclose(ours()["ndcg@10"], [theirs[f"q{q}"]["ndcg_cut_10"] for q in range(queries)])
    goals = Goals()
    note = goals.note if small else (lambda name, value: goals.at_least(name, value, 1.0))
    note("pytrec_eval / ours, CPU", clock.cpu["pytrec_eval"] / clock.cpu["ours"])
    note("ranx / ours, CPU", clock.cpu["ranx"] / clock.cpu["ours"])
    goals.finish()


if __name__ == "__main__":
    main()
