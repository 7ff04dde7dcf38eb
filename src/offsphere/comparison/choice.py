"""Which scorer to recommend: the simplest that is as good as the best of those that surely beat cosine."""

from __future__ import annotations

from typing import NamedTuple

from offsphere.comparison.table import ALPHA, Comparison, Row
from offsphere.statistics.significance import randomization_test


class Choice(NamedTuple):
    """The row one would deploy, the best row, and why they differ where they do."""

    row: Row
    best: Row  # the best of those that are significantly better than the baseline, or the baseline
    p_best: float | None  # of the difference between the two; nothing where they are one


def choose(table: Comparison) -> Choice:
    """Choose the simplest row that beats the baseline and is not significantly worse than the best that does.

    Where no row beats the baseline significantly, the baseline is chosen.
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
    """Tell what serving it takes, the worst first: no inner product, a document bias, transforms, tuned parameters."""
    scorer = row.scorer
    return (int(not scorer.similarity.lowers), int(not scorer.is_plain), len(scorer.transforms), int(row.tuned))


def difference_p(first: Row, second: Row, seed: int) -> float | None:
    """Test the difference of two rows, query by query; nothing where there is no value a query."""
    if first.values is None or second.values is None:
        return None
    return float(randomization_test(first.values - second.values, seed=seed)[0])
