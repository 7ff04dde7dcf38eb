"""What an engine ranks by, and how the number that it returns becomes the value that we mean."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Vectors


class Metric(StrEnum):
    """The metrics that engines have: two similarities, and a distance."""

    COSINE = "cosine"
    INNER_PRODUCT = "inner product"
    EUCLIDEAN = "euclidean"

    @property
    def value_name(self) -> str:
        """What its value is called in a formula: cosine, dot or distance."""
        return {"cosine": "cosine", "inner product": "dot", "euclidean": "distance"}[self]

    @property
    def is_distance(self) -> bool:
        """Whether smaller is better."""
        return self is Metric.EUCLIDEAN

    def compute(self, queries: Vectors, documents: Vectors) -> Array:
        """Compute the metric between each query and its documents, exactly.

        Args:
            queries: (queries, dimensions).
            documents: (queries, documents, dimensions).

        Returns:
            (queries, documents): the cosine, which is zero without length, the inner product, or the distance itself.
        """
        left, right = np.asarray(queries, np.float64), np.asarray(documents, np.float64)
        if self is Metric.EUCLIDEAN:
            return _lengths(right - left[:, None])
        dot: Array = np.einsum("qd,qkd->qk", left, right)
        if self is Metric.INNER_PRODUCT:
            return dot
        product = _lengths(left)[:, None] * _lengths(right)
        return np.divide(dot, product, out=np.zeros_like(dot), where=product > 0)


def _lengths(vectors: Array) -> Array:
    """The length of each vector, whatever the axes before the last."""
    return np.asarray(np.linalg.norm(vectors, axis=-1), np.float64)


class ScoreFormula(NamedTuple):
    """How an engine returns a metric: ``value = offset + sign * score``, of whose square root where it is squared.

    Example:
        >>> import numpy as np
        >>> from offsphere.engines.metric import ScoreFormula
        >>> ScoreFormula(-1, 1.0).value(np.array([0.25])).tolist(), ScoreFormula(-1, 1.0).formula("dot")
        ([0.75], 'dot = 1 - score')
        >>> ScoreFormula(squared=True).value(np.array([9.0])).tolist(), ScoreFormula(squared=True).formula("distance")
        ([3.0], 'distance = sqrt(score)')
    """

    sign: int = 1
    offset: float = 0.0
    squared: bool = False

    def value(self, scores: Array) -> Array:
        """Turn what an engine returned into the metric's value."""
        values = self.offset + self.sign * scores.astype(np.float64)
        return np.sqrt(np.maximum(values, 0.0)) if self.squared else values

    def formula(self, name: str) -> str:
        """Write that for somebody who does it himself."""
        score = "score" if self.sign > 0 else "-score"
        if self.offset:
            score = f"{self.offset:g} {'+' if self.sign > 0 else '-'} score"
        return f"{name} = {f'sqrt({score})' if self.squared else score}"


class MetricFacts(NamedTuple):
    """What an engine makes of a metric: what to set, in its own words; what comes back; whether lengths survive."""

    setting: str
    returned: ScoreFormula = ScoreFormula()
    keeps_length: bool = True  # whether a vector is read back as it was stored
    score: str = ""  # what comes back, in a formula, where that is no straight line
