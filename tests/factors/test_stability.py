"""Whether cosine neighbours can be trusted: ours, and those of another library's models."""

from __future__ import annotations

import json

import numpy as np
import pytest
from threadpoolctl import threadpool_limits
from typer.testing import CliRunner

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.cli import app


@pytest.fixture(scope="module")
def data():
    return osp.simulate(2_000, 200, 5, most_items=40, seed=1)


def test_objective_1_is_an_accident_and_objective_2_is_determined(data):
    free = osp.stability(osp.factorize(data.interactions, 20, 1_000.0, objective=1))
    unique = osp.stability(osp.factorize(data.interactions, 20, 10.0, objective=2))
    assert not free.determined
    assert "accident" in free.verdict
    assert free.worst.overlap < 0.5
    assert unique.determined
    assert unique.worst.overlap > 0.99
    assert all(change.score_change < 1e-10 for change in (*free.changes, *unique.changes))
    assert {"no change", "D = shrinkage^(1/2)", "D = shrinkage^(-1/2)"} <= {change.name for change in free.changes}
    assert free.changes[0].overlap == 1


def test_overlaps_are_those_of_plain_sorting(data):
    factors = osp.factorize(data.interactions, 20, 1_000.0, objective=1)
    trust = osp.stability(factors, draws=1)

    def neighbours(items):
        units = items / np.linalg.norm(items, axis=1, keepdims=True)
        cosines = units @ units.T
        np.fill_diagonal(cosines, -2)
        return np.argsort(-cosines, axis=1)[:, :10]

    root = np.sqrt(factors.shrinkage)
    before, after = neighbours(factors.items), neighbours(factors.items / root)
    expected = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(before, after, strict=True)])
    (change,) = [change for change in trust.changes if change.name == "D = shrinkage^(1/2)"]
    assert change.overlap == pytest.approx(expected, abs=2e-3)


def test_the_original_space_is_a_remedy(data):
    """Under every rescaling the neighbours in the original space stay."""
    factors = osp.factorize(data.interactions, 20, 1_000.0, objective=1)
    rescaled = factors.rescale(10 ** np.random.default_rng(0).uniform(-1, 1, 20))
    a, b = (each.in_original_space(data.interactions).astype(np.float32) for each in (factors, rescaled))
    lists = [osp.search(rows, rows, [osp.Scorer()], 11)[0].documents for rows in (a, b)]
    same = np.mean([len(set(x) & set(y)) / 11 for x, y in zip(*lists, strict=True)])
    assert same > 0.99


def test_the_least_trusted_items_are_those_whose_neighbours_change_most(data):
    trust = osp.stability(osp.factorize(data.interactions, 20, 1_000.0, objective=1))
    random = [change.overlap for change in trust.changes if change.drawn]
    assert trust.overlaps.mean() == pytest.approx(np.mean(random))
    shares = [share for _, share in trust.least_trusted]
    assert shares == sorted(trust.overlaps.tolist())[:10]
    assert shares[0] < np.mean(random)


def test_items_that_are_exactly_as_near_are_no_accident(data):
    """Parallel items, and items of one direction: their order among equals is rounding, not a change."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((10, 6))
    parallel = np.concatenate([directions * length for length in rng.uniform(0.1, 9, 40)])
    assert osp.stability(parallel, freedom="rotation").determined
    assert osp.stability(rng.standard_normal((300, 1)), freedom="diagonal").determined
    with_empty = np.concatenate([rng.standard_normal((200, 5)), np.zeros((30, 5))])
    assert osp.stability(with_empty, freedom="rotation").determined
    x = data.interactions.toarray()
    x[:, :40] = 0
    x[np.arange(40), np.arange(40)] = rng.integers(1, 8, 40)  # items that one user each has
    assert osp.stability(osp.factorize(x, 20, 0.5)).determined


def test_our_own_factors_know_what_they_are(data):
    free = osp.factorize(data.interactions, 8, 0.0, objective=2)
    assert not osp.stability(free).determined  # nothing was penalised
    free.rescale(np.full(8, 2.0))
    objective_1, objective_2 = (osp.factorize(data.interactions, 8, 10.0, objective=objective) for objective in (1, 2))
    for factors, freedom in ((objective_1, "rotation"), (objective_2, "diagonal"), (objective_2, "invertible")):
        with pytest.raises(OffsphereError, match="leaves the freedom"):
            osp.stability(factors, freedom=freedom)
    with pytest.raises(OffsphereError, match="know their objective"):
        osp.stability(objective_1, regularized="factors")


def test_the_named_rescalings_are_counted_from_the_fit(data):
    factors = osp.factorize(data.interactions, 20, 1_000.0, objective=1)
    root = np.sqrt(factors.shrinkage)
    names = [change.name for change in osp.stability(factors.rescale(root), draws=1).changes]
    assert names[:3] == ["no change", "D = 1", "D = shrinkage^(-1/2)"]


def test_factors_of_alternating_least_squares(data):
    """implicit penalises each factor, so a rotation is all that is left; told that nothing was, anything goes."""
    implicit = pytest.importorskip("implicit")
    from scipy.sparse import csr_matrix

    with threadpool_limits(1, "blas"):  # as it asks for
        model = implicit.als.AlternatingLeastSquares(factors=16, iterations=5, random_state=0, num_threads=1)
        model.fit(csr_matrix(data.interactions), show_progress=False)
    items, users = np.asarray(model.item_factors), np.asarray(model.user_factors)
    assert osp.stability(items, users, regularized="factors").determined
    for options in ({"regularized": "nothing"}, {"freedom": "diagonal"}, {"freedom": "invertible"}):
        trust = osp.stability(items, users, **options)
        assert not trust.determined
        assert all(change.score_change < 1e-8 for change in trust.changes)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.ones((20, 3)),), {}, "say what the training regularised"),
        ((np.ones((20, 3)),), {"regularized": "both"}, "unknown regularisation"),
        ((np.ones((20, 3)),), {"freedom": "scaling"}, "unknown freedom"),
        ((np.ones((20, 3)),), {"freedom": "diagonal", "regularized": "nothing"}, "not both"),
        ((np.ones((20, 3)), np.ones((5, 4))), {"freedom": "diagonal"}, "must be equal"),
        ((np.ones((5, 3)),), {"freedom": "diagonal"}, "ask for fewer"),
        ((np.full((20, 3), np.nan),), {"freedom": "diagonal"}, "item 0 are not finite"),
        ((np.ones(20),), {"freedom": "diagonal"}, "expected"),
        ((np.ones((20, 3)), np.full((5, 3), np.nan)), {"freedom": "diagonal"}, "user 0 are not finite"),
        ((np.ones((20, 3)),), {"freedom": "diagonal", "draws": 0}, "takes a draw"),
        ((np.ones((20, 3)),), {"freedom": "diagonal", "spread": 1.0}, "takes a draw"),
        (([["a", "b"]],), {"freedom": "diagonal"}, "must be numbers"),
    ],
)
def test_bad_input_is_said(arguments, options, message):
    with pytest.raises(OffsphereError, match=message):
        osp.stability(*arguments, **options)


def test_the_commands(data, tmp_path):
    from scipy.sparse import csr_matrix, save_npz

    save_npz(tmp_path / "x.npz", csr_matrix(data.interactions))

    def run(*arguments):
        result = CliRunner().invoke(app, ["factorize", *map(str, arguments)])
        assert result.exit_code == 0, result.exception
        return result.stdout

    text = run("fit", tmp_path / "x.npz", "--rank", 16, "--lambda", 5, "--out", tmp_path / "f")
    assert "Cosine is determined" in text
    assert "Length helps" in text
    content = json.loads(run("fit", tmp_path / "x.npz", "--rank", 16, "--objective", 1, "--lambda", 500, "--json"))
    assert not content["stability"]["determined"]
    assert "accident" in run("stability", tmp_path / "f" / "items.npy", "--regularized", "nothing")
    assert "determined" in run("stability", tmp_path / "f")
    text = run("demo", "--users", 500, "--items", 120, "--out", tmp_path / "page.html")
    assert text.count("AUC") == 6
    assert (tmp_path / "page.html").read_text().count("data:image/png") == 6
