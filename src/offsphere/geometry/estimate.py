"""A number, and an interval where it is not exact."""

from __future__ import annotations

from math import isfinite, nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from offsphere.significance import interval

NORMAL_95 = 1.959963984540054  # of a standard normal, 95 % lie within this


class Estimate(NamedTuple):
    """A value and its 95 % interval; an exact value has none."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def around(cls, value: float, error: float) -> Estimate:
        """From a standard error."""
        return cls(float(value), float(value - NORMAL_95 * error), float(value + NORMAL_95 * error))

    @classmethod
    def resampled(cls, value: float, samples: NDArray[np.float64]) -> Estimate:
        """From bootstrap samples."""
        low, high = interval(samples)
        return cls(float(value), float(low), float(high))

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def __str__(self) -> str:
        """For people: three digits, and the interval in brackets."""
        if not isfinite(self.value):
            return "undefined"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


UNDEFINED = Estimate(nan)
