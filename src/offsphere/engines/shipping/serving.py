"""How an engine serves a scorer: what to store, what to ask with, by which metric, and how its scores become ours.

Engines have cosine, inner product and distance. A scorer that is one of these after its transforms is served by the
engine's own metric. Any other that lowers is served as an inner product of lowered vectors. Where an engine has no
inner product, or a graph finds less by it, one more coordinate makes an inner product the order of distances
(Bachrach et al. 2014): ``|q - d|^2 = |q|^2 + M^2 - 2 dot`` where documents are ``[d, sqrt(M^2 - |d|^2)]`` and
queries ``[q, 0]``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Rows, Vectors
from offsphere.engines.engine import Engine
from offsphere.engines.metric import Metric
from offsphere.engines.shipping.corpus import Corpus
from offsphere.scoring.corpus_biases import CorpusBiases
from offsphere.scoring.index_metric import index_metric
from offsphere.scoring.lowering import Lowering
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import Agreement
from offsphere.vectors.lengths import lengths

BLOCK = 16_384  # documents that are stored at a time
PIECE = 1_024  # documents that are lowered at a time: what that takes in float64 is little beside a block
ROOM = 1 + 1e-6  # above the longest document, for what float32 rounds away


@dataclass(frozen=True, kw_only=True)
class Serving:
    """One way to serve a scorer.

    Args:
        scorer: What is served, fitted where it has transforms.
        metric: By which the engine ranks.
        lowered: Whether vectors are lowered, or only transformed, for a metric that the engine has itself.
        radius: Above the length of every lowered document, where a coordinate is added that brings all to this length.
    """

    scorer: Scorer
    metric: Metric
    lowered: bool
    radius: float | None = None

    @property
    def as_given(self) -> bool:
        """Whether vectors are stored as the model gave them."""
        return not self.lowered and not self.scorer.transforms

    @property
    def augmented(self) -> bool:
        """Whether inner products are served as distances, by one more coordinate."""
        return self.radius is not None

    @cached_property
    def lowering(self) -> Lowering:
        """The maps of the scorer, one a side."""
        return self.scorer.lower()

    def biases(self, ids: Sequence[str], count: int) -> CorpusBiases | None:
        """What looks up the biases of documents, block by block; nothing where the scorer has none."""
        return CorpusBiases.of(self.lowering, ids, count) if self.scorer.bias is not None else None

    def documents(self, vectors: Vectors, biases: Array | None = None) -> Rows:
        """Make the vectors to store from document vectors as the model gave them."""
        if not self.lowered:
            return np.ascontiguousarray(self.scorer.transform(vectors))
        rows = self.lowering.block(vectors, biases)
        if self.radius is None:
            return rows
        missing = np.sqrt(np.maximum(self.radius**2 - lengths(rows) ** 2, 0.0))
        return np.concatenate([rows, missing[:, None].astype(np.float32)], axis=1)

    def queries(self, vectors: Vectors) -> Rows:
        """Make the vectors to ask with from query vectors as the model gave them."""
        if not self.lowered:
            return np.ascontiguousarray(self.scorer.transform(vectors, "query"))
        rows = self.lowering.queries(vectors)
        return rows if self.radius is None else np.concatenate([rows, np.zeros((len(rows), 1), np.float32)], axis=1)

    def is_rankable(self, vectors: Vectors) -> Flags:
        """Tell which documents have a place in the ranking; the others are not stored."""
        if not self.leaves_out:
            return np.ones(len(vectors), bool)
        return self.lowering.is_rankable(vectors)

    @cached_property
    def leaves_out(self) -> bool:
        """Whether a document without length has no place in the ranking."""
        return not np.isfinite(self.scorer.similarity.document_terms(np.zeros(1)).offset[0])

    def values(self, vectors: Vectors, metric_values: Array) -> Array:
        """Turn values of the engine's metric into the scorer's own.

        Args:
            vectors: Query vectors as the model gave them.
            metric_values: (queries, documents): cosine, inner product or distance, as ``ScoreFormula.value`` has them.
        """
        if self.metric is Metric.EUCLIDEAN and self.radius is None:
            return -metric_values
        if self.radius is not None:
            squares = lengths(self.queries(vectors)).astype(np.float64)[:, None] ** 2
            metric_values = (squares + self.radius**2 - metric_values**2) / 2
        if not self.lowered:
            query_lengths = lengths(self.queries(vectors).astype(np.float64))[:, None]
            query_lengths = np.where(query_lengths > 0, query_lengths, 1.0)
            keys = metric_values * query_lengths if self.metric is Metric.COSINE else metric_values
            return self.scorer.similarity.value_of_key(keys, query_lengths)
        return self.lowering.values(vectors, metric_values)

    @property
    def words(self) -> tuple[str, str]:
        """What to store and what to ask with, as a report says it."""
        if not self.lowered and self.scorer.transforms:
            return "scorer.transform(vectors)", 'scorer.transform(vectors, "query")'
        if not self.lowered:
            return "vectors as they are", "as it is"
        if own_metric(self.scorer) is Metric.COSINE and not self.scorer.transforms:
            return "vectors divided by their lengths", "divided by its length"
        ids = ", ids" if self.scorer.bias is not None else ""
        return f"scorer.lower().documents(vectors{ids})", "scorer.lower().queries(vectors)"


def own_metric(scorer: Scorer, level: Agreement = "query") -> Metric | None:
    """The metric that engines have for a scorer on its transformed vectors; nothing where it must be lowered."""
    metric = index_metric(scorer, level)
    return Metric(metric) if metric is not None else None


def servings(scorer: Scorer, engine: Engine, level: Agreement = "query") -> list[Serving]:
    """The ways in which an engine can serve a scorer, whatever the documents; the plainest first.

    Args:
        scorer: What is to be served.
        engine: By which engine.
        level: What must agree: one ``query``'s order, or the ``order`` of all pairs, for which a query's own length
            counts too.

    Returns:
        Its own metric on the transformed vectors; the inner product of lowered vectors. Empty where it has neither.
    """
    metric = own_metric(scorer, level)
    ways = []
    if metric is not None and metric in engine.metrics:
        ways.append(Serving(scorer=scorer, metric=metric, lowered=False))
    if Metric.INNER_PRODUCT in engine.metrics and metric is not Metric.INNER_PRODUCT:
        ways.append(Serving(scorer=scorer, metric=Metric.INNER_PRODUCT, lowered=True))
    return ways


def as_distance(scorer: Scorer, corpus: Corpus) -> Serving:
    """Serve a scorer by distance, with one more coordinate that brings every lowered document to one length."""
    lowered = Serving(scorer=scorer, metric=Metric.INNER_PRODUCT, lowered=True)
    longest = max(float(lengths(block.rows).max(initial=0.0)) for block in stored_blocks(corpus, lowered))
    return Serving(scorer=scorer, metric=Metric.EUCLIDEAN, lowered=True, radius=longest * ROOM)


class StoredBlock(NamedTuple):
    """Some documents as they are stored: up to which row of the corpus they go, their ids and their vectors."""

    end: int
    ids: list[str]
    rows: Rows


def stored_blocks(corpus: Corpus, serving: Serving, start: int = 0, rows: int = BLOCK) -> Iterator[StoredBlock]:
    """The documents of a corpus as they are stored, so many at a time, without those that have no place in the ranking.

    Args:
        corpus: Document vectors as the model gave them.
        serving: What is made of them.
        start: The row of the corpus to begin with.
        rows: How many are read at a time.
    """
    biases = serving.biases(corpus.ids, len(corpus.ids))
    count = len(corpus.ids)
    for first in range(start, count, rows):  # a block has no name here, so that it is gone before the next is made
        yield _stored_block(corpus, serving, biases, range(first, min(first + rows, count)))


def _stored_block(corpus: Corpus, serving: Serving, biases: CorpusBiases | None, span: range) -> StoredBlock:
    """The documents of some rows of the corpus; vectors as they were given are not copied."""
    at_once = len(span) if serving.as_given else PIECE
    made, ids = np.empty((0, 0), np.float32), list[str]()
    for first in range(span.start, span.stop, at_once):
        last = min(first + at_once, span.stop)
        vectors = np.ascontiguousarray(corpus.vectors[first:last], np.float32)
        rows = serving.documents(vectors, biases.of_block(vectors, first) if biases is not None else None)
        names, is_rankable = corpus.ids[first:last], serving.is_rankable(vectors)
        if not is_rankable.all():
            rows, names = rows[is_rankable], [name for name, kept in zip(names, is_rankable, strict=True) if kept]
        if serving.as_given:
            return StoredBlock(last, list(names), rows)
        if not made.size:
            made = np.empty((len(span), rows.shape[1]), np.float32)
        made[len(ids) : len(ids) + len(rows)] = rows
        ids += names
    return StoredBlock(span.stop, ids, made[: len(ids)])


def placed_rows(corpus: Corpus, serving: Serving) -> int:
    """How many documents have a place in the ranking."""
    pieces = range(0, len(corpus.ids), PIECE)
    return sum(int(serving.is_rankable(corpus.vectors[start : start + PIECE]).sum()) for start in pieces)
