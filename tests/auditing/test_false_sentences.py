"""Sentences that were false once, each with the numbers it was made from."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
import pytest

import offsphere as osp
from offsphere.comparison.procedure import Procedure
from offsphere.comparison.row import Row, label_apart
from offsphere.comparison.table import Comparison
from offsphere.geometry.hubness import Hub, Hubness, by_chance, hubness
from offsphere.geometry.relevance import Relevance, WithinQuery
from offsphere.geometry.shape import Geometry
from offsphere.scoring.document_bias import DocumentBias
from offsphere.scoring.query_bank import QueryBank
from offsphere.scoring.transforms.adapter_map import AdapterMap, SideAdapter
from offsphere.statistics.estimate import UNDEFINED, Estimate
from tests.auditing.cases import TWO_MODELS, PlantedCase
from tests.auditing.checker import complaints_of
from tests.auditing.read_index import index_complaints


def row(name="cosine", value=0.5, change=(0.0, 0.0, 0.0), p=None, **more):
    scorer = more.pop("scorer", None) or osp.parse_scorer(name)
    difference, low, high = change
    return Row(
        name=name,
        value=value + difference,
        low=value + difference - 0.05,
        high=value + difference + 0.05,
        difference=difference,
        difference_low=low,
        difference_high=high,
        p=p,
        scorer=scorer,
        parameters={},
        planned=more.pop("planned", name == "dot"),
        **more,
    )


def table_of(*rows, units=300, **more):
    task = {"name": "t", "kind": "ranking", "queries": units, "documents": 2_000, "judgments_made": None}
    rows = sorted([row(), *rows], key=lambda each: -each.value)
    return Comparison(
        "ndcg@10", {**task, **more.pop("task", {})}, label_apart(rows), baseline="cosine", folds=5, seed=0, **more
    )


def relevance_of(d, adjusted, within, within_adjusted, drop=None, **more):
    counts = {"relevant": 200, "others": 1_800, "queries": 300, "made": False, **more}
    return Relevance(
        d=Estimate(*d),
        d_adjusted=Estimate(*adjusted),
        d_drop=Estimate(*(drop or (0.3, 0.2, 0.4))),
        text_length_explains=0.4,
        auc=UNDEFINED,
        within=WithinQuery("all", 300, Estimate(*within), UNDEFINED),
        within_adjusted=WithinQuery("all", 300, Estimate(*within_adjusted), UNDEFINED),
        groups=[],
        document_length_and_cosine=None,
        log_lengths_and_cosine=None,
        query_length_and_ndcg=None,
        **counts,
    )


def chosen(gain, low, high, p, name="dot"):
    return Procedure(
        value=0.5 + gain,
        error=(gain - low) / 1.96,
        reach=1.96,
        gain=gain,
        low=low,
        high=high,
        p=p,
        chosen={name: 1.0},
        row=name,
        name=name,
        scorer=osp.parse_scorer(name),
        repeats=20,
        folds=5,
        values=np.zeros(0),
    )


def told(table, relevance=None, hubs=(), symmetric=False):
    """The advice on a case, which the checker has nothing against."""
    if relevance is not None and "queries" in table.task:
        relevance = replace(relevance, queries=table.task["queries"])
    case = PlantedCase(table, Geometry({}, relevance=relevance, hubness=list(hubs)), symmetric)
    assert complaints_of(case) == []
    return case.advice


LOST = row("dot", change=(-0.38, -0.42, -0.34), p=0.0001)
GAINED = row("dot", change=(0.06, 0.03, 0.09), p=0.0001)


def test_a_sign_that_turns_when_text_length_is_held_fixed_is_said_to():
    """Once: shorter, "which cannot be told from chance once text length is controlled for (d = 0.203 [0.158, ..."."""
    relevance = relevance_of((-0.3, -0.35, -0.25), (0.203, 0.158, 0.247), (nan,), (nan,))
    length = told(table_of(LOST), relevance).verdict[1]
    assert "longer vectors by one comparison and shorter ones by another" in length
    assert "at equal text length 0.203 [0.158, 0.247]" in length
    assert "chance" not in length


def test_a_length_that_loses_is_not_recommended_to_be_kept():
    """Once: "keep document length: the relevant ones are longer (d = 0.146)", the adjusted one; raw it was -0.407."""
    relevance = relevance_of((-0.3, -0.35, -0.25), (0.1, 0.05, 0.15), (-0.407, -0.45, -0.36), (0.146, 0.10, 0.19))
    (training,) = told(table_of(LOST), relevance).about("training")
    assert "keep the document" not in training.sentence
    assert "as they stand these lengths lose" in training.sentence
    assert "0.146" not in training.sentence
    assert "what training could make of length is another matter" in training.sentence


def test_a_length_that_surely_makes_no_difference_is_not_said_to_be_unknown():
    """Once: "these vectors do not say whether length helps", beside "makes no difference that matters"."""
    level = table_of(row("dot", change=(0.0002, -0.003, 0.004), p=0.8), worth=0.01)
    (training,) = told(level).about("training")
    assert "as they stand these lengths make no difference that matters" in training.sentence
    assert "do not say" not in training.sentence


def test_made_judgments_that_cover_the_corpus_say_nothing_of_relevance():
    """Once: "Relevant documents have shorter vectors (d = -2.013)", of 233 against 7 for which there was no query."""
    relevance = relevance_of(
        (-2.013, -2.8, -1.2), (-1.9, -2.7, -1.1), (-0.5, -0.6, -0.4), (nan,), relevant=233, others=7, made=True
    )
    advice = told(table_of(LOST, task={"judgments_made": "each title asks for its own text"}), relevance)
    for finding in advice.findings:
        assert "shorter" not in finding.sentence
        assert "d = " not in finding.sentence
    assert "233 of 240 documents are relevant to something" in advice.verdict[1]
    assert relevance.sentence.startswith("length and relevance say nothing here: the judgments were made")


def test_nothing_is_a_disguise_while_relevant_ones_differ_from_their_rivals():
    """Once: "only as text length in disguise", with an adjusted d of -0.389 [-0.433, -0.345] within queries."""
    numbers = (0.3, 0.25, 0.35), (0.01, -0.04, 0.06), (-0.2, -0.25, -0.15)
    assert (
        "because of their text length"
        not in told(table_of(LOST), relevance_of(*numbers, (-0.389, -0.433, -0.345))).verdict[1]
    )
    assert (
        "because of their text length" in told(table_of(LOST), relevance_of(*numbers, (-0.01, -0.05, 0.03))).verdict[1]
    )


def test_nobody_is_told_how_many_queries_would_show_what_does_not_matter():
    """Once: "Too few queries: 42,336 would show +0.0006"."""
    small = row("dot", change=(0.0006, -0.004, 0.005), p=0.8)
    advice = told(table_of(small, procedure=chosen(0.0006, -0.004, 0.005, 0.8), most_to_gain=0.008, worth=0.01))
    assert not any("would show it" in finding.sentence for finding in advice.findings)
    assert "the other scorer gains at most +0.0080 on" in advice.verdict[0]
    assert "less than the smallest gain that matters, 0.01." in advice.verdict[0]


def test_a_gain_that_matters_gets_a_number_of_queries():
    unsure = row("dot", change=(0.02, -0.02, 0.06), p=0.3)
    table = table_of(unsure, units=100, procedure=chosen(0.02, -0.02, 0.06, 0.3), most_to_gain=0.08, worth=0.01)
    (more,) = (finding for finding in told(table).about("wrong") if finding.claim == "more units")
    # a standard error of 0.04 / 1.96 on 100 queries; 2.80 of them must fit into 0.02: 100 (2.80 / 0.98) ^ 2
    assert "about 818 queries would show it" in more.sentence


def test_where_sides_have_roles_a_loss_contradicts_nothing():
    """Once: "different roles, so length may help if trained ...; it is the other way round"."""
    assert "here it helps instead" not in told(table_of(LOST)).verdict[2]
    assert "here it helps instead" in told(table_of(GAINED), symmetric=True).verdict[2]


def test_hubs_are_told_only_where_chance_makes_fewer():
    """Once: "45 hubs in 20 lists or more" of 46 documents; in 1,000 lists of ten, chance puts each into 217."""
    lists = np.array([np.random.default_rng(seed).choice(46, 10, replace=False) for seed in range(1_000)])
    crowded = hubness("cosine", lists, 46)
    assert crowded.hub_count == 46
    assert not any(finding.claim == "hubs" for finding in told(table_of(LOST), hubs=[crowded]).findings)
    chance = by_chance(300, 10, 2_000)
    few = {"skewness": 9.0, "robin_hood": 0.5, "gini": 0.5, "antihub_share": 0.5, "hub_count": 30}
    real = Hubness(scorer="cosine", k=10, queries=300, documents=2_000, worst=[Hub("d7", 140)], never=[], chance=chance,
                   documents_in_lists=np.ones(1, int), **few)  # fmt: skip
    (hub,) = (finding for finding in told(table_of(LOST), hubs=[real]).findings if finding.claim == "hubs")
    assert "by chance hardly any" in hub.sentence


def test_compare_and_audit_say_the_same_of_normalised_vectors():
    """Once: ``compare`` said cosine and ``audit`` said dot."""
    table = table_of(row("euclidean", change=(-0.1, -0.2, -0.05), p=0.001))
    rows = [replace(each, same_ranking_as=("dot",)) if each.p is None else each for each in table.rows]
    table = replace(table, rows=rows)
    advice = told(table)
    assert table.findings[0].sentence == advice.verdict[0]
    assert advice.name == table.chosen.name == "cosine"


def two_widths(*rows, **more):
    """A comparison of vectors of two models: no cosine, so that all is held against the closed-form maps."""
    kept = row(TWO_MODELS.name, scorer=TWO_MODELS)
    return replace(table_of(**more), rows=label_apart([kept, *rows]), baseline=kept.name)


def test_what_is_kept_has_a_name_of_its_own_where_vectors_have_two_widths():
    """Once: "Keep adapter(closed form) + cosine ...: the other scorer gains nothing on cosine's ndcg@10 of 0.7920"."""
    worse = row("adapter(untied) + cosine", change=(-0.1, -0.12, -0.08), p=0.0001, scorer=TWO_MODELS)
    verdict = told(two_widths(worse, most_to_gain=0.0, worth=0.01)).verdict[0]
    assert verdict.startswith("Keep adapter(closed form) + cosine: transform the vectors of documents and queries, and")
    assert "the other scorer gains nothing on adapter(closed form) + cosine's ndcg@10 (quality of" in verdict


def test_what_changes_one_side_alone_says_which_vectors_stay():
    """Once: "Transform the vectors of documents and queries", where --sides query had mapped the queries alone."""
    moved = np.eye(5)[::-1].copy()
    for adapter, words in (
        (AdapterMap(SideAdapter(moved), SideAdapter(), "query"), "queries alone (documents stay as they are)"),
        (AdapterMap(SideAdapter(), SideAdapter(moved), "document"), "documents alone (queries stay as they are)"),
        (AdapterMap(SideAdapter(moved), SideAdapter(moved), "tied"), "documents and queries"),
    ):
        scorer = osp.Scorer(transforms=(adapter,))
        better = row(scorer.name, change=(0.1, 0.08, 0.12), p=0.0001, scorer=scorer)
        verdict = told(table_of(better)).verdict[0]
        assert f": transform the vectors of {words}, and set the index to cosine" in verdict
        said = verdict.partition("instead of cosine: ")[2].partition(". It means")[0]
        assert index_complaints(said, scorer, pairs=False) == []


def test_what_has_no_value_has_a_name_of_its_own_too():
    """Once: "cosine itself has no usable value on it", of vectors that have no cosine."""
    kept = row(TWO_MODELS.name, value=nan, scorer=TWO_MODELS)
    advice = told(replace(two_widths(), rows=[kept]))
    assert advice.verdict[0].endswith("Until that is mended, stay with adapter(closed form) + cosine.")
    assert advice.verdict[2].endswith(": adapter(closed form) + cosine itself has no usable value on it.")


def test_compare_says_what_a_bias_costs():
    """Once ``compare`` recommended "cosine + csls" and only ``audit`` said what serving it takes."""
    bank = QueryBank(np.eye(4, 5, dtype=np.float32), 2, 0.75)
    biased = osp.Scorer(bias=DocumentBias("csls", np.zeros(3), ("a", "b", "c"), bank))
    table = table_of(row("cosine + csls", change=(0.06, 0.03, 0.09), p=0.0001, scorer=biased))
    told(table)
    cost = "when the corpus changes, new documents must be given theirs from the saved bank of 4 queries, and stored"
    assert cost in table.conclusion
    assert cost not in table_of(LOST).conclusion


@pytest.mark.parametrize("units", [3, 9])
def test_a_handful_of_queries_proves_nothing(units):
    relevance = relevance_of((0.5, 0.4, 0.6), (0.5, 0.4, 0.6), (0.5, 0.4, 0.6), (0.5, 0.4, 0.6))
    advice = told(table_of(GAINED, units=units, procedure=chosen(0.06, 0.03, 0.09, 0.004)), relevance)
    assert advice.name == "cosine"
    assert advice.verdict[0].startswith(
        f"Keep cosine: set the index to cosine. Nothing can be told: {units} queries are too"
    )
    assert "Whether vector length helps cannot be told" in advice.verdict[1]
    assert not any("longer" in finding.sentence for finding in advice.findings)


def test_gold_scores_turned_round_say_nothing_of_length():
    table = table_of(GAINED, task={"kind": "pairs", "pairs": 300})
    rows = [replace(each, value=-0.4, high=-0.3) if each.p is None else each for each in table.rows]
    advice = told(replace(table, rows=rows, metric="spearman"), symmetric=True)
    assert advice.verdict[0].startswith("Do not choose by this task: cosine has a spearman of -0.4000")
    assert "Vector length helps" not in advice.verdict[1]


def test_a_chance_on_this_side_of_a_twentieth_is_not_rounded_to_the_other():
    from offsphere.wording.written_numbers import chance

    assert [chance(p) for p in (0.0499, 0.04999, 0.05, 0.0123, 0.00001)] == [
        "p = 0.0499", "p = 0.04999", "p = 0.05", "p = 0.012", "p < 0.0001",
    ]  # fmt: skip
