"""Closed forms against their own conditions, gradient descent, and the identities of Steck et al. 2024."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from scipy import sparse

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.factors.closed_form import similarities
from offsphere.factors.factor_files import read_interactions, read_numbers
from offsphere.scoring.similarity import COSINE, DOT


def interactions(users=60, items=12, density=0.4, seed=0):
    rng = np.random.default_rng(seed)
    matrix = (rng.random((users, items)) < density) * rng.integers(1, 5, (users, items))
    matrix[0], matrix[:, 0] = 1, 1  # nobody and nothing is empty
    return matrix.astype(float)


def loss(x, a, b, lam, objective):
    fit = ((x - x @ a @ b.T) ** 2).sum()
    if objective == 1:
        return fit + lam * ((a @ b.T) ** 2).sum()
    return fit + lam * (((x @ a) ** 2).sum() + (b**2).sum())


@pytest.mark.parametrize("objective", [1, 2])
@pytest.mark.parametrize("k", [3, 12])
def test_the_gradient_is_zero_and_every_step_away_is_worse(objective, k):
    x = interactions()
    factors = osp.factorize(x, k, 2.0, objective=objective)
    a, b = (torch.tensor(part, requires_grad=True) for part in (factors.users_from, factors.items))
    value = loss(torch.tensor(x), a, b, 2.0, objective)
    value.backward()
    scale = float(value.detach())
    assert float(a.grad.abs().max()) < 1e-9 * scale
    assert float(b.grad.abs().max()) < 1e-9 * scale
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = [part + size * rng.standard_normal(part.shape) for part in (factors.users_from, factors.items)]
            assert loss(x, *moved, 2.0, objective) > scale


@pytest.mark.parametrize("objective", [1, 2])
def test_gradient_descent_ends_at_the_same_model(objective):
    x = torch.tensor(interactions(users=30, items=8))
    factors = osp.factorize(x.numpy(), 3, 3.0, objective=objective)
    generator = torch.Generator().manual_seed(0)
    a, b = (torch.randn(8, 3, generator=generator, dtype=torch.float64).mul(0.1).requires_grad_() for _ in range(2))
    optimizer = torch.optim.LBFGS([a, b], max_iter=5_000, tolerance_grad=1e-12, tolerance_change=1e-16, history_size=50)

    def closure():
        optimizer.zero_grad()
        value = loss(x, a, b, 3.0, objective)
        value.backward()
        return value

    for _ in range(20):
        optimizer.step(closure)
    assert np.allclose((a @ b.T).detach().numpy(), factors.users_from @ factors.items.T, atol=1e-5)
    if objective == 2:  # unique up to a rotation: the cosines are the same
        theirs = similarities(b.detach().numpy(), b.detach().numpy(), COSINE)
        assert np.allclose(theirs, factors.item_similarities(), atol=1e-5)


def test_at_full_rank_one_rescaling_makes_all_items_unlike():
    x = interactions(items=10)
    factors = osp.factorize(x, 10, 5.0, objective=1)
    root = np.sqrt(factors.shrinkage)
    assert np.allclose(factors.rescale(root).item_similarities(), np.eye(10), atol=1e-8)


def test_at_full_rank_the_other_rescaling_gives_users_the_cosines_of_the_raw_data():
    x = interactions(items=10)
    factors = osp.factorize(x, 10, 5.0, objective=1)
    users = factors.rescale(1 / np.sqrt(factors.shrinkage)).user_similarities(x)
    assert np.allclose(users, similarities(x, x, COSINE), atol=1e-8)


def test_rescaling_leaves_the_model_and_moves_the_neighbours():
    x = osp.simulate(400, 60, 4, most_items=20, seed=3).interactions
    factors = osp.factorize(x, 12, 50.0, objective=1)
    rescaled = factors.rescale(10 ** np.random.default_rng(0).uniform(-1, 1, 12))
    before, after = factors.scores(x), rescaled.scores(x)
    assert np.abs(before - after).max() < 1e-10 * np.abs(before).max()
    assert np.abs(factors.item_similarities() - rescaled.item_similarities()).max() > 0.3
    assert np.allclose(factors.user_item_similarities(x, DOT), rescaled.user_item_similarities(x, DOT))


def test_the_original_space_does_not_depend_on_the_rescaling_and_is_what_it_says():
    x = interactions()
    factors = osp.factorize(x, 5, 4.0, objective=1)
    columns = factors.scores(x).T  # items x users
    expected = similarities(columns, columns, COSINE)
    wild = 10 ** np.random.default_rng(0).uniform(-8, 8, 5)
    for each in (factors, factors.rescale(np.array([0.1, 5.0, 1.0, 30.0, 0.5])), factors.rescale(wild)):
        items = each.in_original_space(x)
        assert items.shape == (12, 5)
        assert np.allclose(similarities(items, items, COSINE), expected, atol=1e-8)
        assert np.allclose(osp.original_space(each.items, each.users(x)), items)
        users = each.users_in_original_space(x)
        rows = factors.scores(x)
        assert np.allclose(similarities(users, users, COSINE), similarities(rows, rows, COSINE), atol=1e-8)


def test_new_users_are_folded_in():
    x = interactions()
    factors = osp.factorize(x, 4, 1.0)
    assert np.allclose(factors.users(x[:3]), x[:3] @ factors.users_from)


@pytest.mark.parametrize("weighting", ["none", "standardize", "popularity"])
def test_weightings_are_those_of_a_dense_matrix(weighting):
    x = interactions()
    dense = {
        "none": x,
        "standardize": (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), np.inf),
        "popularity": x * (share := x.mean(axis=0) ** -0.5) / share.mean(),
    }[weighting]
    factors = osp.factorize(sparse.csr_array(x), 4, 2.0, weighting=weighting)
    _, values, right = np.linalg.svd(dense, full_matrices=False)
    assert np.allclose(factors.singular_values, values[:4])
    overlap = np.abs(np.diag(right[:4] @ (factors.items / np.linalg.norm(factors.items, axis=0))))
    assert np.allclose(overlap, 1)
    assert np.allclose(factors.users(x), dense @ factors.users_from)


def test_sparse_is_never_made_dense(monkeypatch):
    x = osp.simulate(3_000, 200, seed=0).interactions
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        monkeypatch.setattr(kind, "toarray", lambda *_, **__: pytest.fail("made dense"))
        monkeypatch.setattr(kind, "todense", lambda *_, **__: pytest.fail("made dense"))
    for weighting in ("none", "standardize", "popularity"):
        factors = osp.factorize(x, 8, 1.0, weighting=weighting)
        factors.users(x[:10])


@pytest.mark.parametrize("shape", [(60, 12), (12, 60), (12, 12), (3_000, 20)])
@pytest.mark.parametrize("weighting", ["none", "standardize"])
def test_all_singular_values_are_those_of_the_dense_matrix(shape, weighting):
    x = interactions(*shape)
    k = min(shape) - (weighting == "standardize")
    values = osp.factorize(x, k, 0.1, weighting=weighting).singular_values
    if weighting == "standardize":
        x = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), np.inf)
    assert np.allclose(values, np.linalg.svd(x, compute_uv=False)[:k], rtol=1e-10)


def test_the_same_matrix_gives_the_same_factors_whatever_the_seed():
    x = osp.simulate(500, 60, most_items=30, seed=0).interactions
    first, second = (osp.factorize(x, 6, 1.0, seed=seed).items for seed in (0, 7))
    assert np.allclose(first, second, atol=1e-8)


def test_empty_users_and_items_are_zero_and_counted():
    x = interactions()
    x[4], x[:, 7] = 0, 0
    factors = osp.factorize(x, 4, 1.0)
    assert (factors.empty_users, factors.empty_items) == (1, 1)
    assert not factors.items[7].any()
    assert not factors.users(x)[4].any()


def test_factors_come_back_from_disk(tmp_path):
    factors = osp.factorize(interactions(), 4, 1.0, weighting="standardize")
    factors.save(tmp_path)
    again = osp.Factors.load(tmp_path)
    assert np.array_equal(again.items, factors.items)
    assert np.array_equal(again.users(interactions()), factors.users(interactions()))
    for change, message in (
        (lambda: (tmp_path / "factors.json").write_text('{"objective": "1"}'), "does not describe"),
        (lambda: (tmp_path / "factors.json").write_text("[" * 100_000), "nested too deep"),
        (lambda: np.save(tmp_path / "singular_values.npy", np.ones(3)), "is damaged, write both again"),
        (lambda: (tmp_path / "items.npy").write_bytes(b""), "is damaged, write both again"),
        ((tmp_path / "items.npy").unlink, "does not exist"),
        ((tmp_path / "factors.json").unlink, "is missing"),
    ):
        factors.save(tmp_path)
        change()
        with pytest.raises(OffsphereError, match=message):
            osp.Factors.load(tmp_path)


def test_factors_from_before_there_were_digests_are_read_and_checked(tmp_path):
    factors = osp.factorize(interactions(), 4, 1.0, weighting="standardize")

    def save(**other):
        factors.save(tmp_path)
        description = json.loads((tmp_path / "factors.json").read_text())
        old = {name: value for name, value in description.items() if name not in ("format", "files", "digest")}
        (tmp_path / "factors.json").write_text(json.dumps({**old, **other}))

    save()
    assert np.array_equal(osp.Factors.load(tmp_path).items, factors.items)
    for name, array, message in (
        ("singular_values", np.ones(3), "expected"),
        ("items", np.full((12, 4), np.nan), "row 0 is not finite"),
        ("items", np.array([["a"]]), "expected real numbers"),
        ("scale", np.ones((12, 1)), "1 axes"),
    ):
        save()
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(OffsphereError, match=message):
            osp.Factors.load(tmp_path)
    wrong = [("lambda", 10**400), ("lambda", "1"), ("objective", True), ("power", None), ("empty_users", 0.5)]
    for name, value in wrong:
        save(**{name: value})
        with pytest.raises(OffsphereError, match="does not describe factors"):
            osp.Factors.load(tmp_path)


def test_a_sparse_matrix_whose_indices_point_outside_is_refused(tmp_path):
    """Compiled code follows indices without asking."""
    matrix = sparse.csr_array(interactions())
    sparse.save_npz(tmp_path / "fine.npz", matrix)
    with np.load(tmp_path / "fine.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    wrong = [
        {"indices": arrays["indices"] + 10**6},
        {"indices": arrays["indices"] - 100},
        {"indptr": arrays["indptr"][::-1].copy()},
        {"indptr": arrays["indptr"][:-3]},
        {"data": arrays["data"][:-1]},
        {"data": arrays["data"].astype(str)},
        {"shape": np.array([2**62, 2**62])},
        {"shape": np.array([60, -12])},
        {"shape": np.array([60])},
        {"format": np.array(b"exe")},
    ]
    for change in wrong:
        np.savez(tmp_path / "wrong.npz", **{**arrays, **change})
        with pytest.raises(OffsphereError, match="save_npz writes it"):
            read_interactions(tmp_path / "wrong.npz")
    coo = {"row": np.array([0, 10**9]), "col": np.array([0, 1]), "data": np.ones(2), "shape": np.array([60, 12])}
    np.savez(tmp_path / "wrong.npz", format=np.array(b"coo"), **coo)
    with pytest.raises(OffsphereError, match="save_npz writes it"):
        read_interactions(tmp_path / "wrong.npz")


def test_the_given_matrix_is_left_as_it_was():
    matrix = sparse.csr_matrix(interactions())
    matrix.data[::3] = 0
    before = (matrix.data.copy(), matrix.indices.copy(), matrix.indptr.copy())
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False  # as from a memory map
    factors = osp.factorize(matrix, 3, 1.0)
    factors.users(matrix)
    osp.hold_out(matrix)
    assert all(np.array_equal(*pair) for pair in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True))


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array", "lil_array", "dense", "bool", "int", "list"])
def test_every_kind_of_matrix_is_taken(kind):
    x = (interactions() > 0).astype(float)
    forms = {
        "dense": x,
        "bool": x > 0,
        "int": x.astype(int),
        "list": x.tolist(),
    }
    given = forms[kind] if kind in forms else getattr(sparse, kind)(x)
    assert np.allclose(osp.factorize(given, 3, 1.0).items, osp.factorize(x, 3, 1.0).items)


@pytest.mark.parametrize("weighting", ["none", "standardize", "popularity"])
def test_a_user_who_has_nothing_is_zero_and_one_row_is_one_user(weighting):
    x = interactions()
    factors = osp.factorize(x, 4, 1.0, weighting=weighting)
    assert not factors.users(np.zeros((1, 12))).any()
    assert np.allclose(factors.users(x[3]), factors.users(x[[3]]))
    assert np.allclose(factors.users(sparse.csr_array(x)[[3]]), factors.users(x[[3]]))


def test_a_constant_item_has_nothing_to_standardise():
    x = interactions()
    x[:, 3] = 0.1
    assert not osp.factorize(x, 4, 1.0, weighting="standardize").items[3].any()


def test_files_that_are_not_what_they_claim_are_said(tmp_path):
    sparse.save_npz(tmp_path / "fine.npz", sparse.csr_matrix(interactions()))
    assert read_interactions(tmp_path / "fine.npz").shape == (60, 12)
    content = (tmp_path / "fine.npz").read_bytes()
    (tmp_path / "cut.npz").write_bytes(content[:200])
    (tmp_path / "text.npz").write_text("no matrix")
    (tmp_path / "zip.npy").write_bytes(content)
    np.savez(tmp_path / "plain.npz", a=np.ones(3))
    np.save(tmp_path / "complex.npy", np.ones((3, 3), complex))
    np.save(tmp_path / "flat.npy", np.ones(3))
    for name in ("cut.npz", "text.npz", "plain.npz"):
        with pytest.raises(OffsphereError, match=r"as scipy.sparse.save_npz writes it"):
            read_interactions(tmp_path / name)
    wrong = {"zip.npy": "not a .npy file", "complex.npy": "real numbers", "flat.npy": "2 axes", "none.npy": "exist"}
    for name, message in wrong.items():
        with pytest.raises(OffsphereError, match=message):
            read_numbers(tmp_path / name, 2)
    with pytest.raises(OffsphereError, match="complex"):
        osp.factorize(interactions() + 1j, 3)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda x: x.__setitem__((3, 2), -1), {}, "user 3 with item 2 is -1"),
        (lambda x: x.__setitem__((3, 2), np.nan), {}, "user 3 with item 2 is nan"),
        (lambda x: x.fill(0), {}, "no interactions"),
        (lambda x: None, {"k": 13}, "at most rank 12"),
        (lambda x: x.__setitem__(slice(None), 1.0), {"k": 3}, "rank of the interactions, 1"),
        (lambda x: x.__setitem__(slice(None), 1.0), {"k": 12}, "rank of the interactions, 1"),
        (lambda x: None, {"regularization": 1e6}, "largest useful lambda is"),
        (lambda x: None, {"regularization": -1.0}, "at least 0"),
        (lambda x: None, {"objective": 3}, "1 penalises the product"),
        (lambda x: None, {"weighting": "tfidf"}, "none, standardize or popularity"),
    ],
)
def test_bad_input_is_said(change, options, message):
    x = interactions()
    change(x)
    with pytest.raises(OffsphereError, match=message):
        osp.factorize(x, **{"k": 4, **options})


def test_the_largest_useful_lambda_is_useful():
    x = interactions()
    largest = np.linalg.svd(x, compute_uv=False)[0]
    assert osp.factorize(x, 4, 0.999 * largest).used == 1
    with pytest.raises(OffsphereError, match=f"{largest:.6g}"):
        osp.factorize(x, 4, 1.001 * largest)


def test_rescaling_is_refused_where_it_is_no_optimum():
    x = interactions()
    with pytest.raises(OffsphereError, match="up to a rotation"):
        osp.factorize(x, 4, 1.0).rescale(np.ones(4))
    with pytest.raises(OffsphereError, match="4 finite numbers"):
        osp.factorize(x, 4, 1.0, objective=1).rescale(np.zeros(4))
    with pytest.raises(OffsphereError, match="interactions with 3 items"):
        osp.factorize(x, 4, 1.0).users(np.ones((2, 3)))
