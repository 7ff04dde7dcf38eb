"""Power: how many queries or pairs it takes to see a difference of some size."""

from __future__ import annotations

import numpy as np

MOST_TRIES = 0.841621  # standard errors below its mean at which a normal variable lies in one of five tries


def units_needed(difference: float, error: float, reach: float, units: int) -> int | None:
    """Estimate how many queries (or pairs) would show a difference in four of five tries, by the test at hand.

    The test calls a difference one where it is more than ``reach`` of its standard errors from zero. Errors shrink with
    the root of the number of units; the reach is taken to stay what it is.

    Args:
        difference: as large as it is expected to be.
        error: its standard error on the units at hand.
        reach: beyond how many of these errors the test calls it one: 1.96 for a plain test at 5 %, more where a choice
            is made again under every sign pattern.
        units: how many queries (or pairs) are at hand.

    Returns:
        That number; nothing where there is no error or no bound, or the difference is zero.

    Example:
        >>> units_needed(0.01, 0.01, 1.96, 300), units_needed(0.01, 0.01, 2.5, 300)
        (2355, 3350)
    """
    if not np.isfinite(error * reach) or error <= 0 or difference == 0:
        return None
    return int(np.ceil(units * ((reach + MOST_TRIES) * error / abs(difference)) ** 2))
