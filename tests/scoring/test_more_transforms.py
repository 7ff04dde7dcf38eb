"""Layer normalisation, mean projection and tempering: against torch, against laws, saved, and served."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.engines.models.folding import folded
from offsphere.ranking.search import search
from tests.scoring.samples import vectors

DOCUMENTS, QUERIES = vectors(1, 300), vectors(2, 20)
MOMENTS = osp.Moments.of(DOCUMENTS)


def test_layer_norm_is_torchs():
    torch = pytest.importorskip("torch")
    expected = torch.nn.functional.layer_norm(torch.tensor(DOCUMENTS, dtype=torch.float64), (8,), eps=0)
    assert np.allclose(osp.LayerNorm().apply(DOCUMENTS), expected.numpy(), atol=1e-6)


@pytest.mark.parametrize("number", [0.0, 0.1, 1e30, -3.3])
def test_a_vector_of_equal_numbers_becomes_zero(number):
    rows = np.full((2, 7), number, np.float32)
    assert not osp.LayerNorm().apply(rows).any()


def test_mean_projection_leaves_nothing_along_the_mean_and_everything_else():
    mapped = osp.ProjectMean().fit(MOMENTS).apply(DOCUMENTS)
    mean = DOCUMENTS.mean(axis=0, dtype=np.float64)
    assert np.abs(mapped @ mean).max() < 1e-5
    away = DOCUMENTS - np.outer(DOCUMENTS @ mean, mean) / (mean @ mean)
    assert np.allclose(mapped, away, atol=1e-5)
    again = osp.ProjectMean().fit(osp.Moments.of(np.vstack([DOCUMENTS, -DOCUMENTS])))
    assert np.allclose(again.apply(DOCUMENTS), DOCUMENTS, atol=1e-5)


def test_tempering_is_whitening_at_a_strength_that_the_spectrum_gives():
    shares = np.linalg.eigvalsh(np.cov(DOCUMENTS.T.astype(float)))
    shares /= shares.sum()
    strength = np.exp(-(shares * np.log(shares)).sum()) / 8
    assert osp.Temper().strength(MOMENTS) == pytest.approx(strength)
    tempered = osp.Temper().fit(MOMENTS).apply(DOCUMENTS)
    assert np.allclose(tempered, osp.Whiten(strength).fit(MOMENTS).apply(DOCUMENTS), atol=1e-5)


def test_the_strength_is_one_where_directions_are_alike_and_small_where_one_has_all():
    even = np.vstack([np.eye(6), -np.eye(6)])
    assert osp.Temper().strength(osp.Moments.of(even)) == pytest.approx(1)
    assert osp.Temper().strength(osp.Moments.of(even * [1, 0, 0, 0, 0, 0])) == pytest.approx(1 / 6)
    assert osp.Temper().strength(osp.Moments.of(np.ones((4, 6)))) == 0


@pytest.mark.parametrize(
    "name", ["layer-norm + cosine", "layer-norm + euclidean", "project-mean + dot", "temper + cosine"]
)
def test_what_is_saved_served_and_folded_ranks_as_what_was_measured(tmp_path, name):
    scorer = osp.parse_scorer(name).fit(MOMENTS)
    scorer.save(tmp_path)
    loaded = osp.Scorer.load(tmp_path)
    assert loaded.key == scorer.key
    found = search(QUERIES, DOCUMENTS, [loaded], 10)[0]
    lowering = loaded.lower()
    inner = lowering.queries(QUERIES) @ lowering.documents(DOCUMENTS).T
    assert (np.argsort(-inner, axis=1, kind="stable")[:, :10] == found.documents).mean() > 0.99
    steps = folded(scorer, {"query": QUERIES, "document": DOCUMENTS})
    sides = [_done(steps[side], rows) for side, rows in (("query", QUERIES), ("document", DOCUMENTS))]
    folded_order = np.argsort(-(sides[0] @ sides[1].T), axis=1, kind="stable")[:, :10]
    assert (folded_order == found.documents).mean() > 0.99


def _done(steps, rows):
    from offsphere.engines.models.folding import Bend, Divide

    rows = rows.astype(np.float64)
    for step in steps:
        if isinstance(step, Divide):
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True) ** step.exponent
        elif isinstance(step, Bend):
            rows = rows * np.clip(rows + 3, 0, 6) / 6
        else:
            rows = (rows * step.matrix if step.matrix.ndim == 1 else rows @ step.matrix) + step.shift
    return rows


def test_nothing_is_fitted_behind_layer_norm():
    with pytest.raises(ParameterError, match="put layer-norm last"):
        osp.parse_scorer("layer-norm + whiten(0.5) + cosine").fit(MOMENTS)
    assert osp.parse_scorer("whiten(0.5) + layer-norm + cosine").fit(MOMENTS).transform(DOCUMENTS).shape == (300, 8)


def test_a_prior_of_the_length_is_not_folded_and_the_error_says_what_is():
    with pytest.raises(OffsphereError, match=r"no stage that takes a logarithm.*norm-mix"):
        folded(osp.parse_scorer("log-prior(0.1)"), {"query": QUERIES, "document": DOCUMENTS})
