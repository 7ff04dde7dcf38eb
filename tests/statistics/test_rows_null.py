"""Nothing is found in rows where nothing is: the simulation of the guide, small enough for every run."""

from __future__ import annotations

import sys
from importlib import import_module

import numpy as np
import pytest
from scipy.stats import binom

from tests.processes import ROOT

SETS, UNITS = 100, 60


@pytest.fixture(scope="module")
def scripts():
    """The two scripts that docs/comparing.md was made by, which import each other as they lie side by side."""
    folder = str(ROOT / "scripts")
    sys.path.insert(0, folder)
    yield import_module("simulation"), import_module("measured_options")
    sys.path.remove(folder)


def measured(options):
    """Four fixed rows and two that are tuned, of queries on which much gains and loses much: skewed, and much alike."""
    rng = np.random.default_rng(3)
    common = rng.standard_exponential((300, 1)) - 0.7
    gained = np.hstack([np.zeros((300, 1)), common + 0.4 * rng.standard_exponential((300, 12))])
    row = np.array([0, 1, 2, 3, 4, *[5] * 4, *[6] * 4])
    return options.MeasuredOptions("planted", gained, np.zeros(300), row, [(min(int(r), 1),) for r in row])


def test_null_sets_are_the_real_differences_each_with_a_sign_of_its_own(scripts):
    simulation, options = scripts
    planted = measured(options)
    null = simulation.draw_null(planted, UNITS, np.random.default_rng(0))
    known = {tuple(row) for row in planted.gained} | {tuple(row) for row in -planted.gained}
    assert {tuple(row) for row in null} <= known
    assert (np.sign(null[:, 1:5].sum(axis=1)) < 0).mean() == pytest.approx(0.5, abs=0.25)


def test_rows_and_choices_are_called_better_or_worse_as_seldom_as_stated(scripts, monkeypatch):
    """At most 5 of 100 null comparisons have any false row, by an exact binomial bound; so with the choice."""
    simulation, options = scripts
    for name, count in {"ROW_PERMUTATIONS": 499, "REPEATS": 2, "PERMUTATIONS": 99}.items():
        monkeypatch.setattr(simulation, name, count)
    planted, rows, choices = measured(options), 0, 0
    for number in range(SETS):
        null = simulation.draw_null(planted, UNITS, np.random.default_rng(number))
        tests = simulation.run_tests(planted, null, number)
        rows += bool((tests.rows.corrected < 0.05).any())
        choices += tests.choice.p < 0.05
    most = binom.ppf(0.999, SETS, 0.05)
    assert 0 < rows <= most
    assert 0 < choices <= most


@pytest.mark.slow
def test_no_row_is_false_more_often_than_stated_in_null_sets_from_real_measurements(scripts, real_data, tmp_path):
    """All rows that ``compare`` has, on cranfield's queries: 100 null sets, tested as the guide's 1,000 are."""
    simulation, options = scripts
    real, rows, choices = options.measured_options(real_data / "cranfield", "wordllama", tmp_path), 0, 0
    for number in range(100):
        tests = simulation.run_tests(real, simulation.draw_null(real, UNITS, np.random.default_rng(number)), number)
        rows += bool((tests.rows.corrected < 0.05).any())
        choices += tests.choice.p < 0.05
    most = binom.ppf(0.999, 100, 0.05)
    assert rows <= most
    assert choices <= most
