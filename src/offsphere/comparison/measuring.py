"""Measure candidates on a task: each distinct scorer once, tuned families by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.progress import Progress
from offsphere.comparison.candidates import Candidate
from offsphere.data.judgments import Judgments
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import RankingTask
from offsphere.data.task_vectors import PairVectors, RankingVectors
from offsphere.ranking.hub_bias import CSLS_NEIGHBOURS, NNN_NEIGHBOURS, nearest_means, with_csls, with_nnn
from offsphere.ranking.search import TopK, search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE
from offsphere.scoring.standardization import standardize_queries
from offsphere.statistics.cross_validation import TunedMeasurement, tune, tune_made_by_fold
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries, OverPairs, OverPool
from offsphere.statistics.metrics import Metric

MeasuredCandidate = tuple[Candidate, TunedMeasurement]

ALPHAS = (0.25, 0.5, 0.75, 1.0)  # of nearest-neighbour normalisation


class Evaluator(Protocol):
    """Gives the held-out measurement of every candidate."""

    @property
    def evaluation(self) -> Evaluation:
        """What the measurements are and how they are summed up."""
        ...

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """The measurement of each scorer as it is."""
        ...

    def tuned(self, candidates: Sequence[Candidate], *, extra: bool) -> list[MeasuredCandidate]:
        """Measure and tune all candidates; with ``extra`` also those that are made from other queries."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class RankingEvaluator:
    """A ranking task and its vectors under one metric."""

    task: RankingTask
    vectors: RankingVectors
    metric: Metric
    folds: Index
    progress: Progress | None = None
    memo: Memo = field(default_factory=Memo)

    @property
    def evaluation(self) -> Evaluation:
        """A mean over queries, or a pool of them."""
        if self.metric.kind == "ranking":
            return MeanOverQueries(len(self.task.query_ids))
        totals = self.task.judgments.relevant.astype(np.float64)
        return OverPool(len(self.task.query_ids), totals, cast("Any", self.metric.function))

    def tuned(self, candidates: Sequence[Candidate], *, extra: bool) -> list[MeasuredCandidate]:
        """One search for everything."""
        if extra and self.metric.kind == "pooled":
            calibrated = standardize_queries(Scorer(COSINE), self.vectors.documents)
            candidates = [*candidates, Candidate.fixed(calibrated)]
        # a bias leaves out what csls takes from the query, so it can only be judged query by query
        made = self._made_by_fold() if extra and self.metric.kind == "ranking" else []
        scorers = [option for candidate in candidates for option in candidate.options]
        scorers += [option for _, groups in made for group in groups for option in group.options]
        measured = self._measured(scorers)
        results = [
            (candidate, tune([measured[id(option)] for option in candidate.options], self.evaluation, self.folds))
            for candidate in candidates
        ]
        for whole, groups in made:
            options = [[measured[id(option)] for option in group.options] for group in groups]
            results.append((whole, tune_made_by_fold(options, self.evaluation, self.folds)))
        return results

    def _made_by_fold(self) -> list[tuple[Candidate, list[Candidate]]]:
        """Biases against hubs, each made for a fold from a bank of the other folds' queries.

        The first of a pair is made from all queries, to be deployed; it is never measured.
        """
        count = int(self.folds.max()) + 1
        if count < 2:  # noqa: PLR2004
            return []
        queries = [self.vectors.queries, *(self.vectors.queries[self.folds != fold] for fold in range(count))]
        neighbours = (NNN_NEIGHBOURS, CSLS_NEIGHBOURS)

        def means() -> dict[str, Array]:
            found = [nearest_means(Scorer(COSINE), self.vectors.documents, bank, *neighbours) for bank in queries]
            return {"nnn": np.stack([bank[0] for bank in found]), "csls": np.stack([bank[1] for bank in found])}

        banks = cast("dict[str, Array]", self.memo.arrays("banks", means))
        whole, *by_fold = [_biased(*rows) for rows in zip(banks["nnn"], banks["csls"], strict=True)]
        return [(whole[place], [family[place] for family in by_fold]) for place in range(len(whole))]

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """The measurement of each scorer as it is."""
        measured = self._measured(scorers)
        return [measured[id(scorer)] for scorer in scorers]

    def _measured(self, scorers: Sequence[Scorer]) -> dict[int, Array]:
        """Each scorer's measurement by its identity; scorers that must rank alike are searched once."""
        keys = [self._key(scorer) for scorer in scorers]
        distinct = dict(zip(keys, scorers, strict=True))
        by_map: dict[int, dict[object, Scorer]] = {}
        for key, scorer in distinct.items():
            by_map.setdefault(id(scorer.map), {})[key] = scorer
        joined: dict[object, Array] = {}
        for group in by_map.values():  # each is kept as soon as it is there: a kill loses one of them
            joined |= self._kept(group)
        return {id(scorer): joined[key] for key, scorer in zip(keys, scorers, strict=True)}

    def _kept(self, scorers: Mapping[object, Scorer]) -> dict[object, Array]:
        """The measurements of scorers that share a transform, from the memo where they are there."""
        names = digest_of(scorer.identity for scorer in scorers.values())
        kept = self.memo.arrays(f"searched-{names}", lambda: {"found": self._searched(list(scorers.values()))})
        return dict(zip(scorers, cast("Array", kept["found"]), strict=True))

    def _searched(self, scorers: Sequence[Scorer]) -> Array:
        """The measurements of scorers that all rank differently: (scorers, queries, ...)."""
        parts: list[list[Array]] = [[] for _ in scorers]
        order = []
        for chosen, found in self._rankings(scorers):
            judgments = self.task.judgments.only(chosen)
            ideal = judgments.ideal()
            order.append(chosen)
            for part, top in zip(parts, found, strict=True):
                part.append(self._value(judgments.gains(top.documents), ideal, top.scores))
        back = np.argsort(np.concatenate(order), kind="stable")
        return np.stack([np.concatenate(part)[back] for part in parts])

    def _rankings(self, scorers: Sequence[Scorer]) -> Iterator[tuple[Index, list[TopK]]]:
        """Some queries at a time, without what they must not get; those that must not get much are searched deeper."""
        queries, documents, depth = self.vectors.queries, self.vectors.documents, self.metric.depth
        excluded = self.task.excluded
        if excluded is None:
            yield from search_in_turns(queries, documents, scorers, depth, progress=self.progress)
            return
        counts = excluded.relevant
        bands = np.ceil(np.log2(counts + 1)).astype(np.int64)
        for band in np.unique(bands).tolist():
            rows = np.flatnonzero(bands == band)
            deeper = depth + int(counts[rows].max())
            for some, found in search_in_turns(queries[rows], documents, scorers, deeper, progress=self.progress):
                chosen = rows[some]
                yield chosen, [_without(top, excluded.only(chosen), depth) for top in found]

    def _value(self, gains: Array, ideal: Array, scores: Array) -> Array:
        if self.metric.kind == "ranking":
            return np.asarray(self.metric.function(gains, ideal, self.metric.depth))
        return np.stack([scores, (gains > 0).astype(np.float64)], axis=-1)

    def _key(self, scorer: Scorer) -> object:
        if not scorer.is_plain:
            return id(scorer)
        return id(scorer.map), scorer.similarity.alike(self.metric.alike)


@dataclass(frozen=True, slots=True, eq=False)
class PairEvaluator:
    """A pair task and its vectors under one correlation."""

    task: PairTask
    vectors: PairVectors
    metric: Metric
    folds: Index

    @property
    def evaluation(self) -> Evaluation:
        """A correlation over pairs."""
        function, each = cast("Any", self.metric.function), cast("Any", self.metric.contributions)
        return OverPairs(self.task.gold, function, each, by_rank=self.metric.label != "pearson")

    def tuned(self, candidates: Sequence[Candidate], *, extra: bool) -> list[MeasuredCandidate]:  # noqa: ARG002
        """Score all pairs under every option."""
        return [
            (candidate, tune(self.values(candidate.options), self.evaluation, self.folds)) for candidate in candidates
        ]

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """The scores of the pairs under each scorer. A pair that has no value ranks last."""
        return [_finite(scorer.score_pairs(self.vectors.left, self.vectors.right)) for scorer in scorers]


def value_of(measuring: Evaluator, measured: Array) -> float:
    """The value of one measurement over all queries or pairs."""
    evaluation = measuring.evaluation
    return float(evaluation.evaluate(measured, np.ones((1, evaluation.units)))[0])


def _biased(nnn_means: Array, csls_means: Array) -> list[Candidate]:
    cosine = Scorer(COSINE)
    options = tuple(with_nnn(cosine, nnn_means, alpha) for alpha in ALPHAS)
    return [
        Candidate("cosine + nnn (tuned)", options, tuple({"alpha": alpha} for alpha in ALPHAS)),
        Candidate("cosine + csls", (with_csls(cosine, csls_means),), ({},)),
    ]


def _without(top: TopK, excluded: Judgments, depth: int) -> TopK:
    """The ranking without what must not be in it; what is missing then at its end is number -1, relevant to nobody."""
    gone = excluded.gains(top.documents) > 0
    order = np.argsort(gone, axis=1, kind="stable")[:, :depth]
    left = ~np.take_along_axis(gone, order, axis=1)
    documents, scores = (np.take_along_axis(part, order, axis=1) for part in top)
    return TopK(np.where(left, documents, -1), np.where(left, scores, -np.inf))


def _finite(scores: Array) -> Array:
    finite = scores[np.isfinite(scores)]
    return np.where(np.isfinite(scores), scores, finite.min() - 1 if len(finite) else 0.0)
