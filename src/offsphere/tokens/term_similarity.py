"""How alike terms are: a sparse matrix of the nearest terms of each, by the cosine of their vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from offsphere.base.arrays import Index, Rows
from offsphere.base.errors import ParameterError
from offsphere.ranking.search import search
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import COSINE

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, slots=True)
class TermNeighbours:
    """Which terms count as alike, and how much.

    Args:
        nearest: how many others each term keeps; a pair stays where one of the two keeps the other.
        threshold: the cosine that a pair must exceed.
        exponent: to which the cosine is raised: the larger, the less do distant terms count.

    Raises:
        ParameterError: numbers that give no similarity.
    """

    nearest: int = 100
    threshold: float = 0.0
    exponent: float = 2.0

    def __post_init__(self) -> None:
        """Refuse what would give a negative or unbounded similarity."""
        if self.nearest < 1 or not 0 <= self.threshold < 1 or not 0 < self.exponent < np.inf:
            raise ParameterError(
                f"nearest = {self.nearest}, threshold = {self.threshold}, exponent = {self.exponent}: expected at "
                "least 1, from 0 to below 1, and above 0"
            )


def term_similarity(vectors: Rows, rule: TermNeighbours = TermNeighbours()) -> csr_array:  # noqa: B008
    """The similarity of every two terms: one with itself, the powered cosine of near ones, else zero.

    Args:
        vectors: of the terms, a row each.
        rule: which terms count as alike.

    Returns:
        A symmetric sparse matrix. It never leaves a text without a length, since nothing in it is negative.

    Example:
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0]], np.float32)
        >>> term_similarity(vectors).toarray().round(2).tolist()
        [[1.0, 0.36, 0.0], [0.36, 1.0, 0.64], [0.0, 0.64, 1.0]]
    """
    from scipy.sparse import coo_array, eye_array

    terms = len(vectors)
    if not terms:
        return coo_array((0, 0)).tocsr()
    top = search(vectors, vectors, [Scorer(COSINE)], min(rule.nearest + 1, terms))[0]
    asked = np.repeat(np.arange(terms), top.documents.shape[1])
    near, cosines = top.documents.ravel(), np.minimum(top.scores.ravel(), 1.0)
    kept = (near != asked) & (cosines > rule.threshold) & _has_direction(vectors)[asked]
    values = cosines[kept] ** rule.exponent
    one_way = coo_array((values, (asked[kept], near[kept])), shape=(terms, terms)).tocsr()
    return (one_way.maximum(one_way.T) + eye_array(terms)).tocsr()


def _has_direction(vectors: Rows) -> Index:
    """Which vectors are not zero: those that are resemble nothing but themselves."""
    return np.asarray(np.abs(vectors).max(axis=1) > 0)
