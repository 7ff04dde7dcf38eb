"""Every training of a variant is kept by itself: a kill loses one, and more seeds train what is new."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.base.cache import Memo
from offsphere.learning.ablation.probe_ends import ProbeEnds
from offsphere.learning.ablation.variant_runs import VariantFit, kept_run
from offsphere.learning.ablation.variants import Variant
from offsphere.learning.adapters.adapter_recipe import Recipe

BUDGET = [(0.05, 0.001), (0.05, 0.01), (0.1, 0.001)]  # the second is the best


class Trainings:
    """Trains nothing, tells what was asked for, and dies at the training of a number."""

    def __init__(self, dies_at=None):
        self.asked, self.dies_at = [], dies_at

    def __call__(self, recipe, seed, name):
        self.asked.append((recipe.temperature, recipe.rate, seed))
        if len(self.asked) == self.dies_at:
            raise KeyboardInterrupt
        dynamics = [{"step": step, "layer": None, "alignment": seed + step / 10} for step in (0, 4)]
        held_out = 10 * recipe.rate - recipe.temperature + seed
        units = np.array([seed, recipe.rate, recipe.temperature])
        return VariantFit(held_out, -held_out, (seed, recipe.rate), lambda: [units, units[:2]], dynamics, [f"n{seed}"])


def run(trainings, folder, seeds):
    shown = []
    variant = Variant("cosine", Recipe(), BUDGET)
    return kept_run(Memo(folder), "data", trainings, variant, seeds, shown.append), shown


def test_the_first_seed_tries_the_budget_and_the_others_take_what_it_chose(tmp_path):
    trainings = Trainings()
    made, shown = run(trainings, tmp_path, [3, 4, 5])
    assert trainings.asked == [*((*trial, 3) for trial in BUDGET), (0.05, 0.01, 4), (0.05, 0.01, 5)]
    assert shown == [1, 2, 3, 4, 5]
    assert made.trials.shape == (3, 3)
    assert np.allclose(made.held_out, [3.05, 4.05, 5.05])
    assert np.allclose(made.by_cosine, -made.held_out)
    assert made.exponents.tolist() == [[3, 0.01], [4, 0.01], [5, 0.01]]
    assert [part.tolist() for part in made.measured] == [
        [[seed, 0.01, 0.05] for seed in (3, 4, 5)],
        [[seed, 0.01] for seed in (3, 4, 5)],
    ]
    assert made.ends.at_end("alignment").tolist() == [3.4, 4.4, 5.4]
    assert [row["alignment"] for row in made.dynamics] == [3.0, 3.4]
    assert made.notes == ["n3", "n4", "n5"]


@pytest.mark.parametrize(("dies_at", "left"), [(2, 5), (4, 2), (5, 1)])
def test_what_was_killed_goes_on_from_the_seed_that_was_finished(tmp_path, dies_at, left):
    with pytest.raises(KeyboardInterrupt):
        run(Trainings(dies_at), tmp_path, [0, 1, 2])
    again = Trainings()
    made, _ = run(again, tmp_path, [0, 1, 2])
    assert len(again.asked) == left
    whole, _ = run(Trainings(), None, [0, 1, 2])
    assert np.array_equal(made.held_out, whole.held_out)
    assert np.array_equal(made.ends.values, whole.ends.values)
    assert list(made.dynamics) == list(whole.dynamics)


def test_more_seeds_train_those_that_are_new(tmp_path):
    run(Trainings(), tmp_path, [0, 1])
    more = Trainings()
    made, _ = run(more, tmp_path, [0, 1, 2])
    assert more.asked == [(0.05, 0.01, 2)]
    assert len(made.held_out) == 3


def test_ends_of_seeds_have_the_columns_that_all_have():
    one, other = ProbeEnds(["a", "b"], np.array([[[1.0, 2], [3, 4]]])), ProbeEnds(["b"], np.array([[[5.0], [6]]]))
    both = ProbeEnds.joined([one, other])
    assert both.columns == ["b"]
    assert both.values.tolist() == [[[2], [4]], [[5], [6]]]
