"""The mean of one effect over several studies that differ for more reasons than chance (DerSimonian & Laird 1986)."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.statistics.estimate import Estimate


class RandomEffects(NamedTuple):
    """A mean over studies, how much they really differ, and which share of their spread that is."""

    mean: Estimate
    deviation: float  # tau: the standard deviation of the true effects
    share: float  # I squared: of the spread of the observed effects, what chance does not explain


def random_effects(effects: Array, errors: Array) -> RandomEffects:
    """Average effects of several studies, each with its standard error.

    Args:
        effects: One for each study.
        errors: Its standard error; an effect without one (0) counts as known exactly, up to what studies differ by.

    Returns:
        The mean with its interval by Student's distribution (Hartung & Knapp 2001), and how far the studies differ.

    Example:
        >>> import numpy as np
        >>> same = random_effects(np.array([0.1, 0.1, 0.1]), np.array([0.02, 0.02, 0.02]))
        >>> round(same.mean.value, 6), same.deviation, same.share
        (0.1, 0.0, 0.0)
    """
    effects, variances = np.asarray(effects, np.float64), np.maximum(np.asarray(errors, np.float64) ** 2, 1e-12)
    count = len(effects)
    weights = 1 / variances
    centre = (weights @ effects) / weights.sum()
    spread = float(weights @ (effects - centre) ** 2)  # Cochran's Q
    excess = weights.sum() - (weights**2).sum() / weights.sum()
    between = max(0.0, (spread - (count - 1)) / excess) if count > 1 else 0.0
    weights = 1 / (variances + between)
    mean = float(weights @ effects / weights.sum())
    share = max(0.0, 1 - (count - 1) / spread) if spread > 0 else 0.0
    if count < 2:  # noqa: PLR2004
        return RandomEffects(Estimate.around(mean, sqrt(1 / weights.sum())), 0.0, 0.0)
    scatter = float(weights @ (effects - mean) ** 2) / ((count - 1) * weights.sum())
    return RandomEffects(Estimate.around(mean, sqrt(scatter), count - 1), sqrt(between), share)
