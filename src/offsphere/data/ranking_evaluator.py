"""What scorers are worth on a ranking task: one exact search for all of them, then the metric."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.cache import Memo
from offsphere.base.digests import digest_of, digest_of_texts
from offsphere.base.progress import Progress
from offsphere.data.judgments import Judgments
from offsphere.data.scored_lists import ScoredLists
from offsphere.data.task_vectors import RankingVectors
from offsphere.ranking.reranking import TwoSteps, search_again
from offsphere.ranking.search import TopK, search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.evaluation import Evaluation, MeanOverQueries, OverPool
from offsphere.statistics.metrics import QualityMetric

Ranked = Iterator[tuple[Index, list[TopK]]]  # numbers of some queries, and their lists under each scorer


class NamedDocuments(NamedTuple):
    """Queries, and documents with their ids: what biases against hubs are made from."""

    queries: Vectors
    documents: Vectors
    document_ids: Sequence[str]


@dataclass(frozen=True, slots=True, eq=False)
class RankingEvaluator:
    """Measures scorers by judgments, without what a query must not get, under one metric."""

    judgments: Judgments
    excluded: Judgments | None
    vectors: RankingVectors
    document_ids: Sequence[str]
    _: KW_ONLY
    metric: QualityMetric
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
    def bank(self) -> NamedDocuments | None:
        """The queries and documents of the task."""
        return NamedDocuments(self.vectors.queries, self.vectors.documents, self.document_ids)

    def values(self, scorers: Sequence[Scorer]) -> list[Array]:
        """Measure each scorer; those that must come out the same are searched once."""
        keys = [self._key(scorer) for scorer in scorers]
        distinct = dict(zip(keys, scorers, strict=True))
        by_map: dict[str, dict[Hashable, Scorer]] = {}
        for key, scorer in distinct.items():
            by_map.setdefault(scorer.map_key, {})[key] = scorer
        measured: dict[Hashable, Array] = {}
        for group in by_map.values():  # each is kept as soon as it is there: a kill loses one of them
            measured |= self._measure_group(group)
        return [measured[key] for key in keys]

    def list_values(self, lists: Sequence[ScoredLists]) -> list[Array]:
        """Measure lists that some other system made, without what a query must not get."""
        return [self._measure_lists(some) for some in lists]

    @property
    def searched(self) -> Vectors:
        """The vectors of the documents."""
        return self.vectors.documents

    def lists(self, scorers: Sequence[Scorer], depth: int) -> list[TopK]:
        """Search for all queries under several scorers in one pass, without what a query must not get.

        What was searched before is read from the memo.
        """
        depth = min(depth, self.judgments.document_count)
        pairs = self.excluded.pairs if self.excluded is not None else ()
        asked = [*self._names(scorers), str(depth).encode(), np.ascontiguousarray(self.vectors.queries).tobytes()]
        without = [np.ascontiguousarray(part).tobytes() for part in pairs]
        kept = self.memo.arrays(f"lists-{digest_of([*asked, *without])}", lambda: self._search_lists(scorers, depth))
        documents, scores = kept["documents"].astype(np.int64), cast("Array", kept["scores"])
        return [TopK(*each) for each in zip(documents, scores, strict=True)]

    def _search_lists(self, scorers: Sequence[Scorer], depth: int) -> dict[str, Any]:
        """The documents and scores of each scorer's lists: (scorers, queries, depth) each."""
        turns = [tops for _, tops in self._search(scorers, depth)]
        tops = [TopK(*(np.concatenate(part) for part in zip(*each, strict=True))) for each in zip(*turns, strict=True)]
        documents, scores = (np.stack(part) for part in zip(*tops, strict=True))
        return {"documents": documents.astype(np.int32), "scores": scores}

    def judged_lists(self, scorer: Scorer, depth: int) -> tuple[TopK, Array]:
        """Search for all queries, without what they must not get; the grades of what is found."""
        (top,) = self.lists([scorer], depth)
        return top, self.judgments.gains(top.documents)

    def two_step_values(self, searches: Sequence[TwoSteps]) -> list[Array]:
        """Measure searches in which one scorer finds and another ranks again."""
        return [self._measure_steps(steps) for steps in searches]

    def _measure_group(self, scorers: Mapping[Hashable, Scorer]) -> dict[Hashable, Array]:
        """Measure scorers whose transforms do the same, from the memo where their measurements are there."""
        name = f"searched-{digest_of([self.metric.name.encode(), *self._names(list(scorers.values()))])}"
        kept = self.memo.arrays(name, lambda: {"measured": self._measure(list(scorers.values()))})
        return dict(zip(scorers, cast("Array", kept["measured"]), strict=True))

    def _names(self, scorers: Sequence[Scorer]) -> list[bytes]:
        """What scorers are known by, and the documents' ids where a bias is looked up by them."""
        named = [scorer.key for scorer in scorers]
        if any(scorer.bias is not None and scorer.bias.ids is not None for scorer in scorers):
            named.append(digest_of_texts(self.document_ids))
        return [name.encode() for name in named]

    def _measure(self, scorers: Sequence[Scorer]) -> Array:
        """Search with scorers that all rank differently, and measure them: (scorers, queries, ...)."""
        return self._measure_ranked(self._search(scorers, self.metric.depth, self.progress))

    def _search(self, scorers: Sequence[Scorer], depth: int, progress: Progress | None = None) -> Ranked:
        """Rank for some queries at a time, in their order, without what they must not get."""
        return search_in_turns(
            self.vectors.queries,
            self.vectors.documents,
            scorers,
            depth,
            ids=self.document_ids,
            excluded=self.excluded.pairs if self.excluded is not None else None,
            progress=progress,
        )

    def _measure_steps(self, steps: TwoSteps) -> Array:
        """Search in two steps and measure what is found, from the memo where it is there: (queries, ...)."""
        excluded = self.excluded.pairs if self.excluded is not None else None

        def ranked() -> Ranked:
            queries, documents = self.vectors.queries, self.vectors.documents
            for chosen, top in search_again(
                queries, documents, steps, self.metric.depth, excluded=excluded, progress=self.progress
            ):
                yield chosen, [top]

        kept = self.memo.arrays(
            f"again-{self.metric.name}-{steps.key}", lambda: {"measured": self._measure_ranked(ranked())}
        )
        return np.asarray(cast("Array", kept["measured"])[0])

    def _measure_lists(self, lists: ScoredLists) -> Array:
        """Measure what another system found; a list that ends early has nothing relevant behind its end."""
        lists.check(self.judgments.query_count, listed=True, what="what is compared")
        depth = min(self.metric.depth, self.judgments.document_count)
        missing = ((0, 0), (0, max(0, depth - lists.depth)))
        top = TopK(
            np.pad(cast("Index", lists.documents), missing, constant_values=-1),
            np.pad(lists.scores, missing, constant_values=-np.inf),
        )
        without = _without(top, self.excluded, depth) if self.excluded is not None else top
        documents, scores = without.documents[:, :depth], without.scores[:, :depth]
        return self._value(self.judgments.gains(documents), self.judgments.ideal(), scores)

    def _measure_ranked(self, turns: Ranked) -> Array:
        """Measure what a search finds, turn by turn: (scorers, queries, ...)."""
        parts: list[list[Array]] = []
        for chosen, tops in turns:
            judgments = self.judgments.only(chosen)
            ideal = judgments.ideal()
            parts.append([self._value(judgments.gains(top.documents), ideal, top.scores) for top in tops])
        return np.stack([np.concatenate(part) for part in zip(*parts, strict=True)])

    def _value(self, gains: Array, ideal: Array, scores: Array) -> Array:
        """Compute the metric's value a query, or keep what a pool of queries is later measured by."""
        if self.metric.kind == "ranking":
            return np.asarray(self.metric.function(gains, ideal, self.metric.depth))
        return np.stack([scores, (gains > 0).astype(np.float64)], axis=-1)

    def _key(self, scorer: Scorer) -> Hashable:
        """Give a key that is equal for scorers that must come out the same under the metric."""
        return plain_key(scorer, self.metric) if scorer.is_plain else scorer.key


def plain_key(scorer: Scorer, metric: QualityMetric) -> tuple[str, Hashable]:
    """Give a key that is equal for scorers without a bias that must come out the same under a metric."""
    return scorer.map_key, scorer.similarity.agreement_key(metric.agreement)


def _without(top: TopK, excluded: Judgments, depth: int) -> TopK:
    """Take from a list what must not be in it; what is missing then at its end is number -1, relevant to nobody."""
    gone = excluded.gains(top.documents) > 0
    order = np.argsort(gone, axis=1, kind="stable")[:, :depth]
    left = ~np.take_along_axis(gone, order, axis=1)
    documents, scores = (np.take_along_axis(part, order, axis=1) for part in top)
    return TopK(np.where(left, documents, -1), np.where(left, scores, -np.inf))
