"""What the lengths of tokens are worth: a similarity that uses them, against the same one that throws them away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.length_contrast import LengthContrast
from offsphere.data.evaluator import Evaluator
from offsphere.statistics.significance import bootstrap, bootstrap_p, holm, interval, randomization_test

RESAMPLES = 2_000
PERMUTATIONS = 10_000


class Variant(NamedTuple):
    """A row's name, that of the row without lengths, and the measurements of both."""

    name: str
    without: str
    measured: Array
    bare: Array


def length_contrasts(evaluator: Evaluator, variants: Sequence[Variant], seed: int = 0) -> list[LengthContrast]:
    """Test what each variant gains over itself without lengths; p is corrected for all of them (Holm 1979).

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

    def gains(weights: Array) -> Array:
        values = evaluation.evaluate_all(both, weights)
        return values[:, ::2] - values[:, 1::2]

    gained = gains(np.ones((1, evaluation.units)))[0]
    samples = bootstrap(gains, evaluation.units, RESAMPLES, seed)
    around = interval(samples)
    each = [(evaluation.to_choose_by(variant.measured), evaluation.to_choose_by(variant.bare)) for variant in variants]
    columns = [first - second for first, second in each if first is not None and second is not None]
    whole = len(columns) == len(variants)
    alone = randomization_test(np.stack(columns, 1), PERMUTATIONS, seed) if whole else bootstrap_p(gained, samples)
    return [
        LengthContrast(variant.name, variant.without, evaluator.metric.name, *(float(number) for number in numbers))
        for variant, *numbers in zip(variants, gained, around.low, around.high, holm(alone), strict=True)
    ]
