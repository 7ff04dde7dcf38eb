"""What is learned from, stopped by and judged by is put apart alike, whether vectors or texts are learned from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import OffsphereError
from offsphere.data.judgments import Judgments
from offsphere.data.pair_task import PairTask
from offsphere.data.ranking_task import ItemList, Judgment, RankingTask
from offsphere.data.task_vectors import RankingVectors
from offsphere.learning.adapters.adapter_setup import AdapterSetup
from offsphere.learning.data.probe_rows import probe_rows
from offsphere.learning.data.task_sources import TextSource, VectorSource
from offsphere.learning.data.training_data import TrainingData, divide
from offsphere.learning.data.training_pairs import TrainingPairs
from tests.learning.conftest import hidden

SHORT = {"batch": 64, "epochs": 2, "rate": 0.03}


def described(seed=0):
    """A task of which a text says all that a vector does: both sources must put it apart alike."""
    task, vectors = hidden(seed=seed)
    texts = [[" ".join(f"{value:.5f}" for value in row) for row in side] for side in vectors.sides]
    judged = [
        Judgment(task.query_ids[query], task.document_ids[document], 1.0)
        for query, document in zip(task.judgments.queries, task.judgments.documents, strict=True)
    ]
    named = RankingTask.build("task", ItemList(task.query_ids, texts[0]), ItemList(task.document_ids, texts[1]), judged)
    return TextSource(named), VectorSource(named, vectors)


SOURCES = pytest.mark.parametrize("kind", [0, 1], ids=["texts", "vectors"])


@SOURCES
def test_what_training_stops_by_is_not_learned_from(kind):
    source = described()[kind]
    held_out = source.only(np.arange(40, 80))
    data = TrainingData.of(source, held_out=held_out)
    assert not np.isin(data.rows, np.arange(40, 80)).any()
    assert (len(data.rows), data.held_out_too, data.judged_too) == (200, 40, 0)


@SOURCES
def test_what_is_judged_by_is_neither_learned_from_nor_stopped_by(kind):
    source = described()[kind]
    judged = source.only(np.arange(50))
    data = TrainingData.of(source, held_out=source.only(np.arange(30, 80)), judged=[judged])
    assert set(data.held_out.unit_keys()) == set(source.unit_keys()[50:80])
    assert data.rows.tolist() == list(range(80, 240))
    assert (data.judged_too, data.held_out_too) == (50, 30)


@SOURCES
def test_further_sources_are_learned_from_without_what_is_judged_or_stopped_by(kind):
    source = described()[kind]
    own, further = source.only(np.arange(40)), source.only(np.arange(40, 120))
    judged, held_out = source.only(np.arange(100, 140)), source.only(np.arange(90, 110))
    data = TrainingData.of(own, also=[further, judged], held_out=held_out, judged=[judged])
    (learned,) = data.also  # of the second nothing is left
    assert list(learned.unit_keys()) == list(source.unit_keys())[40:90]
    assert (data.judged_too, data.held_out_too) == (20 + 40, 10)
    pairs = data.pairs(repeat=1)
    assert len(pairs) == pairs.distinct == 90
    untouched = TrainingData.of(own, also=[further], judged=[described(seed=1)[kind]])
    assert untouched.also[0] is further


@SOURCES
def test_held_out_data_that_is_judged_by_is_refused(kind):
    source = described()[kind]
    held_out = source.only(np.arange(40))
    with pytest.raises(OffsphereError, match=r"task: it is judged by too: stop by other data \(--held-out\)"):
        TrainingData.of(source, held_out=held_out, judged=[held_out])


def test_adapt_does_not_learn_from_what_it_stops_by():
    """Nor does it say so where it does not."""
    task, vectors = hidden()
    rows = np.arange(60)
    held_out = (task.only(rows), vectors.only(rows))
    adapter = osp.adapt(task, vectors, held_out=held_out, **SHORT)
    assert adapter.record.counts["pairs"] == 180
    assert adapter.record.counts["held_out"] == 60
    assert "60 queries are among those training stops by, and were not learned from" in adapter.record.notes
    elsewhere = osp.adapt(task, vectors, held_out=hidden(seed=1), **SHORT)
    assert elsewhere.record.counts["pairs"] == 240
    assert not elsewhere.record.notes


def test_an_adapter_setup_refuses_held_out_data_that_is_judged_by():
    task, vectors = hidden()
    part = (task.only(np.arange(60)), vectors.only(np.arange(60)))
    with pytest.raises(OffsphereError, match="it is judged by too: stop by other data"):
        AdapterSetup.of((task, vectors), held_out=part, judged=[part])


@pytest.mark.parametrize("new_documents", [False, True])
def test_texts_and_vectors_of_one_task_are_put_apart_alike(new_documents):
    test = [source.only(np.arange(30)) for source in described()]
    texts, vectors = (
        TrainingData.of(source, judged=[judged], seed=3, new_documents=new_documents)
        for source, judged in zip(described(), test, strict=True)
    )
    assert texts.rows.tolist() == vectors.rows.tolist()
    assert texts.held_out.task.query_ids == vectors.held_out.task.query_ids
    assert texts.metric == vectors.metric == "ndcg@10"
    assert texts.seen_units(test[0]).tolist() == vectors.seen_units(test[1]).tolist()
    pairs = [data.pairs() for data in (texts, vectors)]
    assert pairs[0].queries.tolist() == pairs[1].queries.tolist()
    assert pairs[0].documents.tolist() == pairs[1].documents.tolist()
    assert pairs[0].distinct == pairs[1].distinct
    for by_judged in (False, True):
        probes = [
            probe_rows(data.held_out.task, data.held_out.positives(), 10, 5, data.wanted_documents(by_judged=by_judged))
            for data in (texts, vectors)
        ]
        assert all(np.array_equal(*rows) for rows in zip(*probes, strict=True))


def test_which_queries_ask_for_documents_that_were_learned_from():
    task, vectors = hidden()
    source = VectorSource(task, vectors)
    half = np.arange(0, 240, 2)
    data = TrainingData.of(source.only(half), held_out=VectorSource(*hidden(seed=1)))
    learned = set(task.judgments.documents[half].tolist())
    expected = [int(document) in learned for document in task.judgments.documents]
    assert data.seen_units(source).tolist() == expected


def test_a_copy_of_a_query_that_was_put_aside_is_learned_from_only_where_one_says_so():
    task, vectors = hidden()
    copied = RankingVectors.of(task, np.repeat(vectors.queries[:120], 2, axis=0), vectors.documents)
    aside, left = (
        TrainingData.of(VectorSource(task, copied)),
        TrainingData.of(VectorSource(task, copied), learn_copies=True),
    )
    assert aside.held_out_too > 0
    assert left.held_out_too == 0
    assert not set(copied.unit_keys()[aside.rows]) & set(aside.held_out.unit_keys())
    assert set(copied.unit_keys()[left.rows]) & set(left.held_out.unit_keys())


def with_excluded(source, shift):
    """The same source, whose queries must not get some document."""
    task = source.task
    documents = (np.arange(task.units) + shift) % len(task.document_ids)
    excluded = Judgments.of(np.arange(task.units), documents, np.ones(task.units), task.units, len(task.document_ids))
    return replace(source, task=replace(task, excluded=excluded))


@SOURCES
def test_the_digest_is_of_all_that_a_result_depends_on(kind):
    source = described()[kind]
    judged = described(seed=1)[kind]
    digest = TrainingData.of(source, judged=[judged]).digest()
    assert TrainingData.of(described()[kind], judged=[described(seed=1)[kind]]).digest() == digest
    judgments = replace(source.task.judgments, documents=np.roll(source.task.judgments.documents, 1))
    others = [
        TrainingData.of(source),
        TrainingData.of(source, judged=[judged], seed=1),
        TrainingData.of(source, judged=[judged], metric="mrr@10"),
        TrainingData.of(source, judged=[judged], also=[described(seed=2)[kind]]),
        TrainingData.of(replace(source, task=replace(source.task, judgments=judgments)), judged=[judged]),
        TrainingData.of(with_excluded(source, 1), judged=[judged]),
        TrainingData.of(with_excluded(source, 2), judged=[judged]),
        TrainingData.of(source, judged=[with_excluded(judged, 1)]),
        TrainingData.of(source, judged=[judged], held_out=with_excluded(described(seed=2)[kind], 1)),
        TrainingData.of(source, judged=[judged], held_out=described(seed=2)[kind]),
        TrainingData.of(described(seed=2)[kind], judged=[judged]),
    ]
    digests = [data.digest() for data in others]
    assert len({digest, *digests}) == 1 + len(others)


def test_a_probe_has_no_query_and_no_document_twice():
    task, vectors = hidden(queries=300, documents=100)
    rows = probe_rows(task, VectorSource(task, vectors).positives(), 40, 1)
    assert len(set(rows.queries.tolist())) == len(set(rows.documents.tolist())) == 40
    assert not task.relevant_to_any()[rows.others].any()
    assert task.judgments.documents[rows.queries].tolist() == rows.documents.tolist()


def test_pairs_of_texts_are_divided_and_say_so():
    gold = np.tile([0.0, 2.0, 5.0], 20)
    texts = [f"text {number}" for number in range(60)]
    task = PairTask("pairs", gold, texts, texts)
    division = divide(TextSource(task), 0)
    assert (division.train.task.units, division.test.task.units) == (42, 18)
    assert not set(division.train.unit_keys()) & set(division.test.unit_keys())
    assert division.note == "there is no other split to judge by: 30% of the pairs are kept from training for it"


def test_what_is_not_learned_from_is_no_negative_where_all_is_known():
    source, _ = described()
    rows = np.arange(100)
    some, every = (TrainingPairs.of(source, rows, know_all=know_all) for know_all in (False, True))
    assert len(some) == len(every) == 100
    assert len(some.known) == 100
    assert len(every.known) == 240


def test_texts_of_several_sources_have_one_numbering():
    first, _ = described()
    second = first.only(np.arange(10, 20))
    pairs = TrainingPairs.of(first, also=[second])
    queries, documents = pairs.keys(np.arange(len(pairs)))
    assert queries[-10:].tolist() == queries[10:20].tolist()
    assert documents[-10:].tolist() == documents[10:20].tolist()
    assert pairs.distinct == 240
