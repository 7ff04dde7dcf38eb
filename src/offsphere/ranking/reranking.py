"""Search in two steps: one scorer finds a short list of documents, another ranks it again by their whole vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index, Vectors
from offsphere.base.errors import ParameterError
from offsphere.base.progress import Progress
from offsphere.ranking.pairs_by_query import Pairs
from offsphere.ranking.search import TopK, query_divisors, search_in_turns
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.value_key import value_key
from offsphere.vectors.blocks import TILE
from offsphere.vectors.lengths import lengths

ROWS_AT_ONCE = 16 * TILE  # documents that are looked at again, in memory


@dataclass(frozen=True, slots=True, eq=False)
class TwoSteps:
    """What finds, what ranks again, and how many times k documents are found.

    Raises:
        ParameterError: where the second scorer has a bias or a standardisation, or nothing is to be found.
    """

    first: Scorer
    second: Scorer
    oversampling: int

    def __post_init__(self) -> None:
        """Refuse what no document's own vector tells."""
        if not self.second.is_plain or self.oversampling < 1:
            raise ParameterError(
                f"{self.second.name}, {self.oversampling} times k: re-rank at least k, by a scorer without bias"
            )

    @property
    def key(self) -> str:
        """A key that is equal for equal steps, in every process."""
        return value_key([self.first.key, self.second.key, self.oversampling])


def search_again(
    queries: Vectors,
    documents: Vectors,
    steps: TwoSteps,
    k: int = 10,
    *,
    excluded: Pairs | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[Index, TopK]]:
    """Find ``oversampling * k`` documents by the first scorer, exactly, and keep the ``k`` best of them by the second.

    Args:
        queries: query vectors, a row each.
        documents: document vectors, a row each; may be a memory map.
        steps: the two scorers.
        k: how many documents a query gets.
        excluded: rows of queries, each with that of a document which it must not get: the first step does not find it.
        progress: is told how far the first step is.

    Yields:
        The numbers of some queries, and their best documents with the scores of the second scorer; ties by document
        order.

    Example:
        >>> import numpy as np
        >>> import offsphere as osp
        >>> queries, documents = np.array([[1.0, 0.0]], np.float32), np.array([[1, 0], [9, 9], [0, 1]], np.float32)
        >>> steps = TwoSteps(osp.parse_scorer("cosine"), osp.parse_scorer("dot"), 2)
        >>> [top.documents.tolist() for _, top in search_again(queries, documents, steps, k=1)]
        [[[1]]]
    """
    for numbers, (listed,) in search_in_turns(
        queries, documents, [steps.first], k * steps.oversampling, excluded=excluded, progress=progress
    ):
        # so that a stable sort leaves ties in document order; -1, which is no document, is the largest without its sign
        short = np.sort(listed.documents.view(np.uint64), axis=1).view(np.int64)
        yield numbers, _rank_again(queries[numbers], documents, short, steps.second, k)


class ListedTerms(NamedTuple):
    """What every similarity of listed documents is a formula of, after the transforms of a scorer."""

    dots: Array  # (queries, listed)
    query_lengths: Array  # (queries,)
    document_lengths: Array  # (queries, listed)


def listed_terms(queries: Vectors, documents: Vectors, listed: Index, scorer: Scorer) -> ListedTerms:
    """Measure each query with the documents of its own list, in float64 and some lists at a time.

    Args:
        queries: query vectors, a row each.
        documents: document vectors, a row each; may be a memory map.
        listed: rows of documents, as many for each query: (queries, listed).
        scorer: whose transforms are applied to both.

    Returns:
        Inner products and lengths; a similarity called with them gives its values.
    """
    from offsphere.vectors.dot_kernels import products_of_own

    tile = max(1, ROWS_AT_ONCE // max(1, listed.shape[1]))
    parts = []
    for start in range(0, len(listed), tile):
        own = listed[start : start + tile]
        asked = np.ascontiguousarray(scorer.transform(queries[start : start + tile], "query"))
        own_rows = np.ascontiguousarray(scorer.transform(documents[own.ravel()]))
        parts.append(
            ListedTerms(products_of_own(asked, own_rows), lengths(asked), lengths(own_rows).reshape(own.shape))
        )
    return ListedTerms(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _rank_again(queries: Vectors, documents: Vectors, short: Index, scorer: Scorer, k: int) -> TopK:
    """Rank each query's own short list."""
    dots, query_lengths, document_lengths = listed_terms(queries, documents, short, scorer)
    with np.errstate(over="ignore", invalid="ignore"):
        scores = scorer.similarity(dots, query_divisors(query_lengths, scorer.similarity)[:, None], document_lengths)
    scores = np.where(short >= 0, scores, -np.inf)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return TopK(np.take_along_axis(short, order, axis=1), np.take_along_axis(scores, order, axis=1))
