"""A number, and an interval where it is not exact."""

from __future__ import annotations

from math import inf, isfinite, nan
from typing import NamedTuple

from offsphere.base.arrays import Array
from offsphere.statistics.significance import interval


def quantile_95(freedom: float) -> float:
    """Tell within how many standard errors 95 % lie, by Student's distribution."""
    from scipy.stats import t

    return float(t.ppf(0.975, freedom))


class Estimate(NamedTuple):
    """A value and its 95 % interval; an exact value has none."""

    value: float
    low: float | None = None
    high: float | None = None

    @classmethod
    def around(cls, value: float, error: float, freedom: float = inf) -> Estimate:
        """Make it from a standard error and its degrees of freedom."""
        half = quantile_95(freedom) * error
        return cls(float(value), float(value - half), float(value + half))

    @classmethod
    def resampled(cls, value: float, samples: Array) -> Estimate:
        """Make it from a value and bootstrap samples of it."""
        low, high = interval(samples)
        return cls(float(value), float(low), float(high))

    @property
    def excludes_zero(self) -> bool:
        """Whether the whole interval lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def __str__(self) -> str:
        """Write it for people: three digits, and the interval in brackets."""
        if not isfinite(self.value):
            return "undefined"
        if self.low is None or self.high is None:
            return f"{self.value:.3f}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


UNDEFINED = Estimate(nan)
