"""Measure candidates on a task: each distinct scorer once, tuned families by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Array, Vectors
from offsphere.base.digests import digest_of
from offsphere.comparison.candidates import Candidate
from offsphere.comparison.length_priors import length_priors
from offsphere.data.evaluator import Bank, Evaluator, JudgedEvaluator
from offsphere.ranking.hub_bias import CSLS_NEIGHBOURS, NNN_NEIGHBOURS, with_csls, with_nnn
from offsphere.scoring.query_bank import nearest_means, thin_bank
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.statistics.cross_validation import TunedMeasurement, tune, tune_fold_options


class MeasuredCandidate(NamedTuple):
    """A candidate, its held-out measurement, and that of each of its options."""

    candidate: Candidate
    tuned: TunedMeasurement
    options: Sequence[Array]  # nothing for pooled metrics, where they are large and nobody chooses by them
    by_fold: Sequence[Sequence[Array]] = ()  # options of each fold, where they were made without it


ALPHAS = (0.25, 0.5, 0.75, 1.0)  # of nearest-neighbour normalisation


class ListedCandidates(NamedTuple):
    """Everything that one search measures: candidates, and those that are made anew for each fold."""

    candidates: Sequence[Candidate]
    by_fold: Sequence[
        tuple[Candidate, list[Candidate]]
    ]  # the one to deploy, which is never measured; one for each fold

    @property
    def scorers(self) -> list[Scorer]:
        """All options of all of them, in the order in which they are measured."""
        listed = [*self.candidates, *(candidate for _, folds in self.by_fold for candidate in folds)]
        return [option for candidate in listed for option in candidate.options]


def tune_candidates(
    evaluator: Evaluator, candidates: Sequence[Candidate], *, extra: bool, more: bool = False
) -> list[MeasuredCandidate]:
    """Measure and tune all candidates in one search; the arguments are those of ``list_candidates``."""
    listed = list_candidates(evaluator, candidates, extra=extra, more=more)
    return tune_listed(evaluator, listed)


def list_candidates(
    evaluator: Evaluator, candidates: Sequence[Candidate], *, extra: bool, more: bool = False
) -> ListedCandidates:
    """Add to the candidates what is made from queries and documents.

    Args:
        evaluator: what measures them.
        candidates: the first is the baseline.
        extra: whether to add what is made from other queries: biases against hubs, or one scale for all queries.
        more: whether to add a free function of the length, which is fitted to other queries' judgments.
    """
    bank, kind = evaluator.bank, evaluator.metric.kind
    if extra and kind == "pooled" and bank is not None:
        candidates = [*candidates, Candidate.fixed(standardize_queries(Scorer(COSINE), bank.documents))]
    # a bias leaves out what csls takes from the query, so it can only be judged query by query
    biased = _hub_biases_by_fold(evaluator, bank) if extra and kind == "ranking" and bank is not None else []
    if more and kind == "ranking" and isinstance(evaluator, JudgedEvaluator):
        prior = length_priors(evaluator)
        biased += [prior] if prior is not None else []
    return ListedCandidates(candidates, biased)


def tune_listed(evaluator: Evaluator, listed: ListedCandidates) -> list[MeasuredCandidate]:
    """Measure all that is listed in one search, and choose for each fold on the others."""
    measured = iter(evaluator.values(listed.scorers))
    evaluation, folds, kind = evaluator.evaluation, evaluator.folds, evaluator.metric.kind
    results = []
    for candidate in listed.candidates:
        options = [next(measured) for _ in candidate.options]
        kept = options if kind != "pooled" else []
        results.append(MeasuredCandidate(candidate, tune(options, evaluation, folds), kept))
    for whole, by_fold in listed.by_fold:
        made = [[next(measured) for _ in candidate.options] for candidate in by_fold]
        # each query by a bias that its own fold took no part in
        options = [evaluation.assemble(list(same), folds) for same in zip(*made, strict=True)]
        results.append(MeasuredCandidate(whole, tune_fold_options(made, evaluation, folds), options, made))
    return results


def _hub_biases_by_fold(evaluator: Evaluator, bank: Bank) -> list[tuple[Candidate, list[Candidate]]]:
    """Make biases against hubs, for each fold from a bank of the other folds' queries.

    The first of a pair is made from all queries, to be deployed, and knows its documents by their ids; it is never
    measured. The others go by row number, for this corpus alone.
    """
    folds = evaluator.folds
    count = int(folds.max()) + 1
    if count < 2:  # noqa: PLR2004
        return []
    kept = thin_bank(bank.queries)
    banks = [kept, *(bank.queries[folds != fold] for fold in range(count))]
    neighbours = (NNN_NEIGHBOURS, CSLS_NEIGHBOURS)

    def means() -> dict[str, Array]:
        if not len(bank.documents):  # an empty shard, or what is left when shards have been merged
            return {name: np.zeros((len(banks), 0)) for name in ("nnn", "csls")}
        by_bank = [
            nearest_means(Scorer(COSINE).transform, COSINE, bank.documents, queries, *neighbours) for queries in banks
        ]
        return {"nnn": np.stack([nnn for nnn, _ in by_bank]), "csls": np.stack([csls for _, csls in by_bank])}

    arrays = cast("dict[str, Array]", evaluator.memo.arrays(f"banks-{digest_of([folds.tobytes()])}", means))
    deployed, *rows_by_fold = zip(arrays["nnn"], arrays["csls"], strict=True)
    whole = _hub_biases(*deployed, bank.document_ids, kept)
    by_fold = [_hub_biases(*rows) for rows in rows_by_fold]
    return [(whole[number], [candidates[number] for candidates in by_fold]) for number in range(len(whole))]


def _hub_biases(
    nnn_means: Array, csls_means: Array, ids: Sequence[str] | None = None, bank: Vectors | None = None
) -> list[Candidate]:
    """Make both biases from the documents' nearness to the queries of one bank."""
    cosine = Scorer(COSINE)
    options = tuple(with_nnn(cosine, nnn_means, alpha, ids=ids, bank=bank) for alpha in ALPHAS)
    return [
        Candidate("cosine + nnn (tuned)", options, tuple({"alpha": alpha} for alpha in ALPHAS), tuned=True),
        Candidate("cosine + csls", (with_csls(cosine, csls_means, ids=ids, bank=bank),), ({},)),
    ]
