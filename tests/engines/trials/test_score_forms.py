"""Formulas of scores: each is known again from numbers alone, turned back into ours, and noise is no formula."""

from __future__ import annotations

import numpy as np
import pytest

from offsphere.engines.trials.score_forms import CURVES, Values, fit_scores

rng = np.random.default_rng(5)
LEFT, RIGHT = rng.normal(size=(200, 12)), rng.normal(size=(200, 12)) * rng.lognormal(0, 0.7, (200, 1))
VALUES = Values.of(LEFT, RIGHT)
DOT = (LEFT * RIGHT).sum(axis=1)
COSINE = DOT / np.sqrt((LEFT**2).sum(axis=1) * (RIGHT**2).sum(axis=1))
DISTANCE = np.sqrt(((LEFT - RIGHT) ** 2).sum(axis=1))
TRUE = {"dot": DOT, "cosine": COSINE, "distance": DISTANCE}


@pytest.mark.parametrize(
    ("scores", "metric", "greater_is_better"),
    [
        (DOT, "dot", True),
        (-DOT, "dot", False),
        (1 - DOT, "dot", False),
        (COSINE, "cosine", True),
        (1 - COSINE, "cosine", False),
        ((1 + COSINE) / 2, "cosine", True),
        (DISTANCE, "distance", False),
        (DISTANCE**2, "distance", False),
        (-(DISTANCE**2), "distance", True),
        (1 / (1 + DISTANCE**2), "distance", True),
        (1 / (1 + DISTANCE), "distance", True),
        (np.where(DOT >= 0, 1 + DOT, 1 / (1 - DOT)), "dot", True),
    ],
)
def test_a_formula_is_known_again_and_its_inverse_gives_the_metric_back(scores, metric, greater_is_better):
    form = fit_scores(scores.astype(np.float32), VALUES)
    assert form.metric == metric
    assert form.greater_is_better is greater_is_better
    name, _, formula = form.inverse.partition(" = ")
    assert name == metric
    given = scores.astype(np.float32).astype(np.float64)
    if " where " in formula:
        back = np.where(given >= 1, given - 1, 1 - 1 / given)
    else:
        back = eval(formula, {"score": given, "sqrt": lambda x: np.sqrt(np.maximum(x, 0))})
    assert np.abs(back - TRUE[metric]).max() < 1e-3 * np.abs(TRUE[metric]).max()


def test_scores_that_follow_no_formula_have_none():
    assert fit_scores(rng.normal(size=200), VALUES) is None


def test_rounding_to_few_digits_is_seen_as_an_error_of_the_right_size():
    rough = fit_scores(np.round(DOT, 1), VALUES)
    assert rough.of == "dot"
    assert 1e-4 < rough.error < 0.05
    assert fit_scores(DOT.astype(np.float32), VALUES).error < 1e-6


def test_every_curve_says_its_inverse():
    assert all(" = " in curve.inverse for curve in CURVES.values())
