"""Positive and negative similarities: alignment, and where the negatives stand against the bounds for mini-batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan, sqrt
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.base.short_repr import short_repr
from offsphere.geometry.evidence import Evidence
from offsphere.geometry.positives import Positives
from offsphere.geometry.sample import Sample
from offsphere.geometry.scanning import Scan
from offsphere.statistics.estimate import Estimate

BATCH_SIZES = (32, 64, 256, 1_024)


class Bounds(NamedTuple):
    """Between which values training with batches of this size leaves the variance of negative similarities."""

    batch: int
    low: float
    high: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Negatives:
    """Cosines of positive pairs, and of each left vector with all that is not its positive."""

    positives: int
    positive_mean: float
    alignment: float  # mean squared distance of the directions of a positive pair
    mean: float  # of negatives, exact
    variance: Estimate
    optimum: float  # of every negative at the full-batch optimum
    slack: float | None  # of one-to-one pairs alone: what their positive mean leaves of 1 + mean + 1/(n - 1)
    training_size: int
    known_size: bool  # whether the user said how many pairs the model was trained on
    bounds: Sequence[Bounds]
    sampled: int | None  # rows of the right side from which the variance was computed

    __repr__ = short_repr

    @property
    def sentence(self) -> str:
        """The mean cosines, and whether negatives scatter more than training with such batches leaves them."""
        if not isfinite(self.mean):
            return f"there are no negative pairs; positives have cosine {self.positive_mean:+.3f}"
        means = (
            f"positives have cosine {self.positive_mean:+.3f}, negatives {self.mean:+.3f} with variance "
            f"{self.variance.value:.4f}"
        )
        least = self.variance.value if self.variance.low is None else self.variance.low
        above = [bound.batch for bound in self.bounds if least > bound.high]
        if self.known_size and above:
            return f"{means}: more scattered than training with batches of {min(above)} or more leaves them"
        return means


def measure_negatives(evidence: Evidence) -> Negatives:
    """The section: similarities of positive and of all other pairs of both sides."""
    positives = evidence.positives  # says what is missing before anything is scanned
    return negatives(evidence.scans[0], evidence.scans[1], positives, training_size=evidence.training_size)


def negatives(left: Scan, right: Scan, positives: Positives, training_size: int | None = None) -> Negatives:
    """Similarities of all left-right pairs less the positive ones; n is the number of positive pairs if not given."""
    size = training_size or len(positives)
    mean = _mean(left, right, positives)
    positive_mean = float(positives.cosines.mean()) if len(positives) else nan
    reference = -1 / (size - 1) if size > 1 else nan
    return Negatives(
        positives=len(positives),
        positive_mean=positive_mean,
        alignment=2 - 2 * positive_mean,
        mean=mean,
        variance=_variance(left.sample, right.sample, positives, mean),
        optimum=reference,
        slack=(1 + mean - reference) - positive_mean if _one_to_one(left, right, positives) else None,
        training_size=size,
        known_size=training_size is not None,
        bounds=minibatch_bounds(size),
        sampled=None if left.sample.whole and right.sample.whole else len(right.sample.rows),
    )


def minibatch_bounds(training_size: int, batches: Sequence[int] = BATCH_SIZES) -> list[Bounds]:
    """The bounds for batches of m out of n: from ``(n - m) / ((m - 1)(n - 1)^2)`` to n times that (Lee et al. 2025)."""
    n = training_size
    bounds = []
    for m in batches:
        if 1 < m < n:
            low = (n - m) / ((m - 1) * (n - 1) ** 2)
            bounds.append(Bounds(m, low, n * low))
    return bounds


def _one_to_one(left: Scan, right: Scan, positives: Positives) -> bool:
    """Whether each vector has exactly one partner: the case of the theorem."""
    counts = {len(positives), len(np.unique(positives.left)), len(np.unique(positives.right))}
    return counts | {left.directions.count, right.directions.count} == {len(positives)}


def _mean(left: Scan, right: Scan, positives: Positives) -> float:
    """The mean cosine of all pairs that are not positive, exactly."""
    pairs = left.directions.count * right.directions.count - len(positives)
    total = float(left.directions.total @ right.directions.total) - float(positives.cosines.sum())
    return total / pairs if pairs > 0 else nan


def _variance(left: Sample, right: Sample, positives: Positives, mean: float) -> Estimate:
    """``E (c - mean)^2`` over the samples; the second moment of one side's directions serves all pairs."""
    left_units, right_units = _units(left), _units(right)
    if not len(left_units) or not len(right_units):
        return Estimate(nan)
    second, first = left_units.T @ left_units, left_units.sum(axis=0)
    # each right row's sum over all left rows of (c - mean)^2
    sums = np.einsum("nd,de,ne->n", right_units, second, right_units, optimize=True) - 2 * mean * (right_units @ first)
    sums += mean**2 * len(left_units)
    counts = np.full(len(right_units), float(len(left_units)))
    position = {int(row): number for number, row in enumerate(right.rows[_has_direction(right)])}
    present = set(left.rows[_has_direction(left)].tolist())
    for q, d, cosine in zip(positives.left.tolist(), positives.right.tolist(), positives.cosines, strict=True):
        if q in present and d in position:
            sums[position[d]] -= (cosine - mean) ** 2
            counts[position[d]] -= 1
    if not counts.sum():
        return Estimate(nan)
    value = float(sums.sum() / counts.sum())
    if left.whole and right.whole:
        return Estimate(value)
    each = np.divide(sums, counts, out=np.full(len(sums), value), where=counts > 0)
    return Estimate.around(value, float(each.std()) / sqrt(len(each)))


def _has_direction(sample: Sample) -> Flags:
    """Which rows of a sample are not zero."""
    return np.asarray(sample.vectors.any(axis=1))


def _units(sample: Sample) -> Array:
    """The directions of a sample's rows, those without any left out."""
    rows = sample.vectors[_has_direction(sample)].astype(np.float64)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
