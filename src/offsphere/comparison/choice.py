"""Which scorer to recommend: the simplest that is as good as the best of those that surely beat cosine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.comparison.table import ALPHA, Comparison, Row
from offsphere.statistics.significance import randomization_test

# in standard errors: how large an effect must be to exceed 1.96 of them (5 %, two-sided) in four of five tries
SEEN = 1.959964
POWER = SEEN + 0.841621


class Choice(NamedTuple):
    """The row one would deploy, the best row, and why they differ where they do."""

    row: Row
    best: Row  # the best of those that are significantly better than the baseline, or the baseline
    p_best: float | None  # of the difference between the two; nothing where they are one


def choose(table: Comparison) -> Choice:
    """The simplest row that beats the baseline significantly and is not significantly worse than the best that does.

    The baseline where none does.
    """
    best = table.chosen
    if not best.better:
        return Choice(best, best, None)
    candidates = [row for row in table.rows if row.better and complexity(row) < complexity(best)]
    for row in sorted(candidates, key=lambda row: (complexity(row), -row.value)):
        p = difference_p(best, row, table.seed)
        if p is not None and p >= ALPHA:
            return Choice(row, best, p)
    return Choice(best, best, None)


def complexity(row: Row) -> tuple[int, int, int, int]:
    """What serving it takes, least first: no inner product, a document bias, transforms, parameters that were tuned."""
    scorer = row.scorer
    return (
        int(not scorer.similarity.lowers),
        int(not scorer.is_plain),
        len(scorer.transforms),
        int("(tuned)" in row.name),
    )


def difference_p(one: Row, other: Row, seed: int) -> float | None:
    """The p of two rows' difference, query by query; nothing where there is no value a query."""
    if one.values is None or other.values is None:
        return None
    return float(randomization_test(one.values - other.values, seed=seed)[0])


def units_needed(row: Row, units: int) -> int | None:
    """How many queries (or pairs) would show this difference in four of five tries, tested alone at 5 %.

    From the standard error that the interval of the difference has here.
    """
    error = (row.difference_high - row.difference_low) / (2 * SEEN)
    if not np.isfinite(error) or error <= 0 or row.difference == 0:
        return None
    return int(np.ceil(units * (POWER * error / abs(row.difference)) ** 2))
