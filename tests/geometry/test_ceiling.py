from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
from scipy.stats import spearmanr

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.geometry.ceiling import ceiling_of
from offsphere.geometry.query_nearness import nearness_by_fold
from offsphere.geometry.spread import spread_of
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.equivalence import usual_worth
from tests.geometry.planted_documents import known_items, popular


@pytest.fixture(scope="module")
def measured():
    """The ceilings of all planted tasks."""
    tasks = {
        "popular": popular(),
        "apart": popular(lengths="apart"),
        "known": known_items(),
        "hubs": known_items(hubs=12),
    }
    return {name: osp.measure(*task, ["ceiling"]).ceiling for name, task in tasks.items()}


def test_popularity_that_lengths_hold_is_found_in_them(measured):
    ceiling = measured["popular"]
    assert ceiling.row("length").better
    assert ceiling.row("prior").better
    assert ceiling.row("bias").better
    # not zero: nearness is to queries that do not want the document, and of two documents as near the more popular one
    # loses more of its nearest queries by that, so that taking nearness away favours it: a shadow of the prior
    assert ceiling.row("correction").gain.value < 0.2 * ceiling.row("prior").gain.value
    assert ceiling.row("length").gain.value > 0.8 * ceiling.row("prior").gain.value


def test_popularity_that_lengths_do_not_hold_is_found_and_not_in_them(measured):
    ceiling = measured["apart"]
    assert ceiling.row("prior").better
    assert ceiling.row("bias").better
    assert not ceiling.row("length").better
    assert ceiling.row("length").gain.value < 0.1 * ceiling.row("prior").gain.value


def test_hubs_are_a_correction_and_no_prior(measured):
    ceiling = measured["hubs"]
    assert ceiling.row("correction").better
    assert ceiling.row("prior").gain == (0.0, 0.0, 0.0)
    assert ceiling.top.kind in ("correction", "bias", "weight")
    assert "only a function of length or a correction of hubs can carry over" in ceiling.sentence


def test_known_items_with_neither_have_a_ceiling_of_zero(measured):
    """Not even that what was wanted is not wanted again, which is how the judgments were drawn, may be learned."""
    ceiling = measured["known"]
    assert not any(row.better for row in ceiling.rows)
    assert ceiling.row("prior").gain.value == 0
    assert ceiling.most < usual_worth(ceiling.cosine)  # which is when the verdict says to stop looking


def test_the_bound_on_known_items_falls_as_there_are_more_queries():
    """A bound lies about two standard errors above what was seen: with 240 queries at 0.016, with 960 below 0.01."""
    ceiling = osp.measure(*known_items(documents=960), ["ceiling"]).ceiling
    assert not any(row.better for row in ceiling.rows)
    assert ceiling.most < 0.01


def test_popularity_casts_a_shadow_on_nearness_to_those_who_do_not_want_a_document():
    task, vectors = popular()
    folds, wanted = assign_folds(task.units, 5, 0), np.bincount(task.positives()[1], minlength=240)
    nobody = (np.zeros(0, int), np.zeros(0, int))
    (without, *_), (everyone, *_) = (
        [means for (means,) in nearness_by_fold(*vectors.sides, pairs, folds, [10])]
        for pairs in (task.positives(), nobody)
    )
    assert spearmanr(without, wanted).statistic < spearmanr(everyone, wanted).statistic - 0.2


def test_cosine_is_what_compare_says_it_is(measured):
    task, vectors = popular()
    table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
    assert measured["popular"].cosine == pytest.approx(table["cosine"].value, abs=1e-12)


def test_what_the_dot_product_gains_a_curve_of_length_gains_too(measured):
    task, vectors = popular()
    table = osp.compare(task, vectors, [osp.parse_scorer("dot")])
    assert measured["popular"].row("length").gain.value > 0.8 * table["dot"].difference > 0


def test_everything_is_json(measured):
    from offsphere.base.plain import plain

    for ceiling in measured.values():
        again = json.loads(json.dumps(plain(ceiling), allow_nan=False))
        assert again["spread"]["documents"] in (240, 252)
        assert [row["kind"] for row in again["rows"]] == ["prior", "correction", "bias", "weight", "length"]


def test_a_gain_by_chance_is_seldom_called_sure():
    """Of forty tasks whose options are noise, hardly any has a row that is better; 5 % of them may."""
    rng = np.random.default_rng(0)
    spread, folds = spread_of(np.ones(60, int)), assign_folds(60, 5, 0)
    alarms = 0
    for seed in range(40):
        cosine = rng.uniform(size=60)
        noise = {kind: cosine + rng.normal(0, 0.1, (2, 60)) for kind in ("prior", "bias", "length")}
        rows = ceiling_of("ndcg@10", {"cosine": cosine, **noise}, folds, spread, seed).rows
        alarms += any(row.better for row in rows)
    assert alarms <= 5


def test_what_a_query_must_not_get_is_no_rival():
    from dataclasses import replace

    from offsphere.data.judgments import Judgments
    from offsphere.geometry.evidence import Evidence
    from offsphere.geometry.rival_lists import rival_lists
    from offsphere.geometry.sides import sides_of

    task, vectors = popular()
    nearest = osp.search(vectors.queries, vectors.documents, [osp.Scorer()], k=5)[0].documents
    wanted = task.judgments.gains(nearest) > 0
    rows = np.repeat(np.arange(task.units), 5)[~wanted.ravel()]
    excluded = Judgments.of(rows, nearest[~wanted], np.ones(len(rows)), task.units, 240)
    task = replace(task, excluded=excluded)
    lists = rival_lists(Evidence(sides=sides_of(vectors, task), embedded=(task, vectors)), np.arange(task.units))
    assert not (excluded.gains(lists.documents) > 0).any()
    assert (lists.present.sum(axis=1) > 40).all()
    counted = np.where(lists.present, np.exp(lists.stands_for), 0).sum(axis=1)
    assert counted == pytest.approx(240 - excluded.relevant, abs=1e-6)  # a list stands for all that the query may get


def test_a_ceiling_needs_queries_and_judgments():
    rows = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    pairs = osp.PairTask("pairs", np.arange(30.0))
    with pytest.raises(OffsphereError, match="it needs a ranking task"):
        osp.measure(pairs, osp.PairVectors.of(pairs, rows, rows[::-1].copy()), ["ceiling"])
    few = osp.RankingTask.from_judgments({"q": {"d0": 1}, "p": {"d1": 1}}, [f"d{n}" for n in range(30)])
    with pytest.raises(OffsphereError, match="at least 10 queries"):
        osp.measure(few, osp.RankingVectors.of(few, rows[:2], rows), ["ceiling"])


def test_a_ceiling_keeps_no_copy_of_the_documents_in_memory(monkeypatch):
    """What is made of all documents waits in a file, and numbers of documents are forgotten when they were measured."""
    monkeypatch.setattr("offsphere.base.spilled.SMALL", 1 << 20)
    count, queries = 60_000, 60
    rng = np.random.default_rng(0)
    documents = rng.standard_normal((count, 192), np.float32) * rng.lognormal(0, 0.3, (count, 1)).astype(np.float32)
    wanted = rng.integers(0, count, queries)
    judgments = {f"q{row}": {f"d{number}": 1} for row, number in enumerate(wanted)}
    task = osp.RankingTask.from_judgments(judgments, [f"d{row}" for row in range(count)])
    asked = documents[wanted] + rng.standard_normal((queries, 192), np.float32)
    vectors = osp.RankingVectors.of(task, asked, documents)
    osp.measure(task, vectors, ["lengths"])
    tracemalloc.start()
    osp.measure(task, vectors, ["ceiling"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * documents.nbytes  # of which blocks of 16,384 are a part; nearly six times as much once
