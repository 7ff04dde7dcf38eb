"""A difference of two measured things, with its interval and its p."""

from __future__ import annotations

from typing import NamedTuple


class Difference(NamedTuple):
    """One value less another on the same units: the difference, its 95 % interval and its two-sided p."""

    difference: float
    low: float
    high: float
    p: float
