"""Power: how many queries or pairs it takes to see a difference of some size."""

from __future__ import annotations

import numpy as np

# in standard errors: how large an effect must be to exceed 1.96 of them (5 %, two-sided) in four of five tries
SEEN = 1.959964
POWER = SEEN + 0.841621


def units_needed(difference: float, low: float, high: float, units: int) -> int | None:
    """Estimate how many queries (or pairs) would show a difference in four of five tries, tested alone at 5 %.

    Args:
        difference: as large as it is expected to be.
        low: the lower end of its 95 % interval on the units at hand, which tells its standard error.
        high: the upper end of that interval.
        units: how many queries (or pairs) are at hand.

    Returns:
        That number; nothing where the interval tells no error, or the difference is zero.

    Example:
        >>> units_needed(0.01, -0.01, 0.03, 300)
        2452
    """
    error = (high - low) / (2 * SEEN)
    if not np.isfinite(error) or error <= 0 or difference == 0:
        return None
    return int(np.ceil(units * (POWER * error / abs(difference)) ** 2))
