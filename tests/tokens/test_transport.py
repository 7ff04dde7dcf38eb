"""Transport is exact: POT, the assignment problem, bounds and laws say so."""

from __future__ import annotations

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from offsphere.base.errors import ParameterError, UnknownNameError, VectorError
from offsphere.tokens.token_bags import TokenBags
from offsphere.tokens.token_measure import TextPairs
from offsphere.tokens.transport import Transport
from offsphere.tokens.transport_simplex import least_cost
from tests.tokens.conftest import random_bags, text_of


@given(st.integers(1, 12), st.integers(1, 12), st.sampled_from(["any", "uniform", "equal costs", "zeros"]), st.data())
def test_the_least_cost_is_that_of_pot(rows, columns, kind, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    cost = np.round(rng.random((rows, columns)), 1) if kind == "equal costs" else rng.random((rows, columns))
    supply, demand = rng.random(rows) + 0.01, rng.random(columns) + 0.01
    if kind in ("uniform", "equal costs"):
        supply[:], demand[:] = 1, 1
    if kind == "zeros":
        supply[1:] *= rng.integers(0, 2, rows - 1)
        demand[1:] *= rng.integers(0, 2, columns - 1)
    supply, demand = supply / supply.sum(), demand / demand.sum()
    assert least_cost(cost, supply, demand) == pytest.approx(ot.emd2(supply, demand, cost), abs=1e-10)


@pytest.mark.parametrize("size", [1, 2, 20, 150])
def test_with_equal_weights_it_is_an_assignment(size):
    """Every arc of such a tree may be empty: what would walk in circles does so here."""
    cost = np.random.default_rng(size).integers(0, 5, (size, size)).astype(float)
    rows, columns = linear_sum_assignment(cost)
    equal = np.full(size, 1 / size)
    assert least_cost(cost, equal, equal) == pytest.approx(cost[rows, columns].mean(), abs=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(25, 300), (300, 25), (200, 200)])
def test_long_texts_are_exact_too(rows, columns):
    rng = np.random.default_rng(0)
    cost, supply, demand = rng.random((rows, columns)), rng.lognormal(size=rows), rng.lognormal(size=columns)
    supply, demand = supply / supply.sum(), demand / demand.sum()
    assert least_cost(cost, supply, demand) == pytest.approx(ot.emd2(supply, demand, cost), abs=1e-10)


def by_hand(measure, left, right, pair):
    """The definition, with POT."""
    (x, x_counts, x_rows), (y, y_counts, y_rows) = text_of(left, pair[0]), text_of(right, pair[1])
    a, b = np.linalg.norm(x, axis=1), np.linalg.norm(y, axis=1)
    cosines = (x / a[:, None]) @ (y / b[:, None]).T
    weights = {
        "uniform": (x_counts, y_counts),
        "length": (x_counts * a, y_counts * b),
        "sif": tuple(
            counts * 1e-3 / (1e-3 + bags.frequency[rows])
            for counts, bags, rows in ((x_counts, left, x_rows), (y_counts, right, y_rows))
        ),
    }[measure.weights]
    unit = (x_counts @ a + y_counts @ b) / (x_counts.sum() + y_counts.sum())
    gap = np.abs(a[:, None] - b) / unit + measure.angle_weight * np.arccos(np.clip(cosines, -1, 1))
    cost = 1 - cosines if measure.cost == "cosine" else gap
    return -ot.emd2(weights[0] / weights[0].sum(), weights[1] / weights[1].sum(), cost)


@pytest.mark.parametrize("weights", ["length", "uniform", "sif"])
@pytest.mark.parametrize("cost", ["cosine", "norm-gap"])
def test_texts_are_as_far_apart_as_pot_says(two_bags, weights, cost):
    left, right = two_bags
    measure = Transport(weights, cost, 0.7)
    pairs = [(i, j) for i in range(len(left)) for j in range(len(right))]
    scores = measure.scores(left, right, TextPairs(*np.array(pairs).T))
    np.testing.assert_allclose(scores, [by_hand(measure, left, right, pair) for pair in pairs], atol=1e-6)


def test_a_text_is_nowhere_from_itself_and_all_scales_are_one(two_bags):
    left, right = two_bags
    every = np.arange(len(left))
    pairs = TextPairs(every, every)
    scaled = [
        TokenBags(bags.table * 100, bags.ids, bags.rows, bags.counts, bags.ends, bags.frequency) for bags in two_bags
    ]
    for measure in (Transport(), Transport("uniform", "norm-gap")):
        np.testing.assert_allclose(measure.scores(left, left, pairs), 0, atol=1e-3)  # an angle is rounded there
        np.testing.assert_allclose(measure.scores(*scaled, pairs), measure.scores(left, right, pairs), atol=1e-5)
        np.testing.assert_allclose(measure.scores(right, left, pairs), measure.scores(left, right, pairs), atol=1e-9)


def test_of_equal_lengths_the_weights_are_uniform(two_bags):
    units = [
        TokenBags(
            bags.table / np.linalg.norm(bags.table, axis=1, keepdims=True), bags.ids, bags.rows, bags.counts, bags.ends
        )
        for bags in two_bags
    ]
    pairs = TextPairs(np.arange(10), np.arange(10))
    np.testing.assert_allclose(
        Transport("length").scores(*units, pairs), Transport("uniform").scores(*units, pairs), atol=1e-6
    )


def test_a_text_without_tokens_or_weight_has_no_number_and_others_keep_theirs():
    rng = np.random.default_rng(1)
    bags = random_bags(rng, empty=(0, 5))
    pairs = TextPairs(np.array([0, 1, 5, 2]), np.array([1, 5, 5, 3]))
    assert np.isfinite(Transport().scores(bags, bags, pairs)).tolist() == [False, False, False, True]
    nothing = TokenBags.of(np.zeros((2, 4), np.float32), np.arange(2), np.array([0, 1]), np.array([1, 2]))
    one = TextPairs(np.array([0]), np.array([1]))
    assert np.isnan(Transport("length").scores(nothing, nothing, one)).all()
    assert Transport("uniform").scores(nothing, nothing, one).tolist() == [-1.0]  # no direction: as far as can be said


def test_one_token_against_one_is_their_cosine():
    table = np.array([[2.0, 0.0], [3.0, 3.0]], np.float32)
    bags = TokenBags.of(table, np.arange(2), np.arange(2), np.array([1, 2]))
    score = Transport().scores(bags, bags, TextPairs(np.array([0]), np.array([1])))
    assert score[0] == pytest.approx(np.sqrt(0.5) - 1)


def test_what_is_no_weight_cost_or_text_is_refused(two_bags):
    with pytest.raises(UnknownNameError, match="did you mean length"):
        Transport("lenght")
    with pytest.raises(UnknownNameError, match="cost of transport"):
        Transport(cost="l1")
    with pytest.raises(ParameterError, match="angle_weight"):
        Transport(angle_weight=-1)
    left, right = two_bags
    with pytest.raises(VectorError, match="text 15 of 15"):
        Transport().scores(left, right, TextPairs(np.array([0]), np.array([15])))
    narrow = TokenBags(left.table[:, :0], left.ids, left.rows, left.counts, left.ends)
    with pytest.raises(VectorError, match="of 0 and of 8 dimensions"):
        Transport().scores(narrow, right, TextPairs(np.array([0]), np.array([1])))
    with pytest.raises(VectorError, match="vector 99"):
        TokenBags(left.table, left.ids, np.full(len(left.rows), 99), left.counts, left.ends)
