"""The exponent curve: values from strong reward of length, over dot product and cosine, to over-normalised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.short_repr import short_repr
from offsphere.data.evaluator import Evaluator
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import Polar
from offsphere.statistics.significance import bootstrap, interval

EXPONENTS = np.round(np.arange(-1.0, 2.01, 0.125), 3)
RESAMPLES = 500


@dataclass(frozen=True, slots=True, eq=False)
class ExponentCurve:
    """The value at each exponent of the length, with its 95 % band, behind one chain of transforms."""

    transforms: str  # the chain in front, or "raw"
    exponents: Array
    values: Array
    low: Array
    high: Array

    __repr__ = short_repr


def exponent_curve(evaluator: Evaluator, scorer: Scorer, *, pairs: bool, seed: int = 0) -> ExponentCurve:
    """Measure ``dot / |d|^g`` for g from -1 to 2 behind the transforms of a scorer.

    Args:
        evaluator: what measures scorers on the task.
        scorer: whose fitted transforms stand before the similarity.
        pairs: whether the task is of pairs, where both lengths get the exponent.
        seed: of the resamples behind the band.
    """
    plain = replace(scorer, bias=None, standardization=None)
    options = [replace(plain, similarity=Polar(g if pairs else 1.0, g)) for g in EXPONENTS.tolist()]
    measured = evaluator.values(options)
    evaluation = evaluator.evaluation
    values = np.array([evaluation.evaluate(row, np.ones((1, evaluation.units)))[0] for row in measured])
    samples = bootstrap(
        lambda weights: evaluation.evaluate_all(measured, weights), evaluation.units, count=RESAMPLES, seed=seed
    )
    low, high = interval(samples)
    name = " + ".join(transform.name for transform in scorer.transforms) or "raw"
    return ExponentCurve(name, EXPONENTS, values, low, high)
