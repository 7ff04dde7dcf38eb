from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import entropy

from offsphere.geometry import document_terms
from offsphere.geometry.document_terms import curve_of_length, free_biases, free_weights, popularity
from offsphere.geometry.rival_lists import RivalLists, rival_lists
from offsphere.geometry.spread import spread_of
from tests.geometry.planted_documents import popular


def lists_of(wanted, documents, cosines=None):
    """Every query has every document as a rival, and wants one of them."""
    shape = (len(wanted), documents)
    entries = np.tile(np.arange(documents), (len(wanted), 1))
    cosines = np.zeros(shape) if cosines is None else cosines
    return RivalLists(entries, cosines, entries == np.asarray(wanted)[:, None], np.zeros(shape))


def test_without_directions_the_best_biases_are_logarithms_of_frequencies():
    """A law: of a softmax over the same documents for all, the likeliest biases give back how often each is wanted."""
    wanted = np.repeat([0, 1, 2], [60, 30, 10])
    terms = free_biases(lists_of(wanted, 3), 3, 1e-6)
    chances = np.exp(terms.biases * document_terms.START)  # the scale has nothing to learn from, and stays
    assert chances / chances.sum() == pytest.approx([0.6, 0.3, 0.1], abs=1e-3)


def test_a_ridge_shrinks_to_nothing():
    wanted = np.repeat([0, 1, 2], [60, 30, 10])
    assert np.abs(free_biases(lists_of(wanted, 3), 3, 1e9).biases).max() < 1e-6
    cosines = np.random.default_rng(0).uniform(0.1, 0.9, (100, 3))
    assert np.abs(free_weights(lists_of(wanted, 3, cosines), 3, 1e9).factors - 1).max() < 1e-6


def test_a_curve_finds_the_power_of_length_that_was_planted():
    """Scores are 30 cosine * length ** 0.5 and Gumbel noise, which is the model. What wins has cosines about 0.75."""
    rng = np.random.default_rng(0)
    lengths = np.exp(rng.normal(0, 0.4, 60))
    cosines = rng.uniform(0.2, 0.8, (3_000, 60))
    wanted = np.argmax(30 * cosines * lengths**0.5 + rng.gumbel(size=cosines.shape), axis=1)
    terms = curve_of_length(lists_of(wanted, 60, cosines), lengths)
    learned, planted = 0.75 * terms.factors + terms.biases, 0.75 * lengths**0.5
    assert np.corrcoef(learned, planted)[0, 1] > 0.99
    assert np.polyfit(planted, learned, 1)[0] == pytest.approx(1, abs=0.15)


def test_documents_that_were_wanted_are_never_held_to_be_wanted_less():
    lists = lists_of(np.arange(40), 80)  # each is wanted once: those that were, will not be again
    assert (popularity(lists, np.bincount(np.arange(40), minlength=80)).biases == 0).all()


def test_the_gradient_is_that_of_finite_differences(monkeypatch):
    rng = np.random.default_rng(0)
    cosines = rng.uniform(-0.2, 0.9, (12, 7))
    lists = lists_of(rng.integers(7, size=12), 7, cosines)
    entries = np.where(rng.random((12, 7)) < 0.2, -1, lists.documents)
    lists = RivalLists(entries, cosines, lists.wanted & (entries >= 0), rng.uniform(0, 2, (12, 7)))
    seen = []

    def check(loss, start, **_):
        at = rng.normal(0, 0.3, len(start))
        seen.append((loss(at)[1], approx_fprime(at, lambda x: loss(x)[0], 1e-6)))
        return type("Result", (), {"x": start})

    monkeypatch.setattr(document_terms, "minimize", check)
    document_terms._fit(lists, lists.documents, rng.normal(size=(7, 3)), np.ones(7), 0.3)
    ours, differences = seen[0]
    assert ours == pytest.approx(differences, abs=1e-4)


def test_a_list_stands_for_the_whole_corpus():
    from offsphere.geometry.evidence import Evidence
    from offsphere.geometry.sides import sides_of

    task, vectors = popular(documents=500)
    evidence = Evidence(sides=sides_of(vectors, task), embedded=(task, vectors))
    lists = rival_lists(evidence, np.arange(5))
    counted = np.where(lists.present, np.exp(lists.stands_for), 0).sum(axis=1)
    assert counted == pytest.approx(500, abs=1e-6)
    assert (lists.wanted.sum(axis=1) == 3).all()
    unit = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in vectors.sides]
    expected = np.take_along_axis(unit[0][:5] @ unit[1].T, np.maximum(lists.documents, 0), axis=1)
    assert lists.cosines[lists.present] == pytest.approx(expected[lists.present], abs=1e-5)


def test_entropy_is_that_of_scipy():
    counts = np.random.default_rng(0).poisson(2, 200)
    spread = spread_of(counts)
    assert spread.effective == pytest.approx(np.exp(entropy(counts)))
    assert spread.entropy == pytest.approx(entropy(counts, base=200))
    differences = np.abs(counts[:, None] - counts).mean()
    assert spread.gini == pytest.approx(differences / (2 * counts.mean()))
    assert abs(spread.gini - spread.gini_by_chance) < 0.03  # Poisson is what chance gives
