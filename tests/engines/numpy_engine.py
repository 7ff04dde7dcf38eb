"""An engine of one's own, for ``probe``: it adds a coordinate, halves the digits and gives fifty documents at most."""

from __future__ import annotations

import numpy as np

from offsphere.engines.collection import Collection, CollectionFacts, Hits, NamedRows
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric, MetricFacts, ScoreFormula


class NumpyCollection(Collection):
    """Inner products of vectors in memory, all made as long as the longest by a coordinate more."""

    hides = False  # whether that coordinate is taken away again from what is read

    def __init__(self, where):
        self.ids, self.rows = [], None

    def facts(self):
        return CollectionFacts(self.rows.shape[1], Metric.INNER_PRODUCT, len(self.ids), "none") if self.ids else None

    def create(self, layout):
        self.ids, self.rows = [], np.zeros((0, layout.dimension), np.float32)

    def add(self, ids, rows):
        self.ids, self.rows = [*self.ids, *ids], np.concatenate([self.rows, rows])

    def finish(self):
        squares = (self.rows**2).sum(axis=1, keepdims=True)
        self.rows = np.hstack([self.rows, np.sqrt(squares.max() - squares)]).astype(np.float16)

    def search(self, queries, k, effort=None):
        scores = 1 - np.pad(queries, ((0, 0), (0, 1))) @ self.rows.T.astype(np.float32)
        best = np.argsort(scores, axis=1, kind="stable")[:, : min(k, 50)]
        ids = [[self.ids[row] for row in answer] for answer in best.tolist()]
        return Hits(ids, list(np.take_along_axis(scores, best, axis=1)))

    def read(self):
        return NamedRows(self.rows[:, :-1] if self.hides else self.rows, self.ids)

    def remove(self):
        self.ids, self.rows = [], None

    def snippet(self, layout, k, effort=None):
        return ""  # no export is made to it


OURS = Engine(
    name="ours",
    metrics={Metric.INNER_PRODUCT: MetricFacts("", ScoreFormula(-1, 1.0))},
    prefix="ours",
    location="NAME",
    open=NumpyCollection,
)
