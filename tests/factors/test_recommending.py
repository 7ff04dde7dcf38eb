"""Held-out interactions through the same comparison, what a user has left out; the simulation; the picture."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.factors.experiment import experiment
from offsphere.report.raster import picture


@pytest.fixture(scope="module")
def data():
    return osp.simulate(1_500, 150, 5, most_items=40, seed=2)


def test_nothing_a_user_has_is_recommended_and_values_are_those_of_plain_sorting(data):
    held_out = osp.hold_out(data.interactions)
    factors = osp.factorize(held_out.train, 16, 5.0)
    table = osp.recommend(factors, held_out).table
    scores = factors.scores(held_out.train[held_out.users])
    train = held_out.train[held_out.users].toarray() > 0
    truth = (data.interactions[held_out.users].toarray() > 0) & ~train
    scores[train] = -np.inf
    order = np.argsort(-scores, axis=1, kind="stable")[:, :10]
    gains = np.take_along_axis(truth, order, axis=1)
    discount = 1 / np.log2(np.arange(2, 12))
    ideal = np.cumsum(discount)[np.minimum(truth.sum(axis=1), 10) - 1]
    expected = (gains * discount).sum(axis=1) / ideal
    assert np.allclose(table["dot"].values, expected, atol=1e-9)


def test_held_out_and_learned_from_are_a_division(data):
    held_out = osp.hold_out(data.interactions, share=0.3, seed=4)
    judged = held_out.task.judgments
    assert held_out.train.nnz + len(judged.grades) == data.interactions.nnz
    assert (held_out.task.excluded.relevant > 0).all()
    assert np.diff(data.interactions.indptr)[held_out.users].min() >= 5


def test_length_follows_popularity_and_groups_are_thirds(data):
    held_out = osp.hold_out(data.interactions)
    result = osp.recommend(osp.factorize(held_out.train, 16, 5.0), held_out)
    assert result.length_and_popularity > 0.8
    assert len(result.groups) == 6
    by_activity = result.groups[:3]
    assert sum(group.users for group in by_activity) == len(held_out.users)
    weighted = sum(group.difference * group.users for group in by_activity) / len(held_out.users)
    assert weighted == pytest.approx(result.table["dot"].difference)


def test_groups_are_told_on_the_one_scale_of_certainty(data):
    """Once: "Length makes no certain difference for", and "helps" whether p was 0.04 or 0.0001."""
    held_out = osp.hold_out(data.interactions)
    result = osp.recommend(osp.factorize(held_out.train, 16, 5.0), held_out)
    group = result.groups[0]._replace(name="users with few items", users=1_200, difference=0.02, low=0.01, high=0.03)
    told = [replace(result, groups=[group._replace(p=p)]).sentences[-1] for p in (0.0001, 0.02, 0.4)]
    assert told[0].startswith("Length helps users with few items (1,200 users), very sure: dot less cosine +0.0200 [")
    assert told[1].startswith("Length helps users with few items (1,200 users), fairly sure: dot less cosine")
    assert told[2].startswith("Whether length helps users with few items (1,200 users) cannot be told: dot less")


def test_an_excluded_document_is_not_ranked_even_where_nothing_else_is_left():
    from offsphere.data.judgments import Judgments

    task = osp.RankingTask.from_judgments({"q": {"b": 1.0}}, ["a", "b"])
    excluded = Judgments.of(np.array([0]), np.array([0]), np.array([1.0]), 1, 2)
    vectors = osp.RankingVectors.of(task, np.array([[1.0, 0]], np.float32), np.array([[2.0, 0], [1, 1]], np.float32))
    assert osp.compare(task, vectors, ["dot"], metric="mrr@10")["dot"].value == 0.5
    assert osp.compare(replace(task, excluded=excluded), vectors, ["dot"], metric="mrr@10")["dot"].value == 1.0


def test_an_adapter_can_be_trained_with_the_cosine_one_wants(data):
    outer = osp.hold_out(data.interactions, seed=9)  # nobody has seen this
    before = osp.factorize(outer.train, 16, 5.0)
    trained = osp.train_with_cosine(outer.train, before, batch=64, epochs=20)
    assert trained.adapter.similarity == osp.Polar(1, 1)
    raw = osp.compare(outer.task, outer.vectors(before), ["dot"])["cosine"].value
    table = osp.compare(outer.task, outer.vectors(trained.factors), [trained.adapter.scorer])
    assert table[trained.adapter.scorer.name].value > raw + 0.03
    # what it says of itself is of interactions that the factors had not seen either
    assert trained.adapter.record.run.best < table[trained.adapter.scorer.name].value + 0.05


def test_the_simulation_has_the_laws_it_promises():
    data = osp.simulate(20_000, 300, 3, most_items=50, activity_exponent=0.5, seed=5)
    counts = np.diff(data.interactions.indptr)
    sizes = np.arange(1, 51)
    expected = sizes**-0.5 / (sizes**-0.5).sum()
    observed = np.bincount(counts, minlength=51)[1:] / 20_000
    assert np.abs(observed - expected).max() < 0.01
    assert set(np.unique(data.interactions.data)) == {1.0}
    assert (np.diff(data.clusters) >= 0).all()
    popularity = np.bincount(data.interactions.indices, minlength=300)
    for cluster in range(3):
        inside = data.clusters == cluster
        assert np.corrcoef(np.log(data.popularity[inside]), np.log(popularity[inside] + 1))[0, 1] > 0.8
    again = osp.simulate(20_000, 300, 3, most_items=50, seed=5)
    assert (again.interactions != data.interactions).nnz == 0


def test_users_like_the_clusters_they_prefer():
    data = osp.simulate(2_000, 200, 4, most_items=20, concentration=0.1, seed=6)
    columns = [data.interactions[:, data.clusters == cluster] for cluster in range(4)]
    taken = np.stack([np.asarray(part.sum(axis=1)).ravel() for part in columns], axis=1)
    assert (taken.argmax(axis=1) == data.preferences.argmax(axis=1)).mean() > 0.8


def test_the_experiment_tells_what_the_paper_tells():
    """Objective 1's cosines change with the rescaling, objective 2 and the original space find the clusters."""
    result = experiment(osp.simulate(4_000, 300, seed=0), 50, {1: 2_000.0, 2: 20.0})
    truth, objective_1, half, inverse, objective_2, original = result.panels
    assert (truth.within, truth.between, truth.auc) == (1.0, 0.0, 1.0)
    assert len({round(panel.within, 2) for panel in (objective_1, half, inverse)}) == 3
    assert objective_2.auc > half.auc
    assert original.auc > half.auc


def test_a_picture_is_a_png_of_the_matrix():
    values = np.array([[1.0, -0.2], [0.4, 1.0]])
    content = base64.b64decode(picture(values).removeprefix("data:image/png;base64,"))
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    assert (width, height) == (2, 2)
    start = content.index(b"IDAT")
    size = struct.unpack(">I", content[start - 4 : start])[0]
    rows = zlib.decompress(content[start + 4 : start + 4 + size])
    assert rows == bytes([0, 0, 255, 0, 127, 0])
    assert len(picture(np.random.default_rng(0).random((1_000, 1_000)))) < 300_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concentration": 0}, "concentration above zero"),
        ({"popularity_exponents": (2.0, 1.0)}, "from low to high"),
        ({"activity_exponent": float("nan")}, "finite"),
        ({"cluster_share": np.array([1.0, 2.0])}, "5 numbers"),
    ],
)
def test_laws_that_cannot_be_are_refused(options, message):
    with pytest.raises(OffsphereError, match=message):
        osp.simulate(**options)


@pytest.mark.parametrize("options", [{"users": 0}, {"clusters": 20, "items": 10}, {"most_items": 200, "items": 100}])
def test_simulations_that_cannot_be_are_refused(options):
    with pytest.raises(OffsphereError, match="no user with more items"):
        osp.simulate(**options)


def test_users_who_are_alike_are_not_divided():
    rng = np.random.default_rng(0)
    x = np.zeros((90, 40))
    for row in x:
        row[rng.choice(40, 8, replace=False)] = 1
    held_out = osp.hold_out(x)
    names = [group.name for group in osp.recommend(osp.factorize(held_out.train, 5, 1.0), held_out).groups]
    assert not any("items" in name for name in names)


def test_dot_is_compared_whether_asked_for_or_not(data):
    held_out = osp.hold_out(data.interactions, most_users=200)
    result = osp.recommend(osp.factorize(held_out.train, 8, 5.0), held_out, ["half"])
    assert len(held_out.users) == 200
    assert result.table["dot"].p is not None


def test_one_user_with_nearly_everything_does_not_make_all_searches_deep(data):
    x = data.interactions.toarray()
    x[0] = 1
    held_out = osp.hold_out(x)
    factors = osp.factorize(held_out.train, 8, 5.0)
    scores = factors.scores(held_out.train[held_out.users])
    scores[held_out.train[held_out.users].toarray() > 0] = -np.inf
    best = scores.argmax(axis=1)
    truth = (x[held_out.users] > 0) & (held_out.train[held_out.users].toarray() == 0)
    expected = truth[np.arange(len(best)), best].mean()
    result = osp.compare(held_out.task, held_out.vectors(factors), ["dot"], metric="precision@1")
    assert result["dot"].value == pytest.approx(expected)


def test_what_a_user_can_never_choose_is_not_chosen():
    data = osp.simulate(300, 100, 5, concentration=1e-3, least_items=50, most_items=50, seed=0)
    rows, columns = data.interactions.nonzero()
    assert (data.preferences[rows, data.clusters[columns]] > 0).all()


def test_what_cannot_be_held_out_is_said():
    with pytest.raises(OffsphereError, match="no user has 5"):
        osp.hold_out(np.eye(6))
    with pytest.raises(OffsphereError, match="share = 1"):
        osp.hold_out(np.ones((9, 9)), share=1)
