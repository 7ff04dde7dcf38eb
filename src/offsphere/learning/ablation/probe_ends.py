"""The probes of a variant at the start and at the end of every training, and how those of two variants differ."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.scoring.training_record import DynamicsRow
from offsphere.statistics.difference import Difference
from offsphere.statistics.estimate import Estimate


class ProbeEnds(NamedTuple):
    """What a probe looked like at the first and at the last step, seed by seed."""

    columns: Sequence[str]
    values: Array  # (seeds, 2, columns)

    @classmethod
    def of(cls, trainings: Sequence[Sequence[DynamicsRow]]) -> ProbeEnds:
        """Take the first and the last row of each training's dynamics, those of single layers left out."""
        ends = []
        for rows in trainings:
            whole = [row for row in rows if row.get("layer") is None]
            ends.append([whole[0], whole[-1]] if whole else [{}, {}])
        shared = [name for name in ends[0][0] if name != "layer" and all(name in row for pair in ends for row in pair)]
        values = [[[row[name] for name in shared] for row in pair] for pair in ends]
        return cls(shared, np.array(values, np.float64).reshape(len(ends), 2, len(shared)))

    @classmethod
    def joined(cls, ends: Sequence[ProbeEnds]) -> ProbeEnds:
        """Put those of several seeds together, with the columns that all of them have."""
        shared = [name for name in ends[0].columns if all(name in each.columns for each in ends)]
        chosen = [each.values[:, :, [list(each.columns).index(name) for name in shared]] for each in ends]
        return cls(shared, np.concatenate(chosen))

    def at_start(self, quantity: str) -> Array:
        """A quantity at the first step with each seed; nothing where it was not measured."""
        return self._column(quantity, 0)

    def at_end(self, quantity: str) -> Array:
        """A quantity at the last step with each seed; nothing where it was not measured."""
        return self._column(quantity, 1)

    def _column(self, quantity: str, end: int) -> Array:
        if quantity not in self.columns:
            return np.zeros(0)
        return np.asarray(self.values[:, end, list(self.columns).index(quantity)])


def difference_over_seeds(first: Array, second: Array) -> Difference:
    """The mean of paired differences with the interval and the p of Student's t; no p where they do not scatter."""
    from scipy.stats import t

    apart = first - second
    mean, count = float(apart.mean()), len(apart)
    error = float(apart.std(ddof=1)) / sqrt(count) if count > 1 else 0.0
    if not error > 0:
        return Difference(mean, nan, nan, nan)
    around = Estimate.around(mean, error, count - 1)
    return Difference(mean, around.low or 0.0, around.high or 0.0, float(2 * t.sf(abs(mean) / error, count - 1)))
