from __future__ import annotations

import numpy as np
import pytest
import pytrec_eval
from scipy import stats

from offsphere.base.errors import ParameterError, UnknownNameError, VectorError
from offsphere.comparison.candidates import EXPONENTS
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.complexity import complexity_of
from offsphere.data import PairTask, PairVectors, RankingTask, RankingVectors
from offsphere.scoring.adapter import Adapter
from offsphere.scoring.transforms.adapter_map import SideAdapter
from offsphere.statistics.cross_validation import assign_folds
from tests.oracles import top, values

QUERIES, DOCUMENTS, DIMENSION = 60, 400, 12


def planted(relevance, seed=0, spread=0.6):
    """Vectors and the task in which the documents that ``relevance`` likes best are relevant."""
    rng = np.random.default_rng(seed)
    queries = rng.standard_normal((QUERIES, DIMENSION)).astype(np.float32)
    documents = (rng.standard_normal((DOCUMENTS, DIMENSION)) * rng.lognormal(0, spread, (DOCUMENTS, 1))).astype(
        np.float32
    )
    best = top(values(relevance, queries, documents), 5)
    noise = rng.integers(0, DOCUMENTS, (QUERIES, 2))
    judged = {
        f"q{q}": {f"d{d}": int(grade) for d, grade in zip([*best[q], *noise[q]], [3, 2, 2, 1, 1, 1, 1], strict=True)}
        for q in range(QUERIES)
    }
    task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(DOCUMENTS)])
    return task, RankingVectors.of(task, queries, documents), judged


def trec(judged, ranked, k=10):
    run = {f"q{q}": {f"d{d}": 1 / (1 + rank) for rank, d in enumerate(row)} for q, row in enumerate(ranked)}
    measured = pytrec_eval.RelevanceEvaluator(judged, {f"ndcg_cut.{k}"}).evaluate(run)
    return np.array([measured[f"q{q}"][f"ndcg_cut_{k}"] for q in range(len(ranked))])


def test_values_are_trec_evals_of_the_exact_rankings():
    task, vectors, judged = planted("half")
    table = compare(task, vectors, ["dot", "half", "euclidean", "overlap"])
    for name in ("cosine", "dot", "half", "euclidean", "overlap"):
        expected = trec(judged, top(values(name, vectors.queries, vectors.documents), 10))
        assert np.allclose(table[name].values, expected)
        assert table[name].value == pytest.approx(expected.mean())
    difference = table["dot"].values - table["cosine"].values
    expected = stats.permutation_test(
        (difference,),
        lambda d: abs(d.mean()),
        permutation_type="samples",
        n_resamples=9_999,
        alternative="greater",
        rng=0,
    ).pvalue
    rows = len(table.rows) - 1
    assert min(expected, 1) <= table["dot"].p + 0.02 <= min(expected * rows, 1) + 0.04


def test_reported_values_of_a_tuned_family_are_held_out():
    task, vectors, judged = planted("half", seed=3)
    row = compare(task, vectors, metric="ndcg@10", seed=7)["polar (tuned)"]
    folds = assign_folds(QUERIES, 5, 7)
    grid = [f"polar(1, {exponent:g})" for exponent in EXPONENTS]
    q, d = vectors.queries.astype(float), vectors.documents.astype(float)
    lengths = np.linalg.norm(d, axis=1)
    table = np.stack([trec(judged, top(q @ d.T / lengths**exponent, 10)) for exponent in EXPONENTS])
    expected = np.empty(QUERIES)
    for fold in range(5):
        chosen = table[:, folds != fold].mean(axis=1).argmax()
        expected[folds == fold] = table[chosen, folds == fold]
        if row.fold_parameters:
            assert row.fold_parameters[fold]["document"] == EXPONENTS[chosen], grid
    assert np.allclose(row.values, expected)


def test_what_a_fold_holds_never_moves_the_choice_made_for_it():
    task, vectors, judged = planted("half", seed=4)
    folds = assign_folds(QUERIES, 5, 0)
    before = compare(task, vectors)
    rng = np.random.default_rng(0)
    spoiled = {
        query: {f"d{d}": 1 for d in rng.integers(0, DOCUMENTS, 5)} if folds[number] == 2 else row
        for number, (query, row) in enumerate(judged.items())
    }
    after = compare(RankingTask.from_judgments(spoiled, task.document_ids), vectors)
    tuned = [row.name for row in before.rows if row.fold_parameters and row.tuned]
    both = [name for name in tuned if any(row.name == name and row.fold_parameters for row in after.rows)]
    assert both
    for name in both:
        assert before[name].fold_parameters[2] == after[name].fold_parameters[2]


def test_length_that_is_relevance_is_found():
    task, vectors, _ = planted("dot")
    table = compare(task, vectors)
    assert "dot" in (table.chosen.name, *table.chosen.same_ranking_as)
    assert table["dot"].better
    assert table.conclusion.startswith(
        "Use the dot product instead of cosine: set the index to dot product (inner product), with the vectors as they "
    )
    gain = table.procedure.value - table["cosine"].value
    assert (
        "each judged by a choice in which it had no say, ndcg@10 (quality of the first ten results) rises from"
        in table.conclusion
    )
    assert f"sure ({gain:+.4f} [" in table.conclusion


def test_length_that_is_noise_is_found():
    task, vectors, _ = planted("cosine")
    table = compare(task, vectors)
    assert table["dot"].worse
    assert table.chosen.name == "cosine"
    assert table.conclusion.startswith("Keep cosine: ")
    told = "Vector length hurts: with the dot product, which lets it count, ndcg@10 falls from cosine's "
    assert told in table.conclusion


def test_functions_that_rank_alike_are_one_row():
    task, vectors, _ = planted("half")
    table = compare(task, vectors)
    assert table["document-normalized"] is table["angular"] is table["cosine"]
    assert table["query-normalized"] is table["dot"]
    assert table["tanh"] is table["overlap"]
    assert table["center + euclidean"] is table["euclidean"]
    names = [name for row in table.rows for name in (row.name, *row.same_ranking_as)]
    assert len(names) == len(set(names))


def test_normalised_vectors_are_one_row_and_said_so():
    task, vectors, _ = planted("cosine")
    unit = vectors.documents / np.linalg.norm(vectors.documents, axis=1, keepdims=True)
    table = compare(task, RankingVectors.of(task, vectors.queries, unit.astype(np.float16)))
    assert table["dot"] is table["euclidean"] is table["polar (tuned)"] is table["cosine"]
    assert "the vectors are normalised" in table.notes[0]
    assert "whiten(0.5) + dot" in {name for row in table.rows for name in (row.name, *row.same_ranking_as)}


def test_pooled_metrics_see_what_a_query_length_does():
    task, vectors, _ = planted("cosine")
    longer = vectors.queries * np.random.default_rng(0).lognormal(0, 2, (QUERIES, 1)).astype(np.float32)
    table = compare(
        task, RankingVectors.of(task, longer, vectors.documents), ["document-normalized"], metric="pooled-ap@50"
    )
    # per query both rank alike; thrown together, only one of them compares queries fairly
    assert table["cosine"].value > table["document-normalized"].value
    assert table["document-normalized"].worse


def test_query_standardisation_is_offered_where_it_can_matter():
    task, vectors, _ = planted("cosine")
    assert "cosine + z-score" in {row.name for row in compare(task, vectors, metric="pooled-auc@20").rows}


def pair_task(seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    gold = rng.random(200)
    left = rng.standard_normal((200, 10))
    right = left * gold[:, None] + rng.normal(0, noise, (200, 10)) * (1 - gold[:, None])
    task = PairTask("pairs", gold)
    return task, PairVectors.of(task, left.astype(np.float32), right.astype(np.float32))


@pytest.mark.parametrize(("metric", "oracle"), [("spearman", stats.spearmanr), ("pearson", stats.pearsonr)])
def test_pairs_are_scipys_correlations(metric, oracle):
    task, vectors = pair_task()
    table = compare(task, vectors, ["dot", "query-normalized", "norm-gap(2)"], metric=metric)
    for name in ("cosine", "dot", "query-normalized", "norm-gap(2)"):
        scores = np.diag(values(name, vectors.left, vectors.right))
        assert table[name].value == pytest.approx(oracle(scores, task.gold).statistic, abs=1e-6)
        expected = stats.bootstrap(
            (scores, task.gold), lambda s, g: oracle(s, g).statistic, paired=True, vectorized=False, n_resamples=999,
            method="percentile", rng=0,
        ).confidence_interval  # fmt: skip
        assert table[name].low == pytest.approx(expected.low, abs=0.03)
        assert table[name].high == pytest.approx(expected.high, abs=0.03)


def test_the_four_corners_differ_on_pairs():
    task, vectors = pair_task()
    table = compare(task, vectors, ["dot", "query-normalized", "document-normalized", "angular"])
    assert len(table.rows) == 4
    assert table["angular"] is table["cosine"]
    assert len(compare(task, vectors, ["angular"], metric="pearson").rows) == 2


def test_a_pair_without_value_ranks_last():
    task, vectors = pair_task()
    left = vectors.left.copy()
    left[3] = 0
    table = compare(task, PairVectors.of(task, left, vectors.right), ["dot"])
    scores = np.diag(values("cosine", vectors.left, vectors.right)).copy()
    scores[3] = -2
    assert table["cosine"].value == pytest.approx(stats.spearmanr(scores, task.gold).statistic)


def test_the_same_seed_gives_the_same_table():
    task, vectors, _ = planted("half")
    assert compare(task, vectors, seed=3).to_json() == compare(task, vectors, seed=3).to_json()


def test_one_query_is_enough_to_run():
    rng = np.random.default_rng(0)
    task = RankingTask.from_judgments({"q": {"d1": 1}}, [f"d{d}" for d in range(20)])
    vectors = RankingVectors.of(task, rng.random((1, 4), dtype=np.float32), rng.random((20, 4), dtype=np.float32))
    table = compare(task, vectors)
    assert table.chosen.name == "cosine"


def test_metrics_that_do_not_fit_are_refused():
    task, vectors, _ = planted("half")
    with pytest.raises(ParameterError, match="metric spearman does not fit task: use ndcg@10"):
        compare(task, vectors, metric="spearman")
    with pytest.raises(ParameterError, match="use spearman, pearson or kendall"):
        compare(*pair_task(), metric="ndcg@10")
    with pytest.raises(ParameterError, match="needs at least 2"):
        compare(task, vectors, folds=1)


def test_biases_against_hubs_are_made_without_the_queries_they_are_judged_on():
    task, vectors, judged = planted("cosine", seed=5)
    row = compare(task, vectors)["cosine + csls"]
    folds = assign_folds(QUERIES, 5, 0)
    cosine = values("cosine", vectors.queries, vectors.documents)
    for fold in range(5):
        near = np.sort(cosine[folds != fold], axis=0)[::-1][:10].mean(axis=0)
        expected = trec(judged, top(cosine - near / 2, 10))
        assert np.allclose(row.values[folds == fold], expected[folds == fold])


def test_undefined_scores_do_not_spoil_a_pool():
    rng = np.random.default_rng(0)
    queries, documents = rng.standard_normal((40, 8)), rng.standard_normal((41, 8))
    judged = {f"q{q}": {f"d{d}": 1} for q, d in enumerate(rng.integers(0, 40, 40))}

    def pooled(count):
        task = RankingTask.from_judgments(judged, [f"d{d}" for d in range(count)])
        vectors = RankingVectors.of(task, queries.astype(np.float32), documents[:count].astype(np.float32))
        table = compare(task, vectors, metric="pooled-ap")
        return {row.name: row.value for row in table.rows}

    before = pooled(40)
    documents[40] = 0
    after = pooled(41)
    for name in ("cosine", "norm-mix (tuned)", "radial-confidence (tuned)"):
        assert after[name] == pytest.approx(before[name], abs=0.02), name


def test_a_zero_vector_keeps_rows_apart_that_treat_it_differently():
    task, vectors, _ = planted("cosine")
    unit = vectors.documents / np.linalg.norm(vectors.documents, axis=1, keepdims=True)
    unit[7] = 0
    table = compare(task, RankingVectors.of(task, vectors.queries, unit), ["euclidean", "dot"])
    assert len(table.rows) == 3
    assert "the vectors are normalised" in table.notes[0]


def test_scorers_with_one_name_are_kept_apart():
    from offsphere.scoring.scorer import Scorer
    from offsphere.scoring.transforms import Linear, Whiten

    task, vectors, _ = planted("half")
    rng = np.random.default_rng(0)
    maps = [Scorer(transforms=(Linear(rng.standard_normal((DIMENSION, 3))),)) for _ in range(2)]
    white = [Scorer(transforms=(Whiten(1, epsilon=epsilon),)) for epsilon in (1e-6, 1.0)]
    names = {row.name for row in compare(task, vectors, [*maps, *white, "dot", "dot"]).rows}
    assert names == {
        "cosine", "dot", "linear + cosine", "linear + cosine #2", "whiten(1) + cosine", "whiten(1, 0, 1) + cosine",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["one document", "identical", "zero", "one dimension", "tiny"])
def test_a_corpus_without_variance_is_no_error(kind):
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((1 if kind == "one document" else 9, 1 if kind == "one dimension" else 4))
    if kind == "identical":
        documents[:] = documents[0]
    if kind == "zero":
        documents[:] = 0
    if kind == "tiny":
        documents *= 1e-36
    task = RankingTask.from_judgments({"a": {"d0": 1}, "b": {"d0": 1}}, [f"d{n}" for n in range(len(documents))])
    queries = rng.standard_normal((2, documents.shape[1])).astype(np.float32)
    table = compare(task, RankingVectors.of(task, queries, documents.astype(np.float32)))
    assert table.chosen.name == "cosine"


def test_scores_without_a_correlation_are_said_to_have_none():
    import json

    task = PairTask("p", np.arange(10.0))
    same = np.ones((10, 3), np.float32)
    for right in (same, np.zeros_like(same)):
        table = compare(task, PairVectors.of(task, same, right))
        assert table.conclusion.startswith("Do not choose by this task: cosine has no spearman")
        assert "NaN" not in json.dumps(table.to_json())
        assert not any(row.better or row.worse for row in table.rows)


def test_a_task_and_vectors_of_another_kind_are_refused():
    task, _, _ = planted("half")
    with pytest.raises(VectorError, match="is not a task for PairVectors"):
        compare(task, pair_task()[1])
    with pytest.raises(ParameterError, match="a seed at least 0"):
        compare(*planted("half")[:2], seed=-1)


def test_every_label_of_the_table_can_be_typed():
    from offsphere.scoring.names import parse_scorer

    task, vectors, _ = planted("half")
    table = compare(task, vectors)
    for row in table.rows:
        if row.scorer.bias is None:
            name = row.label.removesuffix(" *")
            assert parse_scorer(name).similarity == row.scorer.similarity
            assert table[row.label] is row
    assert len(repr(table)) < 500
    with pytest.raises(UnknownNameError, match="unknown row 'cosin': did you mean cosine"):
        _ = table["cosin"]


def test_a_row_is_tuned_by_its_flag_and_not_by_its_name():
    task, vectors, _ = planted("half")
    rows = compare(task, vectors).rows
    assert any(row.tuned for row in rows)
    assert all(row.label.endswith(" *") == row.tuned == row.name.endswith(" (tuned)") for row in rows)
    side = SideAdapter(np.eye(DIMENSION))
    named = Adapter(side, side, label="by hand (tuned)").scorer
    row = compare(task, vectors, [named])["adapter(by hand (tuned)) + cosine"]
    assert row.label == row.name
    assert complexity_of(row.scorer, tuned=row.tuned) == (0, 0, 1, 0)


def test_scorers_named_by_hand_come_with_a_caution():
    task, vectors, _ = planted("half")
    assert "named before any look" in compare(task, vectors, ["dot"]).notes[0]
    assert not compare(task, vectors).notes


def test_a_family_that_chose_cosine_is_cosine_and_not_its_z_score():
    task, vectors, _ = planted("cosine", spread=1.5)
    table = compare(task, vectors, metric="pooled-ap@20")
    assert not table["cosine + z-score"].same_ranking_as
    assert "polar (tuned)" in (*table["cosine"].same_ranking_as, *(row.name for row in table.rows))


def test_labels_are_unique_where_a_tuned_row_arrives_at_a_scorer_that_has_its_own():
    """Cosine wins on some folds and something near it on others, so the family stays a row, and deploys cosine."""
    for kind in ("half", "cosine", "dot"):
        task, vectors, _ = planted(kind)
        rows = compare(task, vectors).rows
        assert len({row.label for row in rows}) == len(rows)
        assert "cosine *" not in [row.label for row in rows]


def test_whitening_by_few_vectors_is_said_to_be_what_it_is():
    rng = np.random.default_rng(0)
    task = RankingTask.from_judgments({f"q{q}": {f"d{q}": 1} for q in range(20)}, [f"d{d}" for d in range(24)])
    vectors = RankingVectors.of(task, *(rng.normal(size=(rows, 32)).astype(np.float32) for rows in (20, 24)))
    table = compare(task, vectors)
    (note,) = (note for note in table.notes if "whitening" in note)
    assert note.startswith("whitening was fitted on 24 vectors of 32 dimensions: directions in which these do not vary")
    assert any("whiten" in row.name for row in table.rows)  # they are in the table, and may even come first
    assert not any("too few" in note for note in table.notes)


def test_pearson_of_scores_with_a_long_tail_is_not_believed_in_silence():
    rng = np.random.default_rng(5)
    left, right = rng.normal(size=(2, 300, 8)).astype(np.float32)
    long = rng.lognormal(0, 1.5, (300, 1)).astype(np.float32)
    task = PairTask("pairs", rng.uniform(0, 5, 300))
    vectors = PairVectors.of(task, left * long, right)
    tails = [note for note in compare(task, vectors, ["dot"], metric="pearson").notes if "long tail" in note]
    assert len(tails) == 1
    assert tails[0].startswith("the scores of dot have")
    assert not any("long tail" in note for note in compare(task, vectors, ["dot"], metric="spearman").notes)
