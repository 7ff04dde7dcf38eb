"""Which formula an engine's scores follow: each known one is fitted to what was returned, and the best one is told."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Vectors

EXACT = 1e-4  # of the spread of the scores: what float32 rounds away, and no more
ROUGH = 0.05  # what quantised vectors may add
UNIT = 1e-3  # a slope this near one is one


class Values(NamedTuple):
    """What an engine may have computed from, for each pair of a query and a document that it scored."""

    dot: Array
    cosine: Array
    distance: Array

    @classmethod
    def of(cls, queries: Vectors, documents: Vectors) -> Values:
        """Compute it for rows of queries and as many rows of documents."""
        queries, documents = queries.astype(np.float64), documents.astype(np.float64)
        dot = np.einsum("nd,nd->n", queries, documents)
        lengths = np.linalg.norm(queries, axis=1) * np.linalg.norm(documents, axis=1)
        cosine = np.divide(dot, lengths, out=np.zeros_like(dot), where=lengths > 0)
        return cls(dot, cosine, np.linalg.norm(queries - documents, axis=1))


class ScoreForm(NamedTuple):
    """A formula that fits: what it is of, ``score = offset + slope * that``, and how far scores are from it."""

    of: str  # dot, cosine, distance, distance^2, or a curve of one of them
    slope: float
    offset: float
    error: float  # the largest, over the spread of the scores

    @property
    def metric(self) -> str:
        """The metric behind it: dot, cosine or distance."""
        return next(name for name in ("dot", "cosine", "distance") if name in self.of)

    @property
    def greater_is_better(self) -> bool:
        """Whether the greatest score is the best document."""
        return (self.slope > 0) == (self.of in ("dot", "cosine") or self.of in CURVES)

    @property
    def inverse(self) -> str:
        """The formula that turns a score back into ours.

        Example:
            >>> from offsphere.engines.trials.score_forms import ScoreForm
            >>> ScoreForm("dot", -1.0, 1.0, 0.0).inverse, ScoreForm("distance^2", 1.0, 0.0, 0.0).inverse
            ('dot = 1 - score', 'distance = sqrt(score)')
        """
        if self.of in CURVES:
            return CURVES[self.of].inverse
        score = _straight(self.slope, self.offset)
        return f"distance = sqrt({score})" if self.of == "distance^2" else f"{self.of} = {score}"


class Curve(NamedTuple):
    """A score that is no straight line of a metric."""

    score: Callable[[Values], Array]
    inverse: str


def _shifted(values: Values) -> Array:
    with np.errstate(divide="ignore"):
        return np.where(values.dot >= 0, 1 + values.dot, 1 / (1 - values.dot))


CURVES = MappingProxyType(
    {
        "1 / (1 + distance^2)": Curve(lambda values: 1 / (1 + values.distance**2), "distance = sqrt(1 / score - 1)"),
        "1 / (1 + distance)": Curve(lambda values: 1 / (1 + values.distance), "distance = 1 / score - 1"),
        "1 + dot, below 1: 1 / (1 - dot)": Curve(_shifted, "dot = score - 1 where score >= 1, else 1 - 1 / score"),
    }
)


def fit_scores(scores: Array, values: Values) -> ScoreForm | None:
    """Find the formula that scores follow; nothing where none fits.

    Args:
        scores: As an engine returned them.
        values: What it may have computed them from, pair by pair.

    Example:
        >>> import numpy as np
        >>> from offsphere.engines.trials.score_forms import Values, fit_scores
        >>> rng = np.random.default_rng(0)
        >>> values = Values.of(rng.normal(size=(50, 4)), rng.normal(size=(50, 4)))
        >>> fit_scores(1 - values.dot, values).inverse
        'dot = 1 - score'
    """
    straight = {
        "dot": values.dot,
        "cosine": values.cosine,
        "distance": values.distance,
        "distance^2": values.distance**2,
    }
    forms = [_fitted(name, scores, column) for name, column in straight.items()]
    forms += [_compared(name, scores, curve.score(values)) for name, curve in CURVES.items()]
    best = min(forms, key=lambda form: form.error)
    return best if best.error < ROUGH else None


def _fitted(name: str, scores: Array, values: Array) -> ScoreForm:
    """The straight line through scores; slopes and offsets that are whole but for rounding are made so."""
    design = np.stack([values, np.ones_like(values)], axis=1)
    (slope, offset), *_ = np.linalg.lstsq(design, scores.astype(np.float64), rcond=None)
    slope = float(np.sign(slope)) if abs(abs(slope) - 1) < UNIT else float(slope)
    nearest = float(np.round(2 * offset) / 2)
    offset = nearest if abs(offset - nearest) < UNIT * max(1.0, float(np.abs(scores).max())) else float(offset)
    return ScoreForm(name, slope, offset, _error(scores, offset + slope * values))


def _compared(name: str, scores: Array, expected: Array) -> ScoreForm:
    return ScoreForm(name, 1.0, 0.0, _error(scores, expected))


def _error(scores: Array, expected: Array) -> float:
    spread = float(np.ptp(scores)) or 1.0
    return float(np.abs(scores - expected).max() / spread)


def _straight(slope: float, offset: float) -> str:
    """``(score - offset) / slope``, as one writes it."""
    if slope == 1:
        return "score" if not offset else f"score {'-' if offset > 0 else '+'} {abs(offset):g}"
    if slope == -1:
        return f"{offset:g} - score" if offset else "-score"
    shifted = f"(score {'-' if offset > 0 else '+'} {abs(offset):g})" if offset else "score"
    return f"{shifted} / {slope:g}"
