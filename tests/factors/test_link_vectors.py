"""Vectors made of links: metrics of the same lists by implicit, spectra by numpy, and what names mean nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.factors.link_vectors import known_links, parse_link_model
from tests.cli.running import printed


@pytest.fixture(scope="module")
def shop():
    """Users who like one of three kinds of items, some items far more popular than others."""
    rng = np.random.default_rng(3)
    kinds, popularity = rng.integers(3, size=80), rng.lognormal(-2, 1, 80)
    tastes = rng.integers(3, size=300)
    chance = np.minimum(popularity * np.where(kinds[None, :] == tastes[:, None], 4, 0.3), 0.9)
    return osp.hold_out((rng.random((300, 80)) < chance).astype(float)).task


def evaluated_by_implicit(task, users, items, k):
    """NDCG at k of implicit's own lists, what a user has left out."""
    als = pytest.importorskip("implicit.als").AlternatingLeastSquares
    from implicit.evaluation import ranking_metrics_at_k

    model = als(factors=users.shape[1], use_gpu=False, num_threads=1)
    model.user_factors, model.item_factors = users.astype(np.float32), items.astype(np.float32)
    shape = (len(task.query_ids), len(task.document_ids))
    has, wanted = (
        sparse.csr_matrix((np.ones(len(part.queries)), (part.queries, part.documents)), shape=shape)
        for part in (task.excluded, task.judgments)
    )
    return ranking_metrics_at_k(model, has, wanted, K=k, show_progress=False, num_threads=1)


@pytest.mark.filterwarnings("ignore")
def test_recommendation_is_measured_as_implicit_measures_it(shop):
    vectors = osp.link_vectors(shop, "factorize(8)")
    table = osp.compare(shop, vectors, ["dot"], metric="ndcg@10")
    told = evaluated_by_implicit(shop, vectors.queries, vectors.documents, 10)
    assert table["dot"].value == pytest.approx(told["ndcg"], abs=1e-6)
    lengths = np.linalg.norm(vectors.documents, axis=1, keepdims=True)
    unit = np.divide(vectors.documents, lengths, out=np.zeros_like(vectors.documents), where=lengths > 0)
    told = evaluated_by_implicit(shop, vectors.queries, unit, 10)
    assert table["cosine"].value == pytest.approx(told["ndcg"], abs=1e-6)


def test_factorised_links_are_those_of_the_factors(shop):
    links = known_links(shop)
    factors = osp.factorize(links, 8, 2.0)
    vectors = osp.link_vectors(shop, "factorize(8, 2)")
    assert np.allclose(vectors.documents, factors.items, atol=1e-5)
    assert np.allclose(vectors.queries, factors.users(links[shop.asked]), atol=1e-5)


def test_spectral_vectors_of_users_and_items_are_singular_vectors_of_the_normalised_links(shop):
    links = known_links(shop).toarray()
    out, into = links.sum(axis=1, keepdims=True), links.sum(axis=0, keepdims=True)
    normalised = links / np.sqrt(out + out.mean()) / np.sqrt(into + into.mean())  # Qin & Rohe 2013
    left, values, right = np.linalg.svd(normalised, full_matrices=False)
    best = (left[:, :6] * values[:6]) @ right[:6]
    vectors = osp.link_vectors(shop, "spectral(6)")
    assert np.allclose(vectors.queries @ vectors.documents.T, best[shop.asked], atol=1e-5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("factorise(3)", "unknown model of links 'factorise"),
        ("factorize(x)", r"factorize\(x\): write numbers, such as factorize\(64, 1.0\)"),
        ("factorize(0)", r"factorize\(0\): write factorize\(64, 1\) or the like"),
        ("factorize(2.5)", r"factorize\(2.5\): write"),
        ("factorize(1, 2, 3)", "or the like"),
        ("propagate(-1)", "or the like"),
        ("features(2)", "or the like"),
        ("propagate(2)", "has users and items, no nodes with features"),
        ("factorize(900)", "k = 900: a 300 x 80 matrix has at most rank 80"),
    ],
)
def test_what_makes_no_vectors_is_said(shop, name, message):
    with pytest.raises(OffsphereError, match=message):
        osp.link_vectors(shop, name)


def test_usual_numbers_stand_where_none_are_given():
    assert parse_link_model("factorize").numbers == (64, 1.0)
    assert parse_link_model("factorize(8)").numbers == (8, 1.0)
    assert parse_link_model("features").numbers == ()


def test_a_task_without_links_is_refused():
    task = osp.RankingTask.from_judgments({"q": {"d": 1}}, ["d"])
    with pytest.raises(DataError, match="task has no links of which factorize could make vectors"):
        osp.link_vectors(task)


def test_one_name_reaches_vectors_of_links_from_files(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"u{user}\ti{item}\n" for user in range(40) for item in rng.permutation(30)[:8]]
    (tmp_path / "interactions.tsv").write_text("user\titem\n" + "".join(rows))
    task, vectors = osp.load_embedded(f"{tmp_path}?seed=2", model="factorize(5)")
    assert (vectors.dimension, task.units) == (5, 40)
    source = osp.task_source(f"{tmp_path}?seed=2", "factorize(5)")
    assert source.made_by(task) == {"model": "factorize(5)"}


def test_thresholds_are_chosen_on_vectors_of_links(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"u{user}\ti{item}\n" for user in range(40) for item in rng.permutation(30)[:8]]
    (tmp_path / "interactions.tsv").write_text("user\titem\n" + "".join(rows))
    wishes = ["--model", "factorize(5)", "--recall", "0.5", "--scorer", "cosine", "--also", f"{tmp_path}?seed=2"]
    values = json.loads(printed("threshold", tmp_path, *wishes, "--json"))
    assert [row["scorer"] for row in values["scorers"]] == ["cosine"]
