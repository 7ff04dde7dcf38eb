"""A free function of the length beside the cosine, fitted for each fold to the judgments of all other folds."""

from __future__ import annotations

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.candidates import Candidate
from offsphere.data.evaluator import JudgedEvaluator
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE, LengthPrior
from offsphere.statistics.monotone_logit import fit_monotone
from offsphere.vectors.blocks import Blocks
from offsphere.vectors.lengths import are_equal, lengths

BINS = 24  # of about as many documents each
LISTED = 100  # documents a query that the function is fitted to, the nearest by cosine
STRENGTHS = (0.25, 0.5, 1.0, 2.0)  # of the fitted function: what is likeliest is not what ranks best


def length_priors(evaluator: JudgedEvaluator) -> tuple[Candidate, list[Candidate]] | None:
    """Fit the function on all queries, and for each fold on the others.

    Which documents are looked at depends on the cosine alone, so that the model, which is of relevance given the
    cosine, is not bent by it.

    Args:
        evaluator: of a task with judged lists.

    Returns:
        The candidate to deploy, which is never measured, and one for each fold; nothing where there is one fold, or all
        lengths are equal.
    """
    folds = evaluator.folds
    count = int(folds.max()) + 1
    document_lengths = np.concatenate([lengths(block) for block in Blocks.of(evaluator.searched)])
    knots, bins = _bins(document_lengths)
    if count < 2 or len(knots) < 2 or are_equal(document_lengths):  # noqa: PLR2004
        return None
    top, grades = evaluator.judged_lists(Scorer(COSINE), LISTED)

    def candidate(rows: Index) -> Candidate:
        known = (top.documents[rows] >= 0) & np.isfinite(top.scores[rows])
        listed = top.documents[rows][known]
        fit = fit_monotone(top.scores[rows][known], bins[listed], grades[rows][known] > 0, len(knots))
        heights = fit.heights / fit.slope if fit.slope > 0 else np.zeros(len(knots))
        return _candidate(knots, heights)

    by_fold = [candidate(np.flatnonzero(folds != fold)) for fold in range(count)]
    return candidate(np.arange(len(folds))), by_fold


def _candidate(knots: Array, heights: Array) -> Candidate:
    options = tuple(Scorer(LengthPrior(knots, strength * heights)) for strength in STRENGTHS)
    return Candidate(
        "length-prior (tuned)", options, tuple({"strength": strength} for strength in STRENGTHS), tuned=True
    )


def _bins(document_lengths: Array) -> tuple[Array, Index]:
    """Divide documents by their length: the mean logarithm of each bin, and the bin of each document."""
    logarithms = np.log(np.where(document_lengths > 0, document_lengths, 1.0))
    edges = np.unique(np.quantile(logarithms, np.linspace(0, 1, BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, logarithms)
    used, bins = np.unique(bins, return_inverse=True)
    sums, counts = np.bincount(bins, logarithms), np.bincount(bins)
    knots = sums / counts
    return (knots, bins) if len(used) > 1 and (np.diff(knots) > 0).all() else (knots[:1], np.zeros_like(bins))
