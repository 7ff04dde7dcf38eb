"""A scorer on stored vectors finds what the engines find that store them so."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.scoring.stored.stored_form import StoredForm, parse_stored
from offsphere.scoring.stored.stored_vectors import NotStorableError, store

faiss = pytest.importorskip("faiss")
K = 20
SCORERS = ("cosine", "dot", "half", "polar(1, 1.5)", "euclidean", "whiten(0.5) + cosine", "center + dot")


@pytest.fixture(scope="module")
def sides():
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((40, 32)).astype(np.float32)
    documents = rng.standard_normal((3_000, 32)) * rng.lognormal(0, 1, (3_000, 1)) * np.linspace(2, 0.2, 32)
    return queries, documents.astype(np.float32)


def fitted(name, documents):
    return osp.parse_scorer(name).fit(osp.Moments.of(documents))


def stored(name, form, documents, **options):
    return store(fitted(name, documents), form, documents, osp.Moments.of(documents), **options)


def found(queries, documents, scorer, k=K):
    return osp.search(queries, documents, [scorer], k)[0]


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize(("code", "kind"), [("int8", "QT_8bit"), ("float16", "QT_fp16"), ("bfloat16", "QT_bf16")])
def test_scores_are_those_of_the_faiss_index_of_that_code(sides, name, code, kind):
    queries, documents = sides
    lowering = fitted(name, documents).lower()
    rows = lowering.documents(documents)
    index = faiss.IndexScalarQuantizer(rows.shape[1], getattr(faiss.ScalarQuantizer, kind), faiss.METRIC_INNER_PRODUCT)
    index.train(rows)
    index.add(rows)
    # what FAISS decodes, multiplied in float64: its own products round queries too on processors with bfloat16
    products = lowering.queries(queries).astype(np.float64) @ index.reconstruct_n(0, len(rows)).astype(np.float64).T
    numbers = np.argsort(-products, axis=1, kind="stable")[:, :K]
    theirs = np.take_along_axis(products, numbers, axis=1)
    ours = found(queries, documents, stored(name, StoredForm(code), documents))
    # a number in the middle of two of half precision is rounded to the even one here, up there
    near = 2.0**-11 if code == "float16" else 1e-5
    assert np.allclose(ours.scores, theirs, atol=near * np.abs(theirs).max())
    assert (ours.documents == numbers).mean() > 0.98  # what is equal up to rounding may change places


@pytest.mark.parametrize("name", ["cosine", "dot", "whiten(0.5) + cosine"])
def test_int8_ranks_as_the_sums_over_whole_numbers_do(sides, name):
    """In float64 over the codes themselves: ``q . low + sum of (q span / 255) (code + 1 / 2)``."""
    queries, documents = sides
    search = stored(name, StoredForm("int8"), documents)
    code = search.map.code
    lowering = fitted(name, documents).lower()
    asked = lowering.queries(queries).astype(np.float64)
    codes = code.codes(lowering.documents(documents)).astype(np.int64)
    step = code.span.astype(np.float64) / 255
    expected = asked @ (code.low + step / 2)[:, None] + (asked * step) @ codes.T
    ours = found(queries, documents, search)
    best = -np.sort(-expected, axis=1)[:, :K]
    assert np.allclose(ours.scores, best, rtol=1e-5, atol=1e-5 * np.abs(best).max())


@pytest.mark.parametrize("name", ["cosine", "dot", "whiten(0.5) + cosine"])
def test_bits_rank_by_hamming_distance(sides, name):
    queries, documents = sides
    lowering = fitted(name, documents).lower()
    bits = [np.packbits(rows > 0, axis=1) for rows in (lowering.queries(queries), lowering.documents(documents))]
    index = faiss.IndexBinaryFlat(32)
    index.add(bits[1])
    distances, _ = index.search(bits[0], K)
    ours = found(queries, documents, stored(name, StoredForm("binary"), documents))
    assert (ours.scores == 32 - 2 * distances).all()


def test_whole_queries_on_bits_are_a_plain_sum_of_signs(sides):
    queries, documents = sides
    expected = queries.astype(np.float64) @ np.where(documents > 0, 1.0, -1.0).T
    ours = found(queries, documents, stored("dot", StoredForm("binary", float_query=True), documents))
    assert np.allclose(ours.scores, -np.sort(-expected, axis=1)[:, :K])


def test_a_cut_takes_lengths_anew_and_a_slice_keeps_the_old_ones(sides):
    truncate_embeddings = pytest.importorskip("sentence_transformers.util").truncate_embeddings
    queries, documents = sides
    cut, sliced = (stored("cosine", form, documents) for form in parse_stored("dim=8"))

    def unit(rows):
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    anew = unit(truncate_embeddings(queries, 8)) @ unit(truncate_embeddings(documents, 8)).T
    old = truncate_embeddings(unit(queries), 8) @ truncate_embeddings(unit(documents), 8).T
    for search, expected in ((cut, anew), (sliced, old)):
        assert np.allclose(found(queries, documents, search).scores, -np.sort(-expected, axis=1)[:, :K], atol=1e-6)


@pytest.mark.parametrize("name", SCORERS)
def test_a_cut_is_the_scorer_fitted_on_cut_vectors(sides, name):
    queries, documents = sides
    expected = found(queries[:, :8], documents[:, :8], fitted(name, documents[:, :8]))
    ours = found(queries, documents, stored(name, StoredForm(dimensions=8), documents))
    assert (ours.documents == expected.documents).mean() > 0.98


@pytest.mark.parametrize("form", parse_stored("float16,bfloat16,int8,binary,dim=8"), ids=lambda form: form.name)
def test_a_document_without_length_has_no_place_under_cosine(sides, form):
    queries, documents = sides
    documents = documents[:50].copy()
    documents[7] = 0
    ours = found(queries, documents, stored("cosine", form, documents), 50)
    assert (ours.documents[:, -1] == 7).all()
    assert np.isneginf(ours.scores[:, -1]).all()
    assert np.isfinite(ours.scores[:, :-1]).all()


def test_equal_documents_stay_in_their_order(sides):
    queries, documents = sides
    twice = np.concatenate([documents[:300], documents[:300]])
    for form in parse_stored("int8,float16,binary+hamming,dim=8"):
        top = found(queries, twice, stored("whiten(0.5) + cosine", form, twice), 2)
        assert (np.diff(top.documents, axis=1) > 0)[top.scores[:, 0] == top.scores[:, 1]].all()


def test_what_is_read_back_does_not_depend_on_the_block(sides):
    queries, documents = sides
    search = stored("cosine", StoredForm("int8"), documents)
    small, large = (osp.search(queries, documents, [search], K, block_rows=rows)[0] for rows in (1_024, 16_384))
    assert (small.documents == large.documents).all()
    assert (small.scores == large.scores).all()


@pytest.mark.parametrize(
    ("scorer", "form", "message"),
    [
        ("norm-gap(2)", "int8", "no inner product"),
        ("dot", "float16", "is 1e.05, more than float16 can hold"),
    ],
)
def test_what_cannot_be_stored_says_why(sides, scorer, form, message):
    _, documents = sides
    documents = documents.copy()
    documents[3, 2] = 1e5
    with pytest.raises(NotStorableError, match=message):
        stored(scorer, StoredForm(form), documents)


def test_a_scorer_with_a_bias_is_not_stored(sides):
    queries, documents = sides
    with pytest.raises(NotStorableError, match="numbers of their own"):
        store(osp.csls(osp.Scorer(), documents, queries), StoredForm("int8"), documents, osp.Moments.of(documents))


def test_a_scorer_of_other_documents_is_stored_whole_but_not_cut(sides):
    _, documents = sides
    other = osp.parse_scorer("whiten(0.5) + cosine").fit(osp.Moments.of(documents[:100]))
    store(other, StoredForm("int8"), documents, osp.Moments.of(documents))
    with pytest.raises(NotStorableError, match="fitted on other documents"):
        store(other, StoredForm(dimensions=8), documents, osp.Moments.of(documents))
