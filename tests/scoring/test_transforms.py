from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import ParameterError, VectorError
from offsphere.scoring.transforms import Center, DropTop, Linear, Standardize, Whiten, fit_chain
from offsphere.vectors.moments import Moments

SEEDS = st.integers(0, 2**32 - 1)


def sample(seed, rows=200, dimension=6):
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((dimension, dimension))
    return (rng.standard_normal((rows, dimension)) @ mixing + rng.standard_normal(dimension) * 3).astype(np.float32)


@given(seed=SEEDS, cuts=st.lists(st.integers(0, 200), max_size=4))
def test_fitting_in_chunks_is_fitting_at_once(seed, cuts):
    vectors = sample(seed)
    whole = Moments.of(vectors)
    parts = Moments.over(np.split(vectors, sorted(cuts)))
    assert parts.count == whole.count
    assert np.allclose(parts.mean, whole.mean, rtol=1e-12)
    assert np.allclose(parts.scatter, whole.scatter, rtol=1e-10, atol=1e-10 * np.abs(whole.scatter).max())
    assert np.allclose(whole.covariance, np.cov(vectors.astype(np.float64), rowvar=False, bias=True))


@given(seed=SEEDS)
def test_merging_is_associative(seed):
    a, b, c = (Moments.of(sample(seed + i, rows=30 + i)) for i in range(3))
    left, right = a.merge(b).merge(c), a.merge(b.merge(c))
    assert np.allclose(left.scatter, right.scatter, rtol=1e-10)


@given(seed=SEEDS)
def test_whiten_0_is_center(seed):
    vectors = sample(seed)
    moments = Moments.of(vectors)
    centred = Center().fit(moments).apply(vectors)
    assert np.allclose(centred, vectors - vectors.astype(np.float64).mean(axis=0), atol=1e-5)
    assert np.allclose(Whiten(0).fit(moments).apply(vectors), centred, atol=1e-4)


@given(seed=SEEDS)
def test_whiten_1_makes_the_covariance_the_identity(seed):
    vectors = sample(seed)
    whitened = Whiten(1, epsilon=0).fit(Moments.of(vectors)).apply(vectors).astype(np.float64)
    assert np.allclose(np.cov(whitened, rowvar=False, bias=True), np.eye(6), atol=1e-2)


@pytest.mark.parametrize("strength", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_softened_whitening_is_its_formula(strength, epsilon):
    """``U (L + eps)^(-beta/2)`` of numpy's eigenvectors; turned back by ``U^T``, which changes no inner product."""
    vectors = sample(3, rows=400)
    variances, directions = np.linalg.eigh(np.cov(vectors.astype(np.float64), rowvar=False, bias=True))
    spread = variances + epsilon * variances.mean()  # epsilon is a share of the mean variance
    expected = (vectors - vectors.astype(np.float64).mean(axis=0)) @ directions * spread ** (-strength / 2)
    ours = Whiten(strength, epsilon=epsilon).fit(Moments.of(vectors)).apply(vectors)
    assert np.allclose(ours @ ours.T, expected @ expected.T, atol=1e-4 * np.abs(expected @ expected.T).max())


def test_components_keep_inner_products_of_the_leading_directions():
    vectors = sample(1, rows=500)
    moments = Moments.of(vectors)
    few = Whiten(1, components=2, epsilon=0).fit(moments).apply(vectors)
    variances, directions = np.linalg.eigh(np.cov(vectors.astype(np.float64), rowvar=False, bias=True))
    expected = (vectors - moments.mean) @ directions[:, ::-1][:, :2] / np.sqrt(variances[::-1][:2])
    assert few.shape == (500, 2)
    assert np.allclose(few @ few.T, expected @ expected.T, atol=1e-3)


@given(seed=SEEDS, k=st.integers(0, 5))
def test_drop_top_leaves_the_rest_untouched(seed, k):
    vectors = sample(seed)
    dropped = DropTop(k).fit(Moments.of(vectors)).apply(vectors).astype(np.float64)
    kept = np.linalg.eigvalsh(np.cov(vectors.astype(np.float64), rowvar=False, bias=True))[: 6 - k]
    variances = np.linalg.eigvalsh(np.cov(dropped, rowvar=False, bias=True))[k:]
    assert np.allclose(variances, kept, rtol=1e-3, atol=1e-4 * max(kept.max(), 1))


@given(seed=SEEDS)
def test_standardize_is_scikit_learns(seed):
    from sklearn.preprocessing import StandardScaler

    vectors = sample(seed)
    vectors[:, 2] = 1.5  # a constant dimension
    expected = StandardScaler().fit_transform(vectors.astype(np.float64))
    assert np.allclose(Standardize().fit(Moments.of(vectors)).apply(vectors), expected, atol=1e-4)


@given(seed=SEEDS)
def test_a_chain_is_one_after_the_other(seed):
    vectors = sample(seed)
    chain = (Standardize(), Whiten(0.5), DropTop(1), Linear(np.random.default_rng(seed).standard_normal((6, 3))))
    at_once = fit_chain(chain, Moments.of(vectors))
    step = vectors.astype(np.float64)
    for transform in chain:
        fitted = transform.fit(Moments.of(step))
        step = (step * fitted.matrix if fitted.matrix.ndim == 1 else step @ fitted.matrix) + fitted.shift
    assert at_once is not None
    assert np.allclose(at_once.apply(vectors), step, rtol=1e-3, atol=1e-3 * np.abs(step).max())


def test_soft_cosine_is_its_formula():
    rng = np.random.default_rng(0)
    root = rng.standard_normal((5, 5))
    matrix = root @ root.T + np.eye(5)
    u, v = rng.standard_normal((2, 5))
    mapped = Linear.soft_cosine(matrix).fit(Moments.of(np.stack([u, v]))).apply(np.stack([u, v])).astype(np.float64)
    expected = u @ matrix @ v / np.sqrt((u @ matrix @ u) * (v @ matrix @ v))
    assert np.isclose(mapped[0] @ mapped[1] / np.linalg.norm(mapped[0]) / np.linalg.norm(mapped[1]), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Whiten(1.5), r"strength = 1.5 is not in \[0, 1\]"),
        (lambda: Whiten(1, components=0), "components = 0"),
        (lambda: Whiten(1, components=9).fit(Moments.of(sample(0))), "more than the vectors' 6 dimensions"),
        (lambda: DropTop(6).fit(Moments.of(sample(0))), "leaves nothing of 6 dimensions"),
        (lambda: Linear.soft_cosine(-np.eye(2)), "smallest eigenvalue is -1"),
        (lambda: Linear.soft_cosine(np.ones((2, 3))), "square symmetric"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_a_map_refuses_vectors_of_another_dimension():
    fitted = Center().fit(Moments.of(sample(0)))
    with pytest.raises(VectorError, match="vectors have 3 dimensions, the transform was fitted on 6"):
        fitted.apply(np.ones((2, 3), np.float32))
