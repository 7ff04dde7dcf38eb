"""Pearson's correlation of scores with a long tail hangs on a few pairs, and its p is too small: then that is said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.statistics.metrics import QualityMetric
from offsphere.statistics.values import in_spreads

# Six scorers that could be exchanged were told apart in 5 % of data sets at a skewness of 1, in 6 to 10 % at 2, and in
# 13 to 23 % at 5 (300 sets of 60 to 1,000 pairs each); see docs/comparing.md.
SKEWED = 2.0


def notes_on_long_tails(metric: QualityMetric, results: Sequence[MeasuredCandidate]) -> list[str]:
    """Warn of rows whose p under Pearson's correlation cannot be believed; other metrics go by ranks.

    Args:
        metric: by which the rows are compared.
        results: the rows and what was measured of them: for pairs, their scores.

    Returns:
        One note, or none.
    """
    if metric.label != "pearson":
        return []
    names = [row.candidate.name for row in results if abs(_skewness(row.tuned.measured)) > SKEWED]
    if not names:
        return []
    some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
    why = "pearson hangs on a few pairs there, and its p is too small"
    return [f"the scores of {some} have a long tail: {why}; believe spearman"]


def _skewness(scores: Array) -> float:
    """The mean cube of standardised scores: 0 where they are symmetric."""
    return float(np.mean(in_spreads(scores) ** 3))
