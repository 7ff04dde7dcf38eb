from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from offsphere.base.errors import ParameterError, VectorError
from offsphere.ranking.hub_bias import with_nnn
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.scoring.scorer import Scorer
from offsphere.vectors.blocks import TILE, Blocks
from offsphere.vectors.moments import Moments
from tests.oracles import FORMULAS, top, values

NAMES = list(FORMULAS)
SCORERS = [parse_scorer(name) for name in NAMES]


def check_exact(queries, documents, k, results):
    """Same values as the oracle's at every rank; equal documents in document order."""
    for name, result in zip(NAMES, results, strict=True):
        full = values(name, queries, documents)
        expected = np.take_along_axis(full, top(full, k), axis=1)
        got = np.take_along_axis(full, result.documents, axis=1)
        scale = np.abs(expected[np.isfinite(expected)]).max(initial=1)
        # arccos near 1 and sqrt near 0 cannot be resolved better than this in float64
        loose = 1e-7 if name in ("angular", "euclidean") or name.startswith("norm-gap") else 1e-12
        assert (np.isfinite(expected) == np.isfinite(got)).all(), name
        finite = np.isfinite(expected)
        assert np.allclose(expected[finite], got[finite], rtol=1e-9, atol=loose * scale), name
        assert np.allclose(result.scores[finite], got[finite], rtol=1e-9, atol=1e-7 * scale), name
        assert (result.scores[:, 1:] <= result.scores[:, :-1]).all(), name
        assert all(len(set(row)) == len(row) for row in result.documents.tolist()), name
        check_order_of_equals(documents, result.documents)


def check_order_of_equals(documents, ranked):
    """Of equal documents the first ones come out, in their order."""
    _, kind = np.unique(documents, axis=0, return_inverse=True)
    members = {value: np.flatnonzero(kind == value) for value in np.unique(kind)}
    for row in ranked:
        for value in np.unique(kind[row]):
            equals = row[kind[row] == value]
            assert (equals == members[value][: len(equals)]).all()


def random_vectors(rng, rows, dimension, spread):
    directions = rng.standard_normal((rows, dimension))
    return (directions * rng.lognormal(0, spread, (rows, 1))).astype(np.float32)


@given(
    seed=st.integers(0, 2**32 - 1),
    shape=st.tuples(st.integers(1, 9), st.integers(1, 400), st.integers(1, 40)),
    k=st.integers(1, 450),
    dtype=st.sampled_from([np.float32, np.float16]),
    kind=st.sampled_from(["plain", "duplicates", "whole numbers", "zeros", "unit", "far apart"]),
    threads=st.integers(1, 3),
)
def test_exact_for_every_similarity(seed, shape, k, dtype, kind, threads):
    rng = np.random.default_rng(seed)
    count, rows, dimension = shape
    queries = random_vectors(rng, count, dimension, 0.5)
    documents = random_vectors(rng, rows, dimension, 2.0 if kind == "far apart" else 0.5)
    if kind == "duplicates":
        documents = documents[rng.integers(0, max(1, rows // 10), rows)]
    if kind == "whole numbers":
        queries, documents = np.round(queries), np.round(documents)
    if kind == "zeros":
        documents[rng.random(rows) < 0.3] = 0
        queries[rng.random(count) < 0.3] = 0
    if kind == "unit":
        documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    documents = documents.astype(dtype)
    check_exact(queries, documents, k, search(queries, documents, SCORERS, k, threads=threads))


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e15, 1e18])
def test_exact_where_float32_products_overflow_or_vanish(scale):
    rng = np.random.default_rng(5)
    queries = random_vectors(rng, 6, 16, 0.5) * np.float32(scale)
    documents = random_vectors(rng, 3000, 16, 1.0) * np.float32(scale)
    names = ["dot", "cosine", "half", "polar(1, 1.5)"]
    for name, result in zip(names, search(queries, documents, [parse_scorer(name) for name in names], 20), strict=True):
        full = values(name, queries, documents)
        expected = np.take_along_axis(full, top(full, 20), axis=1)
        assert np.allclose(np.take_along_axis(full, result.documents, axis=1) / expected, 1, rtol=1e-9), name


def test_same_result_whatever_the_blocks_and_threads():
    rng = np.random.default_rng(3)
    queries = random_vectors(rng, 300, 24, 0.5)
    documents = random_vectors(rng, 5 * TILE + 123, 24, 0.7)
    documents[2000:2600] = documents[100:700]  # ties across tiles
    moments = Moments.of(documents)
    scorers = [*SCORERS, parse_scorer("whiten(0.5) + cosine").fit(moments)]
    reference = search(queries, documents, scorers, 30, threads=1)
    parts = [documents[:1], documents[1:1500], documents[1500:]]
    others = [
        search(queries, documents, scorers, 30, threads=2),
        search(queries, documents, scorers, 30, block_rows=TILE, threads=2),
        search(queries, documents, scorers, 30, block_rows=3 * TILE, threads=1),
        search(queries, parts, scorers, 30, block_rows=2 * TILE),
    ]
    for results in others:
        for first, second in zip(reference, results, strict=True):
            assert (first.documents == second.documents).all()
            assert (first.scores == second.scores).all()


def test_ties_are_broken_by_document_order():
    documents = np.tile(np.array([[1.0, 2.0]], np.float32), (5000, 1))
    for result in search(np.array([[3.0, 1.0]], np.float32), documents, SCORERS, 7):
        assert result.documents.tolist() == [list(range(7))]


def test_a_memory_map_is_searched_as_the_array(tmp_path):
    rng = np.random.default_rng(4)
    documents = random_vectors(rng, 3000, 12, 0.5)
    np.save(tmp_path / "documents.npy", documents)
    mapped = np.load(tmp_path / "documents.npy", mmap_mode="r")
    queries = random_vectors(rng, 5, 12, 0.5)
    for first, second in zip(search(queries, documents, SCORERS, 9), search(queries, mapped, SCORERS, 9), strict=True):
        assert (first.documents == second.documents).all()


def test_k_larger_than_the_corpus_gives_the_corpus():
    rng = np.random.default_rng(6)
    queries, documents = random_vectors(rng, 3, 8, 0.5), random_vectors(rng, 10, 8, 0.5)
    results = search(queries, documents, SCORERS, 1000)
    assert all(result.documents.shape == (3, 10) for result in results)
    check_exact(queries, documents, 10, results)


@given(seed=st.integers(0, 1000))
def test_a_transform_gives_the_ranking_of_transformed_vectors(seed):
    rng = np.random.default_rng(seed)
    queries, documents = random_vectors(rng, 4, 10, 0.5), random_vectors(rng, 200, 10, 0.5)
    scorer = parse_scorer("whiten(0.7) + cosine").fit(Moments.of(documents))
    result = search(queries, documents, [scorer], 15)[0]
    full = values("cosine", scorer.transform(queries), scorer.transform(documents))
    assert np.allclose(np.take_along_axis(full, result.documents, 1), np.take_along_axis(full, top(full, 15), 1))


@given(seed=st.integers(0, 1000))
def test_a_bias_is_added_to_the_value(seed):
    rng = np.random.default_rng(seed)
    queries, documents = random_vectors(rng, 4, 10, 0.5), random_vectors(rng, 200, 10, 0.5)
    shift = rng.normal(0, 0.3, 200)
    scorers = [with_nnn(parse_scorer(name), shift, 1.0) for name in ("cosine", "norm-mix(0.8)", "half")]
    for name, result in zip(("cosine", "norm-mix(0.8)", "half"), search(queries, documents, scorers, 15), strict=True):
        full = values(name, queries, documents) - shift
        assert np.allclose(np.take_along_axis(full, top(full, 15), 1), result.scores)


def test_bad_vectors_are_named():
    good, bad = np.ones((3, 4), np.float32), np.ones((3000, 4), np.float32)
    bad[2500, 1] = np.nan
    with pytest.raises(VectorError, match="document vector in row 2500 is not finite"):
        search(good, bad, [Scorer()], 3)
    with pytest.raises(VectorError, match="query vector in row 2500 is not finite"):
        search(bad, good, [Scorer()], 3)
    with pytest.raises(VectorError, match="document vectors 4"):
        search(np.ones((2, 3), np.float32), good, [Scorer()], 3)
    with pytest.raises(VectorError, match="the corpus is empty"):
        search(good, np.ones((0, 4), np.float32), [Scorer()], 3)
    with pytest.raises(ParameterError, match="at least one document"):
        search(good, good, [Scorer()], 0)
    with pytest.raises(VectorError, match="give float16 or float32"):
        Blocks.of(np.ones((2, 2), np.int64))


def test_progress_ends_at_the_number_of_documents():
    seen = []
    search(
        np.ones((2, 3), np.float32),
        np.ones((5000, 3), np.float32),
        [Scorer()],
        3,
        block_rows=TILE,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (5000, 5000)
    assert len(seen) == 5


def test_numbers_beyond_float32_are_named_without_a_warning():
    far = np.array([[1.0, 2.0], [1e300, 1.0]])
    with pytest.raises(VectorError, match="document vector in row 1 is not finite"):
        search(far[:1], far, [Scorer()], 1)
    with pytest.raises(VectorError, match="query vector in row 1 is not finite"):
        search(far, far[:1], [Scorer()], 1)
    tiny = np.array([[1e-30, 0.0], [0.0, 1e-30], [1e-30, 1e-30]], np.float32)
    scorer = parse_scorer("whiten(1) + dot").fit(Moments.of(tiny))
    with pytest.raises(VectorError, match=r"query vector in row 0 is not finite in float32 after whiten\(1\)"):
        search(np.array([[1e30, 0.0]], np.float32), tiny, [scorer], 1)


def test_products_beyond_float32_are_ranked_without_a_warning():
    vectors = np.array([[1e38, 1e38], [3e38, 1e38]], np.float32)
    assert search(vectors, vectors, [parse_scorer("dot")], 2)[0].documents.tolist() == [[1, 0], [1, 0]]
