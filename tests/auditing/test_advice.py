"""Planted cases whose right advice is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.comparison.choice import choose
from offsphere.data import PairTask, PairVectors


def planted(kind, seed=0, queries=150, documents=1_500, dimension=16):
    """Length is relevance, length is noise, or there is no length at all."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(documents, dimension))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    authority = np.exp(rng.normal(0, 0.6, documents))
    asked = directions[rng.choice(documents, queries, replace=False)] + rng.normal(0, 0.15, (queries, dimension))
    cosines = asked / np.linalg.norm(asked, axis=1, keepdims=True) @ directions.T
    wanted = cosines * authority if kind == "relevance" else cosines
    relevant = np.argsort(-wanted, axis=1)[:, :5]
    lengths = {"relevance": authority, "noise": np.exp(rng.normal(0, 0.6, documents)), "none": np.ones(documents)}[kind]
    judged = {f"q{q}": {f"d{d}": 1.0 for d in row} for q, row in enumerate(relevant)}
    task = osp.RankingTask.from_judgments(judged, [f"d{d}" for d in range(documents)], kind)
    blurred = directions + rng.normal(0, 0.05, directions.shape)  # so that nothing is perfect
    blurred *= (lengths / np.linalg.norm(blurred, axis=1))[:, None]
    return task, osp.RankingVectors.of(task, asked.astype(np.float32), blurred.astype(np.float32))


def advised(task, vectors, *, symmetric=None, **more):
    return osp.advise(osp.compare(task, vectors, **more), osp.measure(task, vectors), symmetric=symmetric)


def test_where_length_is_relevance_it_recommends_the_dot_product_and_says_why():
    advice = advised(*planted("relevance"))
    assert advice.name == "dot"
    assert advice.verdict[0].startswith(
        "Use the dot product instead of cosine: set the index to dot product (inner product), with the vectors as they "
    )
    assert (
        "On 150 queries, each judged by a choice in which it had no say, ndcg@10 (quality of the first ten results) "
        "rises from 0." in advice.verdict[0]
    )
    assert advice.verdict[1].startswith("Vector length helps: ")
    assert "Relevant documents have longer vectors (" in advice.verdict[1]
    assert advice.verdict[2].endswith("here it does.")
    assert "normalise the query only" in advice.about("training")[0].sentence
    assert advice.settings[1].setting == "VectorParams(distance=Distance.DOT)"


def test_where_length_is_noise_it_recommends_cosine():
    advice = advised(*planted("noise"), declared="cosine")
    assert advice.name == "cosine"
    assert advice.verdict[0].startswith("Keep cosine: set the index to cosine. Surely nothing worth having is missed: ")
    assert advice.verdict[1].startswith("Vector length hurts: ")
    assert "neither longer nor shorter vectors that one could see" in advice.verdict[1]
    assert advice.verdict[2].endswith("in these vectors, as they are, it does not.")
    assert any(
        "made for cosine: in an index set to dot product" in finding.sentence for finding in advice.about("wrong")
    )


def test_what_the_model_declares_is_compared_with_what_is_recommended():
    advice = advised(*planted("noise"), declared="dot")
    findings = [finding.sentence for finding in advice.about("scorer") if "The model declares dot" in finding.sentence]
    assert len(findings) == 1
    assert "p = 0.0001 for these two alone" in findings[0]


def test_compare_advise_and_audit_begin_with_the_same_words():
    """Once ``advise`` kept what ``compare`` said to stop: what the model declares was known to the table alone."""
    task, vectors = planted("noise")
    asked = {"scorers": ["dot"], "permutations": 2_000}
    table = osp.compare(task, vectors, declared="dot", **asked)
    first = table.findings[0].sentence
    assert first.startswith("Stop using the dot product that this model declares (which reaches ")
    advice = osp.advise(table, osp.measure(task, vectors, ["lengths"]))
    assert (advice.verdict[0], advice.declared) == (first, "dot")
    told_later = osp.audit(task, vectors, table=osp.compare(task, vectors, **asked), declared="dot", cache=False)
    assert told_later.advice.verdict[0] == told_later.table.findings[0].sentence == first


def test_where_there_is_no_length_it_says_so():
    advice = advised(*planted("none"))
    assert "All vectors that are ranked have the same length" in advice.verdict[0]
    assert advice.name == advice.scorer.name == "cosine"
    assert advice.settings[1].setting == "VectorParams(distance=Distance.DOT)"  # which costs less and ranks the same
    assert "magnitude was discarded before we saw it" in advice.verdict[1]
    assert any("Every vector length is the same" in finding.sentence for finding in advice.about("wrong"))


def test_a_symmetric_task_is_expected_to_be_hurt_by_length():
    rng = np.random.default_rng(0)
    gold = rng.uniform(0, 5, 400)
    left = rng.normal(size=(400, 12))
    right = left * gold[:, None] / 5 + rng.normal(size=left.shape) * (5 - gold[:, None]) / 5
    scale = np.exp(rng.normal(0, 0.8, (2, 400, 1)))
    task = PairTask("alike", gold)
    vectors = PairVectors.of(task, (left * scale[0]).astype(np.float32), (right * scale[1]).astype(np.float32))
    advice = advised(task, vectors)
    assert advice.symmetric
    assert advice.verdict[2].endswith("play the same role, where vector length is expected to hurt; here it does.")
    assert "normalise both sides" in advice.about("training")[0].sentence
    turned = advised(task, vectors, symmetric=False)
    assert "different roles" in turned.verdict[2]


def test_few_queries_are_enough_for_what_is_large():
    task, vectors = planted("noise")
    few = task.only(np.arange(25))
    advice = advised(few, osp.RankingVectors.of(few, vectors.queries[:25], vectors.documents))
    assert "Vector length hurts" in advice.verdict[1]  # what is so large is seen by 25 queries
    assert not any("too few" in finding.sentence for finding in advice.findings)


def test_too_few_queries_are_said_to_be():
    """A gain that matters and is not proven gets a number of queries for the test that is used; a smaller one none."""
    task, vectors = planted("noise")
    few = task.only(np.arange(25))
    vectors = osp.RankingVectors.of(few, vectors.queries[:25], vectors.documents)
    table, shape = osp.compare(few, vectors), osp.measure(few, vectors)

    def findings(gain, worth=0.01):
        unproven = replace(table.procedure, gain=gain, low=gain - 0.05, high=gain + 0.05, p=0.2, error=0.02, reach=2.5)
        advice = osp.advise(replace(table, procedure=unproven, worth=worth), shape)
        return [finding for finding in advice.about("wrong") if finding.claim == "more units"]

    # the test calls it a gain beyond 2.5 standard errors: 0.84 more, and it does in four of five tries
    (finding,) = findings(0.03)
    assert finding.numbers["needed"] == pytest.approx(25 * (3.34 * 0.02 / 0.03) ** 2, rel=0.02)
    assert not findings(0.009)
    assert not findings(0.03, worth=0.05)


def test_the_simplest_of_equals_is_chosen():
    """Length is relevance: whole families contain the dot product and come as close; the plain one is recommended."""
    task, vectors = planted("relevance")
    table = osp.compare(task, vectors)
    choice = choose(table)
    assert choice.row.name == "dot"
    assert choice.by == "procedure"
    if choice.best is not choice.row:
        assert choice.p_best >= 0.05


def test_every_sentence_has_a_number_and_everything_is_json():
    advice = advised(*planted("relevance"))
    rules = ("expectation",)  # whose numbers stand in the sentence before
    told = [finding for finding in advice.findings if finding.topic not in rules]
    assert all(any(letter.isdigit() for letter in finding.sentence) for finding in told)
    again = json.loads(json.dumps(advice.to_json(), allow_nan=False))
    assert again["scorer"] == "dot"
    assert len(again["verdict"]) == 4  # scorer, length, expectation, and what documents alone tell
    assert {setting["engine"] for setting in again["settings"]} >= {"FAISS", "Qdrant", "pgvector", "LanceDB"}


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "whiten(0.5) + cosine", "polar(1, 0.5)", "norm-gap(1)"])
def test_every_scorer_gets_a_setting_for_every_engine(name):
    from offsphere.engines import engine_settings
    from offsphere.engines.metric import Metric
    from offsphere.engines.registry import ENGINES

    settings = engine_settings(osp.parse_scorer(name))
    assert [row.engine for row in settings] == [engine.name for engine in ENGINES]
    changed = name in ("whiten(0.5) + cosine", "polar(1, 0.5)")
    needed = {"dot": {Metric.INNER_PRODUCT}, "euclidean": {Metric.EUCLIDEAN}}.get(name, set())
    lacking = {engine.name for engine in ENGINES if needed - set(engine.metrics)}
    for row in settings:
        assert ("scorer." in row.store or "export" in row.store) == (changed or row.engine in lacking), row
    assert all(("re-rank" in row.setting) == (name == "norm-gap(1)") for row in settings)


def test_unit_vectors_on_one_side_of_pairs_are_not_normalised_pairs():
    """The dot product still sees the other side's length: it must not be recommended as if it were cosine."""
    rng = np.random.default_rng(0)
    gold = rng.uniform(0, 5, 300)
    right = rng.normal(size=(300, 8))
    left = right * gold[:, None] / 5 + rng.normal(size=right.shape) * (5 - gold[:, None]) / 5
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    task = PairTask("one side", gold)
    scale = np.exp(rng.normal(0, 1, (300, 1)))
    advice = advised(task, PairVectors.of(task, (left * scale).astype(np.float32), right.astype(np.float32)))
    assert advice.name != "dot"
    assert "Use the dot product" not in advice.verdict[0]


def test_gold_scores_turned_round_lead_to_no_choice():
    rng = np.random.default_rng(0)
    distance = rng.uniform(0, 3, 300)
    left = rng.normal(size=(300, 8))
    right = left + distance[:, None] * rng.normal(size=left.shape)
    task = PairTask("distances", distance)
    advice = advised(task, PairVectors.of(task, left.astype(np.float32), right.astype(np.float32)))
    assert advice.name == "cosine"
    assert advice.verdict[0].startswith("Do not choose by this task")


def test_a_handful_of_queries_is_said_to_tell_nothing():
    task, vectors = planted("relevance")
    few = task.only(np.arange(3))
    advice = advised(few, osp.RankingVectors.of(few, vectors.queries[:3], vectors.documents))
    assert advice.verdict[2].endswith("3 queries are too few to tell.")
    assert any("3 queries are too few to tell anything" in finding.sentence for finding in advice.about("wrong"))


def test_settings_for_pairs_mind_the_query_length():
    from offsphere.engines import engine_settings

    scorer = osp.parse_scorer("query-normalized")
    assert all("lower()" not in row.store for row in engine_settings(scorer))
    assert all("lower()" in row.query or "export" in row.query for row in engine_settings(scorer, "order"))
