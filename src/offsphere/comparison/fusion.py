"""Fusion: the lists of another system and those of a scorer, joined to one; by ranks, or by standardised scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.comparison.dense_lists import dense_lists, depth_for, ranking_of
from offsphere.comparison.list_source import ListCandidate, ListRequest, ListSource, NotListedError
from offsphere.data.scored_lists import ScoredLists
from offsphere.scoring.given_scorer import fitted_scorer
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer

DEPTH = 1_000  # documents of a scorer that take part
RANKS = 60  # of reciprocal rank fusion (Cormack et al. 2009)
WEIGHTS = tuple(round(0.1 * step, 1) for step in range(11))  # of the other system; the scorer has the rest


@dataclass(frozen=True, slots=True)
class Fusion:
    """What another system and a scorer find together: two rows, by reciprocal rank and by a weighted sum.

    The sum is of scores that are standardised query by query over each list; a document that is not in a list gets the
    lowest score of it. Its weight is tuned by cross-validation, so that its value is of queries that took no part.

    Args:
        source: the other system, such as ``osp.Bm25()`` or ``osp.RunFile("theirs.run")``.
        scorer: the scorer it is joined with, or its name.

    Example:
        >>> import offsphere as osp
        >>> osp.Fusion(osp.Bm25(), "dot").scorer.name
        'dot'
    """

    source: ListSource
    scorer: Scorer | str = "cosine"

    def __post_init__(self) -> None:
        """Read the name of the scorer, so that a misspelt one is refused at once."""
        if isinstance(self.scorer, str):
            object.__setattr__(self, "scorer", parse_scorer(self.scorer))

    def candidates(self, asked: ListRequest) -> Sequence[ListCandidate]:
        """Join every list of the other system with that of the scorer."""
        assert isinstance(self.scorer, Scorer)  # the name was read
        _, vectors = ranking_of(asked, f"fusion with {self.scorer.name}")
        others = [other for other in self.source.candidates(asked) if len(other.options) == 1]
        if not others:
            raise NotListedError(f"fusion with {self.scorer.name} is left out: what it is joined with is itself tuned")
        what = f"fusion with {self.scorer.name}"
        dense = dense_lists(asked, fitted_scorer(self.scorer, vectors.fitted_on), depth_for(asked, DEPTH), what)
        return [row for other in others for row in _rows(other, self.scorer, dense)]


def _rows(other: ListCandidate, scorer: Scorer, dense: ScoredLists) -> list[ListCandidate]:
    """The two rows of one system and one scorer."""
    name, (lists,) = f"{other.name} + {scorer.name}", other.options
    weights = [{"weight": weight} for weight in WEIGHTS]
    by_rank = f"join the ranks of {other.name} and {scorer.name}"
    by_score = f"add standardised scores of {other.name} and {scorer.name}"
    return [
        ListCandidate(f"{name} (ranks)", by_rank, [reciprocal_ranks([lists, dense])]),
        ListCandidate(f"{name} (scores)", by_score, weighted_sums(lists, dense, WEIGHTS), weights),
    ]


def reciprocal_ranks(lists: Sequence[ScoredLists], k: int = RANKS) -> ScoredLists:
    """Join lists by the sum of ``1 / (k + rank)`` (Cormack et al. 2009); who is not in a list adds nothing.

    Args:
        lists: of the same queries.
        k: how little the first ranks count above the others.
    """
    parts = [np.broadcast_to(1.0 / (k + 1 + np.arange(part.depth)), part.scores.shape) for part in lists]
    documents, (first, *rest) = _joined([part.documents for part in lists], parts, np.zeros((len(lists), 1)))
    return ScoredLists.ranked(documents, sum(rest, first))


def weighted_sums(first: ScoredLists, second: ScoredLists, weights: Sequence[float]) -> list[ScoredLists]:
    """Join two lists by ``weight z(first) + (1 - weight) z(second)``, one list for each weight.

    Args:
        first: lists of some queries.
        second: lists of the same queries.
        weights: from 0 to 1.
    """
    standard = [standard_scores(part) for part in (first, second)]
    lowest = [np.where(np.isfinite(part), part, np.inf).min(axis=1) for part in standard]
    missing = np.stack([np.where(np.isfinite(low), low, 0.0) for low in lowest])
    documents, (left, right) = _joined([first.documents, second.documents], standard, missing)
    return [ScoredLists.ranked(documents, weight * left + (1 - weight) * right) for weight in weights]


def standard_scores(lists: ScoredLists) -> Array:
    """Give the scores of each list mean 0 and deviation 1; equal scores all become 0."""
    known = lists.scores > -np.inf
    counts = np.maximum(known.sum(axis=1, keepdims=True), 1)
    scores = np.where(known, lists.scores, 0.0)
    mean = scores.sum(axis=1, keepdims=True) / counts
    spread = np.sqrt((np.where(known, scores - mean, 0.0) ** 2).sum(axis=1, keepdims=True) / counts)
    return np.where(known, (scores - mean) / np.where(spread > 0, spread, 1.0), -np.inf)


def _joined(
    documents: Sequence[Index | None], values: Sequence[Array], missing: Array
) -> tuple[Index, tuple[Array, ...]]:
    """The documents of any of the lists, and their values in each; ``missing`` (lists, queries or 1) for the others."""
    lists = [part for part in documents if part is not None]
    queries, widths = len(lists[0]), [part.shape[1] for part in lists]
    joined = np.full((queries, sum(widths)), -1, np.int64)
    parts = tuple(np.zeros(joined.shape) for _ in lists)
    absent = np.broadcast_to(missing, (len(lists), queries))
    for query in range(queries):
        listed = np.concatenate([part[query] for part in lists])
        distinct = np.unique(listed[listed >= 0])
        joined[query, : len(distinct)] = distinct
        for number, part in enumerate(lists):
            row = np.full(len(distinct), absent[number, query])
            there = part[query] >= 0
            row[np.searchsorted(distinct, part[query][there])] = values[number][query][there]
            parts[number][query, : len(distinct)] = row
    width = max(1, int((joined >= 0).sum(axis=1).max(initial=0)))
    return joined[:, :width], tuple(part[:, :width] for part in parts)
