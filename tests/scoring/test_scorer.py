from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import DataError, OffsphereError
from offsphere.ranking.hub_bias import csls, nnn, with_nnn
from offsphere.ranking.search import search
from offsphere.scoring.lowering import NotLowerableError
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.standardize_queries import standardize_queries
from offsphere.scoring.transforms import Linear
from offsphere.vectors.moments import Moments
from tests.oracles import FORMULAS, values

LOWERED = [name for name in FORMULAS if parse_scorer(name).similarity.lowers]


def vectors(seed, rows, dimension=8):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, dimension)) * rng.lognormal(0, 0.5, (rows, 1)) + 0.2).astype(np.float32)


def orders_alike(one, other, tolerance=1e-5):
    """No pair that one puts clearly in order is clearly in the other order elsewhere."""
    one, other = one / np.abs(one).max(), other / np.abs(other).max()
    first, second = one[:, :, None] - one[:, None, :], other[:, :, None] - other[:, None, :]
    return not ((first > tolerance) & (second < -tolerance)).any()


@pytest.mark.parametrize(
    "name", [*LOWERED, "whiten(0.5) + cosine", "center + norm-mix(0.7)", "drop-top(1) + euclidean"]
)
@given(seed=st.integers(0, 10_000))
def test_lowering_ranks_as_the_scorer(name, seed):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 60)
    scorer = parse_scorer(name).fit(Moments.of(documents))
    lowering = scorer.lower()
    inner = lowering.queries(queries).astype(np.float64) @ lowering.documents(documents).astype(np.float64).T
    full = values(name.split("+")[-1].strip(), scorer.transform(queries), scorer.transform(documents)) \
        if name.split("+")[-1].strip() in FORMULAS else None  # fmt: skip
    found = search(queries, documents, [scorer], 60)[0]
    exact = np.empty_like(inner)
    np.put_along_axis(exact, found.documents, found.scores, axis=1)
    if full is not None:
        assert np.allclose(exact, full, rtol=1e-6, atol=1e-6)
    assert orders_alike(exact, inner)


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["cosine", "half", "radial-confidence(2)"]))
def test_lowering_of_a_linear_similarity_keeps_its_value(seed, name):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 60)
    scorer = with_nnn(parse_scorer(name), np.random.default_rng(seed).normal(size=60), 0.5)
    lowering = scorer.lower()
    inner = lowering.queries(queries) @ lowering.documents(documents).T
    found = search(queries, documents, [scorer], 60)[0]
    assert np.allclose(np.take_along_axis(inner, found.documents, 1), found.scores, atol=1e-4)
    assert inner.shape == (5, 60)
    assert lowering.documents(documents).shape[1] == 9  # one coordinate more, for the bias


@pytest.mark.parametrize("name", ["overlap", "tanh", "norm-gap(1)"])
def test_what_is_no_inner_product_says_so(name):
    with pytest.raises(NotLowerableError, match="is no inner product of one vector a side"):
        parse_scorer(name).lower()


def test_documents_without_length_are_pointed_out():
    documents = vectors(0, 4)
    documents[2] = 0
    assert parse_scorer("cosine").lower().has_place(documents).tolist() == [True, True, False, True]
    assert parse_scorer("dot").lower().has_place(documents).all()


@given(seed=st.integers(0, 10_000), name=st.sampled_from(["cosine", "dot", "norm-mix(0.7)", "whiten(0.5) + cosine"]))
def test_standardised_scores_have_mean_0_and_deviation_1_over_the_corpus(seed, name):
    queries, documents = vectors(seed, 5), vectors(seed + 1, 90)
    plain = parse_scorer(name).fit(Moments.of(documents))
    scorer = standardize_queries(plain, documents)
    found, before = search(queries, documents, [scorer, plain], 90)
    assert (found.documents == before.documents).all()
    assert np.allclose(found.scores.mean(axis=1), 0, atol=1e-4)
    assert np.allclose(found.scores.std(axis=1), 1, atol=1e-4)
    lowering = scorer.lower()
    inner = lowering.queries(queries) @ lowering.documents(documents).T
    assert np.allclose(np.take_along_axis(inner, found.documents, 1), found.scores, atol=1e-3)


@given(seed=st.integers(0, 10_000), k=st.integers(1, 40))
def test_nnn_and_csls_are_their_formulas(seed, k):
    queries, documents, bank = vectors(seed, 5), vectors(seed + 1, 60), vectors(seed + 2, 30)
    toward = np.sort(values("cosine", bank, documents), axis=0)[::-1]  # best bank queries first
    near = toward[:k].mean(axis=0)
    cosine = values("cosine", queries, documents)
    found = search(
        queries, documents, [nnn(Scorer(), documents, bank, 0.75, k), csls(Scorer(), documents, bank, k)], 60
    )
    assert np.allclose(np.sort(cosine - 0.75 * near, axis=1)[:, ::-1], found[0].scores)
    # 2c - r(q) - r(d) is twice this, less a constant of the query
    assert np.allclose(np.sort(2 * cosine - near, axis=1)[:, ::-1], 2 * found[1].scores)


def test_a_scorer_comes_back_from_disk_as_it_was(tmp_path):
    queries, documents = vectors(0, 5), vectors(1, 60)
    moments = Moments.of(documents)
    scorers = [
        parse_scorer("whiten(0.5) + polar(1, 0.75)").fit(moments),
        parse_scorer("center + drop-top(2) + norm-gap(3)").fit(moments),
        nnn(Scorer(), documents, queries),
        standardize_queries(Scorer(), documents),
        Scorer(transforms=(Linear(np.eye(8)[:, :3]),)).fit(moments),
    ]
    for number, scorer in enumerate(scorers):
        scorer.save(tmp_path / str(number))
        again = Scorer.load(tmp_path / str(number))
        assert again.name == scorer.name
        one, two = search(queries, documents, [scorer, again], 20)
        assert (one.documents == two.documents).all()
        assert (one.scores == two.scores).all()


def test_a_broken_file_is_named(tmp_path):
    Scorer().save(tmp_path / "good")
    with pytest.raises(DataError, match=r"no scorer in .*: scorer.json is missing"):
        Scorer.load(tmp_path)
    numbers = tmp_path / "good" / "scorer.safetensors"
    numbers.write_bytes(numbers.read_bytes() + b"x")
    with pytest.raises(DataError, match="is not the file that"):
        Scorer.load(tmp_path / "good")
    (tmp_path / "good" / "scorer.json").write_text("{")
    with pytest.raises(DataError, match="is not a saved scorer"):
        Scorer.load(tmp_path / "good")


def test_a_description_names_only_known_things(tmp_path):
    Scorer().save(tmp_path)
    description = json.loads((tmp_path / "scorer.json").read_text())
    description["similarity"] = {"family": "os.system", "parameters": {}}
    (tmp_path / "scorer.json").write_text(json.dumps(description))
    with pytest.raises(DataError, match="is not a saved scorer"):
        Scorer.load(tmp_path)


def test_unfitted_transforms_and_impossible_biases_are_refused():
    with pytest.raises(OffsphereError, match="never fitted"):
        search(vectors(0, 2), vectors(1, 5), [parse_scorer("center + cosine")], 3)
    with pytest.raises(OffsphereError, match="takes neither a document bias"):
        with_nnn(parse_scorer("euclidean"), np.zeros(5), 1.0)
    with pytest.raises(OffsphereError, match="csls is defined for cosine"):
        csls(parse_scorer("dot"), vectors(0, 5), vectors(1, 5))
