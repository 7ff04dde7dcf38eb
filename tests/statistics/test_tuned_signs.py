"""Sign patterns under which rows are tuned again, and the intervals that belong to the corrected p."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from offsphere.statistics import tuned_signs
from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.max_t import max_t_by_signs
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs
from tests.statistics.test_max_t import correlated, every_pattern


def test_rows_that_are_not_tuned_are_tested_as_plain_columns():
    differences = correlated(4, 40, 5)
    rows = [np.full((5, 1), column) for column in range(5)]
    tuned = max_t_by_tuned_signs(differences, rows, assign_folds(40, 5, 0), 2_000)
    plain = max_t_by_signs(differences, 2_000)
    assert np.allclose(tuned.alone, plain.alone, atol=0.05)
    assert np.allclose(tuned.corrected, plain.corrected, atol=0.06)


def test_a_tuned_row_is_tuned_again_under_every_pattern(monkeypatch):
    """Against cross-validation run once for each of all sign patterns; a heavy tail is shrunk to the usual 1.96."""
    rng = np.random.default_rng(5)
    options = rng.normal(0.3, 1, (8, 4))
    folds = assign_folds(8, 4, 0)
    monkeypatch.setattr(tuned_signs, "random_signs", every_pattern)
    rows = [np.zeros((4, 1), int), np.tile([1, 2, 3], (4, 1))]
    tests = max_t_by_tuned_signs(options, rows, folds, 2**8 - 1)

    def statistic(signs):
        flipped = options * np.array(signs)[:, None]
        held_out = tune(list(flipped[:, 1:].T), MeanOverQueries(8), folds).measured
        return [column.sum() / np.sqrt((column**2).sum()) for column in (flipped[:, 0], held_out)]

    every = np.array([statistic(signs) for signs in product([1.0, -1.0], repeat=8)])
    low, high = np.quantile(every[:, 1], [0.025, 0.975])
    assert -low > high  # losses of what was tuned are larger by chance
    every[every[:, 1] > 0, 1] *= min(1.959964 / high, 1)
    every[every[:, 1] < 0, 1] *= min(1.959964 / -low, 1)
    every = np.abs(every)
    assert np.allclose(tests.alone, (every >= every[0] - 1e-9).mean(axis=0))
    first = int(every[0].argmax())
    assert tests.corrected[first] == pytest.approx((every.max(axis=1) >= every[0, first] - 1e-9).mean())


def test_options_made_without_a_fold_are_used_for_that_fold_alone():
    rng = np.random.default_rng(6)
    folds = np.arange(40) % 2
    useful = rng.normal(1, 0.1, 40)
    columns = np.column_stack([np.where(folds == 0, useful, np.nan_to_num(rng.normal(0, 50, 40))), useful])
    rows = [np.array([[0], [1]])]
    assert max_t_by_tuned_signs(columns, rows, folds, 999).alone[0] == pytest.approx(0.001)
