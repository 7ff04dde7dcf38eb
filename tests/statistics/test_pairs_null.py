"""Nothing is found on pairs where nothing is: scorers that could be exchanged, tested as ``compare`` tests them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.evaluation import OverPairs
from offsphere.statistics.metrics import parse_metric
from offsphere.statistics.nested_choice import nested_choice
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

SETS, PAIRS, SCORERS, FOLDS = 300, 60, 6, 5


def draw(rng):
    """Gold scores, and scorers that see them through errors of one law: much alike, as real ones are, and skewed."""
    gold = np.round(rng.uniform(0, 5, PAIRS), 1)
    common = rng.normal(0, 1, PAIRS)
    return gold, [np.exp(0.15 * (gold + 1.5 * common + rng.normal(0, 1, PAIRS))) for _ in range(SCORERS)]


@pytest.mark.parametrize("name", ["spearman", "pearson", "kendall"])
def test_exchangeable_scorers_of_pairs_are_told_apart_no_more_often_than_stated(name):
    metric = parse_metric(name)
    rows = choices = 0
    for number in range(SETS):
        gold, scores = draw(np.random.default_rng([7, number]))
        evaluation = OverPairs(gold, metric.function, metric.contributions, by_rank=name != "pearson")
        columns = np.stack([evaluation.to_choose_by(column) for column in scores], axis=1)
        gained = columns - columns[:, :1]
        folds = assign_folds(PAIRS, FOLDS, number)
        options = [np.full((FOLDS, 1), option) for option in range(1, SCORERS)]
        tested = max_t_by_tuned_signs(gained, options, folds, 499, number)
        rows += bool((tested.corrected < 0.05).any())
        chosen = nested_choice(
            gained, [(min(option, 1),) for option in range(SCORERS)], repeats=3, seed=number, permutations=199
        )
        choices += bool(chosen.p < 0.05)
    most = binom.ppf(0.999, SETS, 0.05)
    assert rows <= most, rows
    assert choices <= most, choices
    assert rows > 0  # a test that never speaks is none
