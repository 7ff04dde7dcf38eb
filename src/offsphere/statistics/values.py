"""Lists of numbers as many formulas want them: their mean where there is one, or each in units of their spread."""

from __future__ import annotations

from math import nan

import numpy as np

from offsphere.base.arrays import Array


def mean_or_nan(values: Array) -> float:
    """Average numbers; not a number where there are none."""
    return float(values.mean()) if len(values) else nan


def in_spreads(values: Array) -> Array:
    """Tell how many standard deviations each lies above the mean; not a number where all are equal."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.full(len(values), nan)
