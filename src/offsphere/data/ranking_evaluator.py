"""What scorers are worth on a ranking task: one exact search for all of them, then the metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of
from offsphere.base.progress import Progress
from offsphere.data.judgments import Judgments
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.search import TopK, search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries, OverPool
from offsphere.statistics.metrics import Metric


@dataclass(frozen=True, slots=True, eq=False)
class RankingEvaluator:
    """Judgments, what a query must not get, and vectors, under one metric."""

    judgments: Judgments
    excluded: Judgments | None
    vectors: RankingVectors
    metric: Metric
    folds: Index
    progress: Progress | None = None
    memo: Memo = field(default_factory=Memo)

    @property
    def evaluation(self) -> Evaluation:
        """A mean over queries, or a pool of them."""
        if self.metric.kind == "ranking":
            return MeanOverQueries(self.judgments.query_count)
        totals = self.judgments.relevant.astype(np.float64)
        return OverPool(self.judgments.query_count, totals, cast("Any", self.metric.function))

    @property
    def bank(self) -> RankingVectors | None:
        """The task's own queries and documents."""
        return self.vectors

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
        names = digest_of(scorer.key.encode() for scorer in scorers.values())
        kept = self.memo.arrays(f"searched-{names}", lambda: {"found": self._searched(list(scorers.values()))})
        return dict(zip(scorers, cast("Array", kept["found"]), strict=True))

    def _searched(self, scorers: Sequence[Scorer]) -> Array:
        """The measurements of scorers that all rank differently: (scorers, queries, ...)."""
        parts: list[list[Array]] = [[] for _ in scorers]
        order = []
        for chosen, found in self._rankings(scorers):
            judgments = self.judgments.only(chosen)
            ideal = judgments.ideal()
            order.append(chosen)
            for part, top in zip(parts, found, strict=True):
                part.append(self._value(judgments.gains(top.documents), ideal, top.scores))
        back = np.argsort(np.concatenate(order), kind="stable")
        return np.stack([np.concatenate(part)[back] for part in parts])

    def _rankings(self, scorers: Sequence[Scorer]) -> Iterator[tuple[Index, list[TopK]]]:
        """Some queries at a time, without what they must not get; those that must not get much are searched deeper."""
        queries, documents, depth = self.vectors.queries, self.vectors.documents, self.metric.depth
        excluded = self.excluded
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
        return id(scorer.map), scorer.similarity.agreement_key(self.metric.agreement)


def _without(top: TopK, excluded: Judgments, depth: int) -> TopK:
    """The ranking without what must not be in it; what is missing then at its end is number -1, relevant to nobody."""
    gone = excluded.gains(top.documents) > 0
    order = np.argsort(gone, axis=1, kind="stable")[:, :depth]
    left = ~np.take_along_axis(gone, order, axis=1)
    documents, scores = (np.take_along_axis(part, order, axis=1) for part in top)
    return TopK(np.where(left, documents, -1), np.where(left, scores, -np.inf))
