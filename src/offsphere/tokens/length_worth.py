"""What the lengths of tokens are worth: a similarity that uses them, against the same one that throws them away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.length_contrast import LengthContrast
from offsphere.comparison.paired_differences import paired_differences
from offsphere.data.evaluator import Evaluator
from offsphere.statistics.significance import bootstrap

RESAMPLES = 2_000
PERMUTATIONS = 10_000


class MeasureVariant(NamedTuple):
    """A row's name, that of the row without lengths, and the measurements of both."""

    name: str
    without: str
    measured: Array
    bare: Array


def length_contrasts(evaluator: Evaluator, variants: Sequence[MeasureVariant], seed: int = 0) -> list[LengthContrast]:
    """Test what each variant gains over itself without lengths; p is corrected for all of them.

    Args:
        evaluator: What measured them.
        variants: The measurements.
        seed: Of resamples and sign patterns.

    Returns:
        A contrast each, in their order.
    """
    if not variants:
        return []
    evaluation = evaluator.evaluation
    both = [part for variant in variants for part in (variant.measured, variant.bare)]
    samples = bootstrap(lambda weights: evaluation.evaluate_all(both, weights), evaluation.units, RESAMPLES, seed)
    pairs = np.arange(0, len(both), 2), np.arange(1, len(both), 2)
    gains = paired_differences(evaluation, both, pairs, samples, seed=seed, permutations=PERMUTATIONS)
    return [
        LengthContrast(variant.name, variant.without, evaluator.metric.name, *(float(number) for number in numbers))
        for variant, *numbers in zip(variants, gains.values, *gains.around, gains.p, strict=True)
    ]
