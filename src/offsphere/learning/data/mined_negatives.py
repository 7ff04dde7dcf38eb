"""Hard negatives: what the scorer that is being trained ranks high and nobody judged relevant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Index
from offsphere.learning.data.training_pairs import VectorPairs
from offsphere.ranking.search import search
from offsphere.scoring.scorer import Scorer

DEPTH = 32  # how far down the ranking negatives are taken from
AT_ONCE = 8_192  # queries whose vectors are held at a time
WORK = 10**11  # multiplications a round of mining may take; with more, fewer queries are mined for


@dataclass(frozen=True, slots=True, eq=False)
class MinedNegatives:
    """For each query of the first source, documents that rank high and are not relevant; -1 where there are none."""

    negatives: Index  # (queries, DEPTH)

    @classmethod
    def by(cls, scorer: Scorer, pairs: VectorPairs, rng: np.random.Generator) -> MinedNegatives:
        """Search exactly by the scorer as it is now, for as many queries as the work allows."""
        source = pairs.sources[0]
        negatives = np.full((len(source.queries), DEPTH), -1)
        asked = np.unique(pairs.queries[pairs.source == 0])
        affordable = max(1, WORK // (len(source.documents) * source.documents.shape[1]))
        if len(asked) > affordable:
            asked = np.sort(rng.choice(asked, affordable, replace=False))
        depth = min(DEPTH, len(source.documents))
        ranked = np.empty((len(asked), depth), np.int64)
        for start in range(0, len(asked), AT_ONCE):
            some = asked[start : start + AT_ONCE]
            (top,) = search(source.queries[some], source.documents, [scorer], depth)
            ranked[start : start + AT_ONCE] = top.documents
        keys = source.document_keys[ranked]
        rows, relevant = pairs.relevant(source.query_keys[asked])
        known = np.zeros(ranked.shape, np.bool_)
        for row, key in zip(rows.tolist(), relevant.tolist(), strict=True):
            known[row] |= keys[row] == key
        negatives[asked, :depth] = np.where(known, -1, ranked)
        return cls(negatives)

    def draw(self, queries: Index, count: int, rng: np.random.Generator) -> Index:
        """Draw some documents for each query, each once; a query that has none gives none."""
        if not len(queries):
            return queries
        columns = rng.integers(0, DEPTH, (len(queries), count))
        drawn = np.take_along_axis(self.negatives[queries], columns, axis=1).ravel()
        return np.unique(drawn[drawn >= 0])
