"""Measure candidates on a task: each distinct scorer once, tuned families by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.candidates import Candidate
from offsphere.data.evaluator import Bank, Evaluator
from offsphere.ranking.hub_bias import CSLS_NEIGHBOURS, NNN_NEIGHBOURS, nearest_means, with_csls, with_nnn
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.statistics.cross_validation import TunedMeasurement, tune, tune_made_by_fold

MeasuredCandidate = tuple[Candidate, TunedMeasurement]

ALPHAS = (0.25, 0.5, 0.75, 1.0)  # of nearest-neighbour normalisation


def tuned_candidates(evaluator: Evaluator, candidates: Sequence[Candidate], *, extra: bool) -> list[MeasuredCandidate]:
    """Measure and tune all candidates in one search; with ``extra`` also those that are made from other queries."""
    bank, kind = evaluator.bank, evaluator.metric.kind
    if extra and kind == "pooled" and bank is not None:
        candidates = [*candidates, Candidate.fixed(standardize_queries(Scorer(COSINE), bank.documents))]
    # a bias leaves out what csls takes from the query, so it can only be judged query by query
    made = _made_by_fold(evaluator, bank) if extra and kind == "ranking" and bank is not None else []
    scorers = [option for candidate in candidates for option in candidate.options]
    scorers += [option for _, groups in made for group in groups for option in group.options]
    measured = iter(evaluator.values(scorers))
    evaluation, folds = evaluator.evaluation, evaluator.folds
    results = [
        (candidate, tune([next(measured) for _ in candidate.options], evaluation, folds)) for candidate in candidates
    ]
    for whole, groups in made:
        options = [[next(measured) for _ in group.options] for group in groups]
        results.append((whole, tune_made_by_fold(options, evaluation, folds)))
    return results


def _made_by_fold(evaluator: Evaluator, bank: Bank) -> list[tuple[Candidate, list[Candidate]]]:
    """Biases against hubs, each made for a fold from a bank of the other folds' queries.

    The first of a pair is made from all queries, to be deployed; it is never measured.
    """
    folds = evaluator.folds
    count = int(folds.max()) + 1
    if count < 2:  # noqa: PLR2004
        return []
    queries = [bank.queries, *(bank.queries[folds != fold] for fold in range(count))]
    neighbours = (NNN_NEIGHBOURS, CSLS_NEIGHBOURS)

    def means() -> dict[str, Array]:
        by_bank = [nearest_means(Scorer(COSINE), bank.documents, some, *neighbours) for some in queries]
        return {"nnn": np.stack([one[0] for one in by_bank]), "csls": np.stack([one[1] for one in by_bank])}

    banks = cast("dict[str, Array]", evaluator.memo.arrays("banks", means))
    whole, *by_fold = [_biased(*rows) for rows in zip(banks["nnn"], banks["csls"], strict=True)]
    return [(whole[number], [family[number] for family in by_fold]) for number in range(len(whole))]


def _biased(nnn_means: Array, csls_means: Array) -> list[Candidate]:
    cosine = Scorer(COSINE)
    options = tuple(with_nnn(cosine, nnn_means, alpha) for alpha in ALPHAS)
    return [
        Candidate("cosine + nnn (tuned)", options, tuple({"alpha": alpha} for alpha in ALPHAS)),
        Candidate("cosine + csls", (with_csls(cosine, csls_means),), ({},)),
    ]
