"""The search against brute force, with transforms, biases and query standardisation, on vectors made to break it."""

from __future__ import annotations

import os

import pytest

from tests.ranking.trials import run_trial

TRIALS = 5_000  # in all; a first part of them in every run of the tests
OFTEN = int(os.environ.get("OFFSPHERE_TRIALS", "600"))
SLICE = 100


@pytest.mark.parametrize("start", range(0, OFTEN, SLICE))
def test_search_is_brute_force(start, tmp_path):
    check(range(start, start + SLICE), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(OFTEN, TRIALS, SLICE))
def test_search_is_brute_force_in_every_trial(start, tmp_path):
    check(range(start, start + SLICE), tmp_path)


def check(seeds, folder):
    faults = {seed: run_trial(seed, folder) for seed in seeds}
    assert not {seed: found for seed, found in faults.items() if found}
