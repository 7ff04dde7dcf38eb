"""Lowering: a scorer as two maps, one a side, whose plain inner product ranks the same. What a search engine serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from offsphere.base.arrays import Array, Flags, Rows, Vectors
from offsphere.base.errors import OffsphereError, VectorError
from offsphere.scoring.corpus_biases import CorpusBiases
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import TransformFunction
from offsphere.scoring.query_standardization import QueryStandardization
from offsphere.scoring.similarity import Similarity
from offsphere.vectors.as_vectors import as_vectors
from offsphere.vectors.lengths import lengths


class NotLowerableError(OffsphereError):
    """No pair of maps exists for this scorer."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lowering:
    """Vectors to index and vectors to query with, for any engine that speaks inner product.

    A ranking key ``dot * weight(d) + factor(q) * offset(d)`` is the inner product of ``[q, factor(q)]`` and ``[d *
    weight(d), offset(d)]``. Where the similarity is linear in its key the query is divided by the factor, and the
    inner product is the similarity's own value up to a constant of the query. At most two coordinates are added: one
    for offset and bias, one for the query standardisation.

    A document without length has no place in the ranking of a similarity that divides by it: it becomes the zero
    vector, and ``is_rankable`` says which ones to leave out of the index.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> rng = np.random.default_rng(0)
        >>> queries, documents = (rng.normal(size=(rows, 8)).astype(np.float32) for rows in (3, 50))
        >>> scorer = osp.parse_scorer("euclidean")
        >>> lowering = scorer.lower()
        >>> inner = lowering.queries(queries) @ lowering.documents(documents).T
        >>> bool((inner.argmax(axis=1) == osp.search(queries, documents, [scorer], k=1)[0].documents[:, 0]).all())
        True
    """

    name: str  # of the scorer, for an error
    similarity: Similarity
    transform: TransformFunction
    bias: DocumentBias | None = None
    standardization: QueryStandardization | None = None

    def __post_init__(self) -> None:
        """Refuse what is no inner product."""
        if not self.similarity.lowers:
            raise NotLowerableError(
                f"{self.name} is no inner product of one vector a side, so no engine can serve it by inner product: "
                f"{self.similarity.formula} ties the two lengths together; {self.similarity.nearest} comes nearest, "
                "and what it finds can be re-ranked with score_pairs"
            )

    @property
    def extended(self) -> bool:
        """Whether a coordinate is added for what a document adds to its scaled inner product."""
        return self.similarity.has_offset or self.bias is not None

    def queries(self, vectors: Vectors) -> Rows:
        """Make the vectors to query with.

        Args:
            vectors: query vectors as the model gave them, a row each.

        Returns:
            As many rows, up to two numbers longer.

        Raises:
            VectorError: where a number leaves the range of float32.
        """
        rows = self.query_rows(vectors)
        if self.standardization is not None:
            centre, spread = self.standardization.of_lowered(rows)
            rows = _append_column(rows / spread[:, None], -centre / spread)
        return self._stored(rows, "query")

    def documents(self, vectors: Vectors, ids: Sequence[str] | None = None) -> Rows:
        """Make the vectors to index.

        Args:
            vectors: document vectors as the model gave them, a row each.
            ids: of these documents, by which a scorer with a bias knows them; a new one gets its bias from the kept
                query bank.

        Returns:
            As many rows, up to two numbers longer.

        Raises:
            VectorError: where the scorer has a bias that cannot be matched with these documents.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> documents, bank = np.eye(3, dtype=np.float32), np.ones((1, 3), np.float32)
            >>> scorer = osp.nnn(osp.parse_scorer("dot"), documents, bank, alpha=0.5, ids=["a", "b", "c"])
            >>> scorer.lower().documents(2 * documents[1:], ids=["c", "new"]).tolist()
            [[0.0, 2.0, 0.0, -0.5], [0.0, 0.0, 2.0, -1.0]]
        """
        vectors = as_vectors(vectors, "documents")
        biases = CorpusBiases.of(self, ids, len(vectors))
        return self.block(vectors, biases.of_block(vectors) if biases is not None else None)

    def block(self, vectors: Vectors, biases: Array | None) -> Rows:
        """Make the vectors to index of documents whose biases are looked up already.

        Args:
            vectors: document vectors as the model gave them, a row each.
            biases: a number for each of them, where the scorer has a bias.

        Returns:
            As many rows, up to two numbers longer.

        Raises:
            VectorError: where a number leaves the range of float32.
        """
        rows = self.document_rows(vectors, biases)
        if self.standardization is not None:
            rows = _append_column(rows, np.ones(len(rows)))
        return self._stored(rows, "document")

    def values(self, vectors: Vectors, inner_products: Array) -> Array:
        """Turn inner products of lowered vectors back into the scorer's own values.

        Args:
            vectors: query vectors as the model gave them, a row each.
            inner_products: (queries, documents), as an engine computes them from what this lowering made.

        Returns:
            What ``offsphere.search`` gives for the same queries and documents.

        Example:
            >>> import numpy as np
            >>> import offsphere as osp
            >>> query, document = np.array([[3.0, 0.0]], np.float32), np.array([[0.0, 4.0]], np.float32)
            >>> lowering = osp.parse_scorer("euclidean").lower()
            >>> inner = lowering.queries(query) @ lowering.documents(document).T
            >>> lowering.values(query, inner).tolist()
            [[-5.0]]
        """
        if self.standardization is not None:  # which takes out what is the same for all documents of a query
            return np.asarray(inner_products, np.float64)
        similarity = self.similarity
        query_lengths = lengths(self.transform(vectors, "query").astype(np.float64))
        if similarity.divides_by_query:
            query_lengths = np.where(query_lengths > 0, query_lengths, 1.0)
        factor = similarity.query_factor(query_lengths) if similarity.linear else np.ones_like(query_lengths)
        keys = np.asarray(inner_products, np.float64) * factor[:, None]
        return similarity.value_of_key(keys, query_lengths[:, None])

    def query_rows(self, vectors: Vectors) -> Array:
        """Make the vectors to query with in float64, before any standardisation."""
        similarity = self.similarity
        rows = self.transform(vectors, "query").astype(np.float64)
        query_lengths = lengths(rows)
        divisors = np.where(query_lengths > 0, query_lengths, 1.0) if similarity.divides_by_query else query_lengths
        factor = similarity.query_factor(divisors)
        if similarity.linear:
            rows, factor = rows / factor[:, None], np.ones_like(factor)
        return _append_column(rows, factor) if self.extended else rows

    def document_rows(self, vectors: Vectors, biases: Array | None) -> Array:
        """Make the vectors to index in float64, before any standardisation; ``biases`` are of these documents."""
        rows = self.transform(vectors).astype(np.float64)
        weight, offset = self.similarity.document_terms(lengths(rows))
        rows *= weight[:, None]
        if not self.extended:
            return rows
        if biases is not None:
            offset = offset + biases
        return _append_column(rows, np.where(np.isfinite(offset), offset, 0.0))

    def is_rankable(self, vectors: Vectors) -> Flags:
        """Tell which documents have a value at all; the others are to be left out of the index.

        Args:
            vectors: document vectors as the model gave them, a row each.

        Returns:
            A flag for each row.
        """
        _, offset = self.similarity.document_terms(lengths(self.transform(vectors)))
        return np.isfinite(offset)

    def _stored(self, rows: Array, side: str) -> Rows:
        """Round to float32, the precision of search engines; what it cannot hold is refused."""
        with np.errstate(over="ignore"):
            stored = rows.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(stored).all(axis=1))
        if len(bad):
            raise VectorError(
                f"{self.name}: the {side} vector in row {int(bad[0])} becomes larger than float32 can hold: "
                "no engine can store it"
            )
        return stored


def _append_column(rows: Array, column: Array) -> Array:
    """Add a number to the end of each row."""
    return np.concatenate([rows, column[:, None]], axis=1)
