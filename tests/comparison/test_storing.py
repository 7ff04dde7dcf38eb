"""What storing costs: values of rankings made elsewhere, prices against the same scorer, and no other row moves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import offsphere as osp
from offsphere.base.errors import ParameterError, UnknownNameError
from offsphere.comparison.compare_scorers import compare
from offsphere.data import PairTask, PairVectors, RankingTask, RankingVectors
from offsphere.data.judgments import Judgments
from offsphere.scoring.names import parse_scorer
from offsphere.statistics.cross_validation import assign_folds
from offsphere.vectors.moments import Moments
from tests.comparison.test_compare_scorers import planted, trec

faiss = pytest.importorskip("faiss")
FORMS = ["float16", "bfloat16", "int8", "binary", "dim=6"]


def stored(table, name):
    return next(row for row in table.stored if row.name == name)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def faiss_top(rows, queries, kind, k=10):
    index = faiss.IndexScalarQuantizer(rows.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
    index.train(rows)
    index.add(rows)
    return index.search(queries, k)[1]


@pytest.fixture(scope="module")
def half():
    task, vectors, judged = planted("half")
    return task, vectors, judged, compare(task, vectors, ["dot"], stored=FORMS, permutations=2_000)


def test_values_are_trec_evals_of_what_faiss_finds(half):
    _, vectors, judged, table = half
    queries, documents = vectors.queries, vectors.documents
    for name, rows in (("cosine", unit(documents)), ("dot", documents)):
        for form, kind in (("int8", faiss.ScalarQuantizer.QT_8bit), ("float16", faiss.ScalarQuantizer.QT_fp16)):
            row = stored(table, f"{name}, stored as {form}")
            assert np.allclose(row.values, trec(judged, faiss_top(rows, queries, kind)))
            assert row.value == pytest.approx(row.values.mean())


def test_what_is_re_ranked_was_found_by_hamming_distance(half):
    _, vectors, judged, table = half
    signs = [np.where(rows > 0, 1, -1) for rows in vectors.sides]
    short = np.argsort(-(signs[0] @ signs[1].T), axis=1, kind="stable")[:, :40]
    dot = np.take_along_axis(vectors.queries.astype(float) @ vectors.documents.astype(float).T, short, axis=1)
    ranked = np.take_along_axis(short, np.argsort(-dot, axis=1), axis=1)[:, :10]
    row = stored(table, "dot, stored as binary+rerank=4")
    assert np.allclose(row.values, trec(judged, ranked))


def test_a_price_is_the_difference_from_the_same_scorer_on_whole_vectors(half):
    _, _, _, table = half
    assert {row.of.name for row in table.stored} == {"cosine", "dot"}
    for row in table.stored:
        apart = row.values - table[row.of.name].values
        assert row.change == pytest.approx(apart.mean())
        assert row.change_low <= row.change <= row.change_high
        assert row.costs_at_most >= -row.change
        assert row.difference == pytest.approx(row.value - table["cosine"].value)


def test_p_is_that_of_a_randomisation_test_corrected_for_the_other_stored_rows(half):
    _, _, _, table = half
    for name in ("cosine, stored as binary+hamming", "dot, stored as dim=6"):
        row = stored(table, name)
        alone = stats.permutation_test(
            (row.values - table[row.of.name].values,),
            lambda d: abs(d.mean()),
            permutation_type="samples",
            n_resamples=1_999,
            alternative="greater",
            rng=0,
        ).pvalue
        assert alone - 0.02 <= row.change_p <= min(alone * len(table.stored), 1) + 0.02


def test_no_other_row_and_no_choice_changes_because_forms_were_asked_for(half):
    task, vectors, _, _ = half
    plain, asked = (compare(task, vectors, stored=forms, permutations=500) for forms in ([], ["int8", "binary"]))
    left, right = plain.to_json(), asked.to_json()
    assert left.pop("stored") == []
    assert right.pop("stored")
    assert right.pop("conclusion").startswith(left.pop("conclusion"))
    assert left == right
    assert asked.chosen.name == plain.chosen.name


def test_memory_is_that_of_the_numbers(half):
    _, _, _, table = half
    sizes = {row.form.name: row.vector_bytes for row in table.stored}
    assert sizes == {
        "float16": 24,
        "bfloat16": 24,
        "int8": 12,
        "binary+hamming": 2,
        "binary+float-query": 2,
        "binary+rerank=4": 2,
        "dim=6": 24,
        "dim=6+sliced": 24,
    }
    assert {row.whole_bytes for row in table.stored} == {48}


def test_the_dot_product_has_one_cut_since_it_takes_no_length(half):
    _, _, _, table = half
    names = [row.name for row in table.stored]
    assert len(names) == len(set(names))
    assert "dot, stored as dim=6" in names
    assert "dot, stored as dim=6+sliced" not in names
    assert "cosine, stored as dim=6+sliced" in names


def test_signs_hold_no_length_so_both_scorers_find_the_same_by_them(half):
    _, _, _, table = half
    for form in ("binary+hamming", "binary+float-query"):
        cosine, dot = (stored(table, f"{name}, stored as {form}") for name in ("cosine", "dot"))
        assert (cosine.values == dot.values).all()
        assert dot.change == pytest.approx(cosine.value - table["dot"].value)


def test_what_loses_nothing_costs_nothing():
    """Small whole numbers are exact in half precision: the dot product of one is that of the other."""
    rng = np.random.default_rng(0)
    queries, documents = (rng.integers(-9, 10, (rows, 8)).astype(np.float32) for rows in (40, 200))
    judged = {f"q{q}": {f"d{d}": 1} for q, d in enumerate(rng.integers(0, 200, 40))}
    task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(200)])
    table = compare(task, RankingVectors.of(task, queries, documents), ["dot"], stored=["float16,bfloat16"])
    for form in ("float16", "bfloat16"):
        row = stored(table, f"dot, stored as {form}")
        assert (row.change, row.change_low, row.change_high, row.costs_at_most, row.change_p) == (0, 0, 0, 0, 1)


def planted_between():
    """Half of the queries like one exponent of the grid and half the next, so that folds choose differently."""
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((60, 12)).astype(np.float32)
    documents = (rng.standard_normal((400, 12)) * rng.lognormal(0, 0.6, (400, 1))).astype(np.float32)
    exponents = np.where(np.arange(60) % 2, -0.5, -0.25)[:, None]
    scores = queries.astype(float) @ documents.astype(float).T / np.linalg.norm(documents, axis=1) ** exponents
    judged = {
        f"q{q}": {f"d{d}": 3 - (rank > 1) for rank, d in enumerate(best)}
        for q, best in enumerate(np.argsort(-scores, axis=1)[:, :5])
    }
    task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(400)])
    return task, RankingVectors.of(task, queries, documents), judged


def test_a_tuned_scorer_is_stored_as_each_fold_chose_it():
    """No query is judged by a parameter that it helped to choose, on stored vectors neither."""
    task, vectors, judged = planted_between()
    table = compare(task, vectors, seed=7, stored=["int8"], permutations=500)
    chosen = table.chosen
    assert len({numbers["document"] for numbers in chosen.fold_parameters}) > 1
    row = next(row for row in table.stored if row.of is chosen)
    folds = assign_folds(task.units, 5, 7)
    family = chosen.name.removesuffix(" (tuned)")
    for fold in range(5):
        numbers = ", ".join(f"{value:g}" for value in chosen.fold_parameters[fold].values())
        lowering = parse_scorer(f"{family}({numbers})").fit(Moments.of(vectors.documents)).lower()
        rows, asked = lowering.documents(vectors.documents), lowering.queries(vectors.queries)
        expected = trec(judged, faiss_top(rows, asked, faiss.ScalarQuantizer.QT_8bit))
        assert np.allclose(row.values[folds == fold], expected[folds == fold])
    assert row.p is None  # it was only stored because it came out best


def test_pairs_are_stored_on_their_right_side():
    rng = np.random.default_rng(0)
    left, right = (rng.standard_normal((300, 16)).astype(np.float32) for _ in range(2))
    gold = (left * right).sum(axis=1).astype(float) + rng.normal(0, 2, 300)
    task = PairTask("pairs", gold)
    table = compare(task, PairVectors.of(task, left, right), ["dot", "euclidean"], stored=["int8", "binary"])
    index = faiss.ScalarQuantizer(16, faiss.ScalarQuantizer.QT_8bit)
    index.train(right)
    read_back = index.decode(index.compute_codes(right))
    row = stored(table, "dot, stored as int8")
    assert row.value == pytest.approx(stats.spearmanr((left * read_back).sum(axis=1), gold).statistic)
    bits = (np.where(left > 0, 1, -1) * np.where(right > 0, 1, -1)).sum(axis=1)
    row = stored(table, "dot, stored as binary+hamming")
    assert row.value == pytest.approx(stats.spearmanr(bits, gold).statistic)
    assert not any(row.form.oversampling for row in table.stored)
    assert any("nothing is re-ranked" in note for note in table.notes)
    assert any(note.startswith("euclidean is not stored as int8, ") for note in table.notes)


def test_pooled_metrics_have_prices_too():
    task, vectors, _ = planted("dot")
    table = compare(task, vectors, ["dot"], metric="pooled-ap@20", stored=["int8", "binary+rerank"])
    assert abs(stored(table, "dot, stored as int8").change) < 0.02
    assert all(0 < row.change_p <= 1 for row in table.stored)


def test_excluded_documents_stay_out_of_what_is_re_ranked():
    task, vectors, judged = planted("dot")
    dot = vectors.queries.astype(float) @ vectors.documents.astype(float).T
    rows, best = np.arange(len(dot)), dot.argmax(axis=1)
    excluded = Judgments.of(rows, best, np.ones(len(dot)), *dot.shape)
    table = compare(replace(task, excluded=excluded), vectors, ["dot"], stored=["binary+rerank=40"])
    dot[rows, best] = -np.inf
    assert np.allclose(table.stored[-1].values, trec(judged, np.argsort(-dot, axis=1)[:, :10]))
    assert stored(table, "dot, stored as binary+rerank=40").change == pytest.approx(0)


def test_what_has_no_such_form_is_noted_and_the_rest_is_measured():
    task, vectors, _ = planted("half")
    vectors.documents[5] *= 1e6
    table = compare(task, vectors, ["dot", "norm-gap(2)"], stored=["float16", "int8"])
    assert [row.name for row in table.stored if row.of.name == "dot"] == ["dot, stored as int8"]
    notes = " ".join(table.notes)
    assert "norm-gap(2) is not stored as float16, int8: it is no inner product of one vector a side" in notes
    assert "dot is not stored as float16: a number of its vectors is" in notes


def test_the_verdict_names_the_smallest_form_that_surely_costs_too_little_to_matter(half):
    task, vectors, _, _ = half
    table = compare(task, vectors, ["dot"], stored=FORMS, worth=0.5)
    finding = table.findings[-1]
    rows = [row for row in table.stored if row.of is table.chosen and row.form.oversampling is None]
    safe = [row for row in rows if row.costs_at_most < 0.5]
    assert finding.claim == "store smaller"
    assert finding.numbers["vector_bytes"] == min(row.vector_bytes for row in safe)
    table = compare(task, vectors, ["dot"], stored=["binary"], worth=0.001)
    assert table.findings[-1].claim == "store whole"
    assert table.findings[-1].sentence.startswith(f"Store whole vectors of {table.chosen.name}: ")


@pytest.mark.parametrize(
    ("forms", "error", "message"),
    [
        (["int9"], UnknownNameError, "did you mean int8"),
        (["dim=12"], ParameterError, "the vectors have 12 dimensions, cut to fewer"),
        (["dim=900+int8"], ParameterError, "the vectors have 12 dimensions"),
        (["int8", "int8"], ParameterError, "twice"),
    ],
)
def test_a_wrong_form_is_refused_before_any_work(forms, error, message, monkeypatch):
    task, vectors, _ = planted("half")
    monkeypatch.setattr("offsphere.comparison.compare_scorers.tune_candidates", None)
    with pytest.raises(error, match=message):
        compare(task, vectors, stored=forms)


def test_an_audit_carries_what_storing_costs_and_finds_it_again_in_its_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    task, vectors, _ = planted("half")
    first, again = (osp.audit(task, vectors, stored=["int8,binary"]).to_json()["comparison"] for _ in range(2))
    assert {row["stored_as"] for row in first["stored"]} >= {"int8", "binary+hamming", "binary+rerank=4"}
    assert first == again
    fresh = osp.compare(task, vectors, stored=["int8,binary"]).to_json()
    assert fresh["stored"] == first["stored"]


def test_documents_may_stay_on_disk(half, tmp_path):
    task, vectors, _, table = half
    np.save(tmp_path / "documents.npy", vectors.documents)
    on_disk = RankingVectors.of(task, vectors.queries, np.load(tmp_path / "documents.npy", mmap_mode="r"))
    again = compare(task, on_disk, ["dot"], stored=FORMS, permutations=2_000)
    assert again.to_json() == table.to_json()
