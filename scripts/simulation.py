"""Simulated comparisons from real measurements: draw queries, flip what they gain at random, plant a gain, test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from measured_options import MeasuredOptions
from numpy.typing import NDArray
from scipy.stats import binomtest

from offsphere.statistics.cross_validation import assign_folds, tune
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.max_t import Tests
from offsphere.statistics.nested_choice import NestedChoice, nested_choice
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs

FOLDS = 5
REPEATS = 10
ROW_PERMUTATIONS = 4_999  # fewer would leave Holm, who multiplies p by the number of rows, no chance
PERMUTATIONS = 199  # of the choice; as exact as more: p is below 5 % in at most 5 % of null cases
ALPHA = 0.05


class Simulated(NamedTuple):
    """The tests of one simulated comparison."""

    rows: Tests  # of the rows besides the baseline, tuned again under each pattern
    gains: NDArray[np.float64]  # of those rows, held out
    choice: NestedChoice


def draw_null(measured: MeasuredOptions, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw what the options gain on some real queries, with a random sign a query: none gains anything."""
    drawn = measured.gained[rng.choice(len(measured.gained), size, replace=size > len(measured.gained))]
    return np.asarray(drawn * rng.choice([-1.0, 1.0], (size, 1)))


def real_losses(measured: MeasuredOptions) -> NDArray[np.float64]:
    """Tell what each option really loses, for data sets in which nothing gains and what is bad stays bad."""
    return np.minimum(measured.gained.mean(axis=0), 0.0)


def plant(gained: NDArray[np.float64], option: int, errors: float) -> NDArray[np.float64]:
    """Give one option a gain of some standard errors, and all others as much as they move with it."""
    spread = gained.std(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        together = np.nan_to_num((gained * gained[:, option : option + 1]).mean(axis=0) / (spread * spread[option]))
    return np.asarray(gained + errors / np.sqrt(len(gained)) * together * spread)


def run_tests(measured: MeasuredOptions, gained: NDArray[np.float64], seed: int) -> Simulated:
    """Tune and test all rows, and test the choice, as ``compare`` does."""
    units = len(gained)
    folds = assign_folds(units, FOLDS, seed)
    held_out = [tune(list(gained[:, o].T), MeanOverQueries(units), folds).measured for o in measured.rows[1:]]
    differences = np.stack(held_out, axis=1)
    return Simulated(
        max_t_by_tuned_signs(
            gained, [np.tile(options, (FOLDS, 1)) for options in measured.rows[1:]], folds, ROW_PERMUTATIONS, seed
        ),
        differences.mean(axis=0),
        nested_choice(gained, measured.complexity, folds=FOLDS, repeats=REPEATS, seed=seed, permutations=PERMUTATIONS),
    )


def share(flags: Sequence[bool]) -> str:
    """Write a share and its exact 95 % interval."""
    count = sum(map(bool, flags))
    around = binomtest(count, len(flags)).proportion_ci(method="exact")
    return f"{count / len(flags):.1%} [{around.low:.1%}, {around.high:.1%}]"
