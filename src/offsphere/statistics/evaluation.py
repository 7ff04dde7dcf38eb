"""What a scorer is worth, and how to put together its worth from held-out parts.

Three kinds of measurement, one face: ``evaluate`` gives the value in each of many weighted resamples of the units
(queries or pairs), ``assemble`` takes each unit's measurement from the option that was chosen without looking at it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.statistics.metrics.over_pairs import (
    pearson_contributions,
    spearman,
    spearman_contributions,
    spearman_resampled,
)


class Evaluation(Protocol):
    """A kind of measurement; ``Array`` stands for whatever one scorer's measurement is."""

    @property
    def units(self) -> int:
        """How many queries or pairs there are."""
        ...

    def evaluate(self, measured: Array, weights: Array) -> Array:
        """Compute the value in each resample, for weights (resamples, units)."""
        ...

    def evaluate_all(self, measured: Sequence[Array], weights: Array) -> Array:
        """Compute the values of several measurements: (resamples, measurements)."""
        ...

    def assemble(self, options: Sequence[Array], choice: Index) -> Array:
        """Put one measurement together from several: unit u is measured by option ``choice[u]``."""
        ...

    def contributions(self, measured: Array) -> Array | None:
        """Give values of the units whose mean is the value, where there are such: sign flips can test them."""
        ...

    def to_choose_by(self, measured: Array) -> Array | None:
        """Give values of the units whose mean over any part of them tells options apart, where there are such."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MeanOverQueries:
    """A metric with a value a query: measurements are those values (queries,)."""

    units: int

    def evaluate(self, measured: Array, weights: Array) -> Array:
        """Compute the weighted mean over the queries."""
        return np.asarray(weights @ measured / weights.sum(axis=1))

    def evaluate_all(self, measured: Sequence[Array], weights: Array) -> Array:
        """Compute all weighted means with one matrix product."""
        return np.asarray(weights @ np.stack(measured, axis=1) / weights.sum(axis=1, keepdims=True))

    def assemble(self, options: Sequence[Array], choice: Index) -> Array:
        """Take each query's value from the option chosen for it."""
        return np.stack(options)[choice, np.arange(self.units)]

    def contributions(self, measured: Array) -> Array | None:
        """Give the values of the queries themselves."""
        return measured

    def to_choose_by(self, measured: Array) -> Array | None:
        """Give the values of the queries themselves."""
        return measured


@dataclass(frozen=True, slots=True, eq=False)
class OverPool:
    """A metric over all queries at once: measurements are (queries, depth, 2), scores and grades above zero."""

    units: int
    totals: Array
    function: Callable[[Array, Flags, Array, Array], Array]

    def evaluate(self, measured: Array, weights: Array) -> Array:
        """Compute the metric of the pool of all queries."""
        return self.function(measured[..., 0], measured[..., 1] > 0, self.totals, weights)

    def evaluate_all(self, measured: Sequence[Array], weights: Array) -> Array:
        """Compute the metric of the pool for each measurement in turn."""
        return np.stack([self.evaluate(row, weights) for row in measured], axis=1)

    def assemble(self, options: Sequence[Array], choice: Index) -> Array:
        """Join the options' scores, brought to one scale first: by their mean and deviation over all queries."""
        if (choice == choice[0]).all():
            return options[int(choice[0])]
        scaled = [np.stack([_standard(option[..., 0]), option[..., 1]], axis=-1) for option in options]
        return np.asarray(np.stack(scaled)[choice, np.arange(self.units)])

    def contributions(self, measured: Array) -> Array | None:  # noqa: ARG002
        """Give nothing, since a pool is no mean over queries."""
        return None

    def to_choose_by(self, measured: Array) -> Array | None:  # noqa: ARG002
        """Give nothing, since a part of a pool is another pool."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class OverPairs:
    """A correlation with gold scores: measurements are the scores of the pairs (pairs,)."""

    gold: Array
    function: Callable[[Array, Array, Array], Array]
    each: Callable[[Array, Array], Array]  # contributions of the pairs
    by_rank: bool  # whether only the order of scores counts

    @property
    def units(self) -> int:
        """How many pairs there are."""
        return len(self.gold)

    def evaluate(self, measured: Array, weights: Array) -> Array:
        """Compute the correlation with the gold scores."""
        return self.function(measured, self.gold, weights)

    def evaluate_all(self, measured: Sequence[Array], weights: Array) -> Array:
        """Compute the correlation for each measurement in turn; Spearman's all together, in compiled code."""
        if self.function is spearman and len(weights) > 1:
            return spearman_resampled(measured, self.gold, weights)
        return np.stack([self.evaluate(row, weights) for row in measured], axis=1)

    def assemble(self, options: Sequence[Array], choice: Index) -> Array:
        """Join the options' scores, brought to one scale first: over all pairs, without a look at gold scores."""
        if (choice == choice[0]).all():
            return options[int(choice[0])]
        from scipy.stats import rankdata  # tasks are loaded without it

        scaled: list[Array] = [rankdata(option) if self.by_rank else _standard(option) for option in options]
        return np.asarray(np.stack(scaled)[choice, np.arange(self.units)])

    def contributions(self, measured: Array) -> Array | None:
        """Give what each pair adds to the correlation."""
        return self.each(measured, self.gold)

    def to_choose_by(self, measured: Array) -> Array | None:
        """Give what each pair adds to the correlation; for Kendall's, whose are slow, to Spearman's."""
        return (spearman_contributions if self.by_rank else pearson_contributions)(measured, self.gold)


def _standard(scores: Array) -> Array:
    """Give finite scores mean 0 and deviation 1."""
    finite = scores[np.isfinite(scores)]
    if not len(finite):
        return scores
    return np.asarray((scores - finite.mean()) / (finite.std() or 1.0))
