"""Answers: SQuAD's definitions on published examples, answers looked for in passages, and files that have them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError
from offsphere.data.answer_text import answer_f1, exact_match, normalize_answer

# the examples of the metric "squad" in Hugging Face's evaluate: predictions, answers, and both values in per cent
PUBLISHED = [
    (["1976"], [["1976"]], 100.0, 100.0),
    (["1999"], [["1976"]], 0.0, 0.0),
    (
        ["1976", "Beyonce", "climate change"],
        [["1976"], ["Beyoncé and Bruno Mars"], ["climate change"]],
        66.66666666666667,
        66.66666666666667,
    ),
]


@pytest.mark.parametrize(("predictions", "answers", "exact", "f1"), PUBLISHED)
def test_exact_match_and_f1_are_those_that_were_published(predictions, answers, exact, f1):
    pairs = list(zip(predictions, answers, strict=True))
    assert 100 * np.mean([exact_match(*pair) for pair in pairs]) == pytest.approx(exact)
    assert 100 * np.mean([answer_f1(*pair) for pair in pairs]) == pytest.approx(f1)


def test_the_best_of_several_answers_counts_and_words_count_as_often_as_they_stand_there():
    """Worked out by hand from the definition in Rajpurkar et al. 2016, section 6."""
    assert exact_match("the broncos", ["Denver Broncos", "Broncos"]) == 1
    assert answer_f1("Denver the Denver", ["Denver Broncos"]) == pytest.approx(2 * (1 / 2) * (1 / 2) / 1)
    assert answer_f1("in June 1976", ["1976", "June 1976"]) == pytest.approx(0.8)
    assert normalize_answer(" An  apple, a\tday -- THE end!") == "apple day end"
    assert answer_f1("the", ["a"]) == 1  # both are nothing once articles are gone


def write(folder, queries, corpus, qrels):
    for name, entries in (("queries", queries), ("corpus", corpus)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"{q}\t{d}\t1\n" for q, d in qrels)
    )
    return folder


QUERIES = [
    {"_id": "q0", "text": "who?", "answers": ["Ann Lee", "Lee"], "type": "bridge"},
    {"_id": "q1", "text": "when?", "answer": "in 1976", "type": "date"},
    {"_id": "q2", "text": "what?", "answers": ["cat"], "type": "bridge"},
]
CORPUS = [
    {"_id": "d0", "text": "It was Ann  LEE, they say."},
    {"_id": "d1", "text": "In 1976."},
    {"_id": "d2", "text": "A catalogue of dogs."},  # holds no cat as a word
    {"_id": "d3", "text": "The cat, of course"},
]
QRELS = [("q0", "d0"), ("q1", "d1"), ("q1", "d0"), ("q2", "d2")]


@pytest.fixture
def answered(tmp_path):
    return osp.load_task(write(tmp_path, QUERIES, CORPUS, QRELS))


def test_answers_and_groups_are_read_and_hops_are_counted(answered):
    assert answered.answers == [["Ann Lee", "Lee"], ["in 1976"], ["cat"]]
    groups = {grouping.name: list(grouping.labels) for grouping in answered.groups}
    assert groups == {"type": ["bridge", "date", "bridge"], "hops": ["1", "2", "1"]}
    assert answered.family.roles == "two roles"
    assert answered.only(np.array([2, 0])).answers == [["cat"], ["Ann Lee", "Lee"]]


def test_an_answer_is_found_as_whole_words_among_the_first_passages(answered):
    rows = np.eye(4, dtype=np.float32)
    order = np.array([[9, 1, 1, 1], [1, 1, 9, 8], [5, 1, 9, 4]], np.float32)  # scores of each query, by document
    vectors = answered.vectors(order, rows)
    told = {
        metric: osp.compare(answered, vectors, ["dot"], metric=metric)["dot"].values.tolist()
        for metric in ("answer-recall@1", "answer-recall@2", "answer-recall@3", "full-recall@2", "full-recall@4")
    }
    assert told == {
        "answer-recall@1": [1, 0, 0],
        "answer-recall@2": [1, 0, 0],  # d0 holds no cat, the catalogue neither
        "answer-recall@3": [1, 0, 1],
        "full-recall@2": [1, 0, 1],
        "full-recall@4": [1, 1, 1],
    }


def test_a_task_without_groups_says_so():
    task = osp.RankingTask.from_judgments({"q": {"d": 1}, "r": {"d": 1}}, ["d", "e"])
    rows = np.eye(2, dtype=np.float32)
    with pytest.raises(OffsphereError, match="none: its queries carry no groups"):
        osp.compare(task, task.vectors(rows, rows), ["dot"], by="hops")
    with pytest.raises(OffsphereError, match=r"metric answer-recall@5 does not fit task: use ndcg@10"):
        osp.compare(task, task.vectors(rows, rows), ["dot"], metric="answer-recall")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([], r"queries.jsonl:2: the list of answers is empty: give at least one answer, or leave the query out"),
        (["  "], r"queries.jsonl:2: the list of answers is empty"),
        (None, r"queries.jsonl:2: the answers are None: expected a list of texts"),
        ([7], r"queries.jsonl:2: the answers are \[7\]: expected a list of texts"),
    ],
)
def test_answers_that_are_none_are_named_by_their_line(tmp_path, answers, message):
    queries = [QUERIES[0], {"_id": "q1", "text": "when?", "answers": answers}]
    with pytest.raises(DataError, match=message):
        osp.load_task(write(tmp_path, queries, CORPUS, QRELS[:2]))
