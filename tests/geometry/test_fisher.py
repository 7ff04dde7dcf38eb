from __future__ import annotations

import numpy as np
import pytest
import torch

from offsphere.data import PairTask, PairVectors
from offsphere.geometry.fisher import NORMALIZATIONS, fisher, fisher_information
from offsphere.geometry.positives import positives_of

RNG = np.random.default_rng(0)
QUERIES, DOCUMENTS = RNG.normal(size=(4, 3)) * 2, RNG.normal(size=(6, 3))


def log_softmax(queries, documents, normalized, scale):
    q = torch.nn.functional.normalize(queries) if normalized[0] else queries
    d = torch.nn.functional.normalize(documents) if normalized[1] else documents
    return torch.log_softmax(scale * q @ d.T, dim=1)


@pytest.mark.parametrize("normalize", NORMALIZATIONS)
def test_it_is_the_expected_outer_product_of_the_gradients(normalize):
    """Exactly: autograd's gradient for every query and every outcome, weighted by the outcome's probability."""
    normalized = NORMALIZATIONS[normalize]
    on_queries, on_documents = fisher_information(QUERIES, DOCUMENTS, normalized, 1.7)
    expected_q, expected_d = np.zeros((3, 3)), np.zeros((3, 3))
    for i in range(len(QUERIES)):
        for j in range(len(DOCUMENTS)):
            queries = torch.tensor(QUERIES[i : i + 1], requires_grad=True)
            documents = torch.tensor(DOCUMENTS, requires_grad=True)
            outcome = log_softmax(queries, documents, normalized, 1.7)[0, j]
            outcome.backward()
            chance = float(outcome.detach().exp())
            expected_q += chance * np.outer(queries.grad[0], queries.grad[0]) / len(QUERIES)
            expected_d += chance * (documents.grad.T @ documents.grad).numpy()
    assert np.allclose(on_queries, expected_q, atol=1e-10)
    assert np.allclose(on_documents, expected_d, atol=1e-10)


def test_without_normalisation_it_is_the_formula_of_the_sources():
    _, on_documents = fisher_information(QUERIES, DOCUMENTS, (False, False), 1.0)
    p = torch.softmax(torch.tensor(QUERIES @ DOCUMENTS.T), dim=1).numpy()
    assert np.allclose(on_documents, QUERIES.T @ np.diag(1 - (p**2).sum(axis=1)) @ QUERIES)


def test_one_normalised_query_learns_nothing_along_itself():
    on_queries, _ = fisher_information(QUERIES[:1], DOCUMENTS, (True, True), 5.0)
    assert np.allclose(on_queries @ QUERIES[0], 0, atol=1e-12)


def test_spectra_tell_every_side_and_normalisation():
    rng = np.random.default_rng(1)
    left = rng.normal(size=(300, 8)).astype(np.float32)
    right = left + rng.normal(0, 0.4, left.shape).astype(np.float32)
    task = PairTask("pairs", np.concatenate([np.ones(299), [0]]))
    vectors = PairVectors.of(task, left, right)
    result = fisher(left, right, positives_of(task, vectors), ("left", "right"), batch=64)
    assert [(row.side, row.normalize) for row in result.spectra][:3] == [
        ("left", "both"),
        ("right", "both"),
        ("left", "none"),
    ]
    assert {row.normalize for row in result.spectra} == {"both", "none", "left", "right"}
    assert all(row.condition_ridge >= 1 and row.rank <= 8 for row in result.spectra)
    assert "our construction" in result.sentence


def test_scale_and_condition_are_those_that_the_guide_tells():
    rng = np.random.default_rng(2)
    left, right = (3 * rng.normal(size=(300, 6))).astype(np.float32), rng.normal(size=(300, 6)).astype(np.float32)
    task = PairTask("pairs", np.concatenate([np.ones(299), [0]]))
    result = fisher(left, right, positives_of(task, PairVectors.of(task, left, right)), ("left", "right"), batch=64)
    by_name = {(row.side, row.normalize): row for row in result.spectra}
    means = np.linalg.norm(left[:299], axis=1).mean(), np.linalg.norm(right[:299], axis=1).mean()
    assert np.isclose(by_name["left", "both"].scale, 20)
    assert np.isclose(by_name["left", "none"].scale, 20 / (means[0] * means[1]), rtol=1e-5)
    assert np.isclose(by_name["left", "left"].scale, 20 / means[1], rtol=1e-5)
    for row in result.spectra:
        ridge = row.spectrum.mean() / 1_000
        assert np.isclose(row.condition_ridge, (row.spectrum[0] + ridge) / (row.spectrum[-1] + ridge))
        assert np.isclose(row.condition, row.spectrum[0] / row.spectrum[row.rank - 1])
