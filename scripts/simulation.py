"""Simulated comparisons from real measurements: draw queries, flip or centre what they gain, plant a gain, test."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from measured_options import MeasuredOptions
from numpy.typing import NDArray

from offsphere.comparison.procedure import Option, Procedure, judge_choice
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.max_t import Tests
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

FOLDS = 5
PERMUTATIONS = 199  # as exact as more: p below 5 % in 5 % of null cases


class Simulated(NamedTuple):
    """The tests of one simulated comparison."""

    rows: Tests  # of the rows besides the baseline
    gains: NDArray[np.float64]  # of those rows, held out
    procedure: Procedure


def draw_null(measured: MeasuredOptions, size: int, way: str, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw what the options gain on some queries where none gains anything: by random signs, or by centring."""
    gained = measured.gained if way == "signs" else measured.gained - measured.gained.mean(axis=0)
    drawn = gained[rng.choice(len(gained), size, replace=way != "signs" or size > len(gained))]
    return drawn * rng.choice([-1.0, 1.0], (size, 1)) if way == "signs" else drawn


def run_tests(measured: MeasuredOptions, gained: NDArray[np.float64], seed: int) -> Simulated:
    """Tune and test all rows, and test the choice, as ``compare`` does."""
    units = len(gained)
    evaluation = MeanOverQueries(units)
    folds = assign_folds(units, FOLDS, seed)
    rows = [np.tile(options, (FOLDS, 1)) for options in measured.rows[1:]]
    held_out = [tune([gained[:, o] for o in options], evaluation, folds).measured for options in measured.rows[1:]]
    differences = np.stack(held_out, axis=1)
    options = [
        Option(str(row), str(number), Scorer(), simple, gained[:, number])
        for number, (row, simple) in enumerate(zip(measured.row.tolist(), measured.complexity, strict=True))
    ]
    procedure = judge_choice(evaluation, options, folds=FOLDS, seed=seed, permutations=PERMUTATIONS)
    assert procedure is not None
    tests = max_t_by_tuned_signs(gained, rows, folds, PERMUTATIONS, seed)
    return Simulated(tests, differences.mean(axis=0), procedure)
