"""The one face of tasks: two kinds against answers worked out by hand, and a third kind that is written here."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.arrays import Index
from offsphere.base.cache import Memo
from offsphere.base.errors import DataError, ParameterError, VectorError
from offsphere.data.grouping import Grouping
from offsphere.data.items import ItemList
from offsphere.data.judgments import Judgment, Judgments
from offsphere.data.task import NO_PAIRS, Task, TaskSide, TaskVectors, check_kind, check_row_counts, items_of
from offsphere.data.task_digest import digest_of_task
from offsphere.statistics.evaluation import MeanOverQueries
from offsphere.statistics.metrics import QualityMetric, parse_metric


def ranking_task(split="dev") -> osp.RankingTask:
    """Three of four listed queries have a relevant document among five; q1 must not get d4, nor q3 d0."""
    queries = ItemList(["q0", "q1", "q2", "q3"], ["zero", "one two", "", "three"])
    documents = ItemList([f"d{n}" for n in range(5)], ["a", "b c", "d e f", "", "g"])
    judged = [
        Judgment("q3", "d1", 2.0),
        Judgment("q0", "d1", 1.0),
        Judgment("q0", "d0", 0.0),
        Judgment("q1", "d3", 1.0),
        Judgment("q1", "d2", -1.0),
        Judgment("q2", "d4", 0.0),
    ]
    hops = [Grouping("hops", ["2", "2", "9", "3"]), Grouping("type", ["a", "b", "c", "a"])]
    task = osp.RankingTask.build("small", queries, documents, judged, split=split, groups=hops)
    excluded = Judgments.of(np.array([1, 2]), np.array([4, 0]), np.ones(2), 3, 5)
    return replace(task, excluded=excluded, notes=("a note", "a second one"))


def pair_task(split=None) -> osp.PairTask:
    gold = np.array([0.0, 4.0, 5.0, 3.9])
    return osp.PairTask("pairs", gold, ["a", "b", "c", "d e"], ["w", "x", "y", ""], split)


def as_lists(pairs: tuple[Index, Index]) -> list[list[int]]:
    return [rows.tolist() for rows in pairs]


def test_units_sides_and_metrics_of_a_ranking():
    task = ranking_task()
    assert (task.units, task.unit, task.symmetric) == (3, "queries", False)  # q2 has nothing relevant
    queries, documents = task.sides
    assert queries == TaskSide(
        "query", "queries", "queries-dev", ["q0", "q1", "q3"], ["zero", "one two", "three"], ["q0", "q1", "q2", "q3"]
    )
    assert (documents.name, documents.plural, documents.stored_as) == ("document", "documents", "documents")
    assert list(documents.ids) == ["d0", "d1", "d2", "d3", "d4"]
    assert ranking_task("test").sides[0].stored_as == "queries"
    assert [task.fits(parse_metric(name)) for name in (task.usual_metric, "pooled-ap", "spearman")] == [
        True,
        True,
        False,
    ]


def test_units_sides_and_metrics_of_pairs():
    task = pair_task("train")
    assert (task.units, task.unit, task.symmetric, task.made) == (4, "pairs", True, None)
    left, right = task.sides
    assert left == TaskSide("left", "left", "left-train", None, ["a", "b", "c", "d e"])
    assert right == TaskSide("right", "right", "right-train", None, ["w", "x", "y", ""])
    assert [task.fits(parse_metric(name)) for name in (task.usual_metric, "ndcg@10")] == [True, False]


def test_positives_negatives_and_what_is_neither():
    task = ranking_task()
    assert as_lists(task.positives()) == [[0, 1, 2], [1, 3, 1]]
    assert as_lists(task.judged_negatives()) == [[0, 1], [0, 2]]
    assert as_lists(task.excluded_pairs()) == [[1, 2], [4, 0]]
    assert task.relevant_to_any().tolist() == [False, True, False, True, False]
    assert as_lists(replace(task, excluded=None).excluded_pairs()) == [[], []]


def test_positives_of_pairs_are_the_upper_fifth_of_the_scale():
    task = pair_task()
    assert as_lists(task.positives()) == [[1, 2], [1, 2]]  # at least 4 of 5; 3.9 is too low
    assert as_lists(task.judged_negatives()) == as_lists(task.excluded_pairs()) == [[], []]
    assert task.relevant_to_any() is None


def test_summaries_and_what_was_left_out():
    task = ranking_task()
    assert task.summary() == {
        "name": "small",
        "kind": "ranking",
        "family": "retrieval",
        "symmetric": False,
        "split": "dev",
        "queries": 3,
        "documents": 5,
        "judgments": 5,
        "queries_left_out": 1,
        "judgments_ignored": 0,
        "judgments_made": None,
    }
    left_out = "1 judged queries have no relevant document and are left out"
    assert task.warnings() == ["a note", "a second one", left_out]
    assert task.info() == task.summary() | {
        "exchange": "a query asks, a document answers: they cannot be exchanged",
        "groups_by_hops": "2 2, 3 1",
        "groups_by_type": "a 2, b 1",
        "relevant_per_query": 1.0,
        "query_words_mean": 4 / 3,
        "query_texts_empty": 0,
        "document_words_mean": 7 / 5,
        "document_texts_empty": 1,
    }
    pairs = pair_task()
    assert pairs.summary() == {
        "name": "pairs",
        "kind": "pairs",
        "family": "pairs",
        "symmetric": True,
        "split": None,
        "pairs": 4,
    }
    assert pairs.warnings() == []
    assert pairs.info() == pairs.summary() | {
        "exchange": "left and right mean the same to each other: they may be exchanged",
        "lowest_gold": 0.0,
        "highest_gold": 5.0,
        "left_words_mean": 1.25,
        "left_texts_empty": 0,
        "right_words_mean": 0.75,
        "right_texts_empty": 1,
    }
    assert osp.PairTask("vectors alone", np.arange(3.0)).info()["left_texts"] == "none"


def test_what_was_kept_for_one_task_is_not_taken_for_another(tmp_path, monkeypatch):
    """What a query must not get decides the value as much as what it should get."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(40, 4)).astype(np.float32)
    queries = documents[:12] + 0.1 * rng.normal(size=(12, 4)).astype(np.float32)
    judged = {f"q{row}": {f"d{row + 12}": 1.0} for row in range(12)}
    task = osp.RankingTask.from_judgments(judged, [f"d{row}" for row in range(40)])
    rows = np.arange(12)
    apart = replace(task, excluded=Judgments.of(rows, rows, np.ones(12), 12, 40))
    vectors = osp.RankingVectors.of(task, queries, documents)
    values = [osp.audit(each, vectors, cache=cache).table["cosine"].value for each in (task, apart) for cache in (1, 0)]
    assert values[0] == values[1]
    assert values[2] == values[3]
    assert values[0] != values[2]


def test_a_part_of_a_ranking_has_its_queries_in_the_order_asked_for():
    part = ranking_task().only(np.array([2, 0]), "part")
    assert list(part.query_ids) == ["q3", "q0"]
    assert list(part.query_texts) == ["three", "zero"]
    assert as_lists(part.positives()) == [[0, 1], [1, 1]]
    assert as_lists(part.judged_negatives()) == [[1], [0]]
    assert as_lists(part.excluded_pairs()) == [[0], [0]]
    assert part.groups == [Grouping("hops", ["3", "2"]), Grouping("type", ["a", "a"])]
    assert (part.split, part.units, len(part.document_ids)) == ("part", 2, 5)
    assert part.sides[0].stored_as == "queries-part"
    assert ranking_task().only(np.array([0])).split == "dev"


def test_a_part_of_pairs():
    part = pair_task("test").only(np.array([3, 0, 1]))
    assert part.gold.tolist() == [3.9, 0, 4]
    assert (part.left_texts, part.right_texts, part.split) == (["d e", "a", "b"], ["", "w", "x"], "test")
    with pytest.raises(DataError, match="2 pairs are too few"):
        part.only(np.array([0, 1]))


def test_rows_to_learn_from_and_rows_to_judge_by_part_all_units():
    judged = {f"q{n}": {f"d{n // 2}": 1} for n in range(20)}
    ranking = osp.RankingTask.from_judgments(judged, [f"d{n}" for n in range(10)])
    pairs = osp.PairTask("pairs", np.arange(20.0))
    for task in (ranking, pairs):
        learned, kept = task.rows_apart(0.2, seed=1)
        assert sorted([*learned, *kept]) == list(range(20))
        assert len(kept) == 4
        assert as_lists(task.rows_apart(0.2, seed=1)) == as_lists((learned, kept))
        assert as_lists(task.rows_apart(0.2, seed=2)) != as_lists((learned, kept))
    learned, kept = ranking.rows_apart(0.2, seed=1, by_document=True)
    assert not {row // 2 for row in learned.tolist()} & {row // 2 for row in kept.tolist()}
    with pytest.raises(ParameterError, match="pairs has pairs, no documents that could be new"):
        pairs.rows_apart(0.2, seed=1, by_document=True)
    assert len(osp.PairTask("few", np.arange(5.0)).rows_apart(0.2, seed=0)[1]) == 3  # what a correlation needs


def test_fewer_documents_are_all_that_are_judged_and_others_at_random():
    judged = {"q0": {"d7": 1, "d3": 0}, "q1": {"d5": 2}}
    task = osp.RankingTask.from_judgments(judged, [f"d{n}" for n in range(10)])
    task = replace(
        task,
        document_texts=[f"text {n}" for n in range(10)],
        excluded=Judgments.of(np.array([0, 1]), np.array([5, 9]), np.ones(2), 2, 10),
    )
    fewer = task.with_fewer_documents(3, seed=0)
    assert list(fewer.document_ids) == ["d3", "d5", "d7"]
    assert list(fewer.document_texts) == ["text 3", "text 5", "text 7"]
    assert as_lists(fewer.positives()) == [[0, 1], [2, 1]]
    assert as_lists(fewer.judged_negatives()) == [[0], [0]]
    assert as_lists(fewer.excluded_pairs()) == [[0], [1]]  # d9 is gone, d5 is what q0 must not get
    some = task.with_fewer_documents(6, seed=0)
    assert {"d3", "d5", "d7"} < set(some.document_ids)
    assert len(some.document_ids) == 6
    assert list(some.document_ids) == list(task.with_fewer_documents(6, seed=0).document_ids)
    assert task.with_fewer_documents(10, seed=0) is task
    assert task.with_fewer_documents(1, seed=0).document_ids == ["d3", "d5", "d7"]  # what is judged stays
    pairs = pair_task()
    assert pairs.with_fewer_documents(1, seed=0) is pairs


def test_units_are_known_by_their_items():
    assert ranking_task().unit_items() == ["zero", "one two", "three"]
    assert pair_task().unit_items() == [("a", "w"), ("b", "x"), ("c", "y"), ("d e", "")]
    assert ranking_task().items_to_view(np.array([0])) == ["a", "b c", "d e f", "", "g"]
    assert pair_task().items_to_view(np.array([2, 0])) == ["c", "a", "y", "w"]
    for task in (osp.PairTask("bare", np.arange(3.0)), osp.RankingTask.from_judgments({"q": {"d": 1}}, ["d"], "bare")):
        with pytest.raises(DataError, match="bare has no texts, only vectors or ids: they are read aloud"):
            items_of(task, ": they are read aloud")


def rows(count: int, seed: int = 0):
    return np.random.default_rng(seed).standard_normal((count, 6)).astype(np.float32)


def test_vectors_of_another_kind_or_number_are_refused():
    ranking, pairs = ranking_task(), pair_task()
    of_ranking, of_pairs = ranking.vectors(rows(3), rows(5)), pairs.vectors(rows(4), rows(4))
    ranking.check(of_ranking)
    pairs.check(of_pairs)
    with pytest.raises(VectorError, match="small is not a task for PairVectors"):
        ranking.check(of_pairs)
    with pytest.raises(VectorError, match="pairs is not a task for RankingVectors"):
        pairs.check(of_ranking)
    with pytest.raises(VectorError, match="there are vectors of 3 queries, small has 1: a part of a task needs"):
        ranking.only(np.array([0])).check(of_ranking)
    with pytest.raises(VectorError, match="there are vectors of 5 documents, small has 4"):
        ranking.with_fewer_documents(4, 0).check(of_ranking)
    with pytest.raises(VectorError, match="there are vectors of 4 pairs, pairs has 3"):
        pairs.only(np.array([0, 1, 2])).check(of_pairs)
    with pytest.raises(VectorError, match="there are 4 query vectors for 3 of the task's query ids"):
        ranking.vectors(rows(4), rows(5))
    with pytest.raises(VectorError, match="there are 3 left vectors for 4 pairs"):
        pairs.vectors(rows(3), rows(4))


def test_vectors_of_a_part_keep_tokens_and_what_is_empty():
    tokens = np.array([1, 2, 3], np.int32), np.array([9, 8, 7, 6, 5], np.int32)
    vectors = ranking_task().vectors(rows(3), rows(5), tokens)
    part = vectors.only(np.array([2, 0]))
    assert (part.queries == vectors.queries[[2, 0]]).all()
    assert part.documents is vectors.documents
    assert [counts.tolist() for counts in part.tokens] == [[3, 1], [9, 8, 7, 6, 5]]
    assert part.unit_keys().tolist() == vectors.unit_keys()[[2, 0]].tolist()
    left = rows(4)
    left[1] = 0
    pairs = pair_task().vectors(left, rows(4, 1), (None, np.arange(4, dtype=np.int32)))
    half = pairs.only(np.array([3, 1]))
    assert half.empty == pairs.empty == ["left 'row 1'"]
    assert half.tokens[0] is None
    assert half.tokens[1].tolist() == [3, 1]
    assert half.unit_keys().tolist() == pairs.unit_keys()[[3, 1]].tolist()


def test_transforms_are_fitted_on_documents_or_on_both_sides():
    ranking, pairs = ranking_task().vectors(rows(3), rows(5)), pair_task().vectors(rows(4), rows(4, 1))
    assert [len(part) for part in ranking.fitted_on] == [5]
    assert [len(part) for part in pairs.fitted_on] == [4, 4]
    assert (ranking.dimension, pairs.dimension) == (6, 6)
    assert [side.name for side in (*ranking.unnamed_sides, *pairs.unnamed_sides)] == [
        "query",
        "document",
        "left",
        "right",
    ]


OPTIONS = 4  # of each question


@dataclass(frozen=True)
class ChoiceTask:
    """A third kind: each question has options of its own, of which one is right. Nothing else is searched."""

    name: str
    right: Index  # the number of the right option of each question
    split: str | None = None
    made: str | None = None
    unit = "queries"
    symmetric = False
    groups = ()
    usual_metric = "mrr@4"
    fitting_metrics = "mrr@4, success@1"

    @property
    def units(self):
        return len(self.right)

    @property
    def sides(self):
        questions = [f"question {n}" for n in range(self.units)]
        options = [f"option {n % OPTIONS} of {n // OPTIONS}" for n in range(OPTIONS * self.units)]
        return TaskSide("query", "questions", "questions", questions), TaskSide(
            "document", "options", "options", options
        )

    def fits(self, metric: QualityMetric):
        return metric.kind == "ranking"

    def positives(self):
        questions = np.arange(self.units)
        return questions, questions * OPTIONS + self.right

    def judged_negatives(self):
        grades = np.ones((self.units, OPTIONS))
        grades[np.arange(self.units), self.right] = 0
        questions, options = np.nonzero(grades)
        return questions, questions * OPTIONS + options

    def excluded_pairs(self):
        return NO_PAIRS

    def relevant_to_any(self):
        return np.isin(np.arange(OPTIONS * self.units), self.positives()[1])

    def digest(self):
        return digest_of_task(self)

    def summary(self):
        return {"name": self.name, "kind": "choice", "split": self.split, "queries": self.units}

    info = summary

    def warnings(self):
        return []

    def only(self, rows, split=None):
        return replace(self, right=self.right[rows], split=split or self.split)

    def rows_apart(self, share, seed, *, by_document=False):
        order = np.random.default_rng(seed).permutation(self.units)
        kept = int(share * self.units)
        return np.sort(order[kept:]), np.sort(order[:kept])

    def with_fewer_documents(self, most, seed):
        return self

    def unit_items(self):
        return list(items_of(self)[0])

    def items_to_view(self, rows):
        return list(items_of(self)[1])

    def vectors(self, first, second, tokens=(None, None)):
        return osp.RankingVectors.of(self, first, second)

    def check(self, vectors: TaskVectors):
        check_kind(self, vectors, osp.RankingVectors)
        asking, asked = vectors.sides
        counts = [("questions", self.units, len(asking)), ("options", OPTIONS * self.units, len(asked))]
        check_row_counts(self, counts)

    def evaluator(self, vectors, metric, folds, progress=None, memo=None):
        self.check(vectors)
        return ChoiceEvaluator(self, vectors, metric, folds)


@dataclass(frozen=True)
class ChoiceEvaluator:
    """Ranks the options of each question by their score with it."""

    task: ChoiceTask
    vectors: osp.RankingVectors
    metric: QualityMetric
    folds: Index
    memo = Memo()
    bank = None

    @property
    def evaluation(self):
        return MeanOverQueries(self.task.units)

    def values(self, scorers):
        questions = np.repeat(self.vectors.queries, OPTIONS, axis=0)
        return [self._value(scorer.score_pairs(questions, self.vectors.documents)) for scorer in scorers]

    def _value(self, scores):
        order = np.argsort(-scores.reshape(-1, OPTIONS), axis=1, kind="stable")
        gains = (order == self.task.right[:, None]).astype(np.float64)
        return np.asarray(self.metric.function(gains, np.ones((self.task.units, 1)), self.metric.depth))


@pytest.fixture(scope="module")
def choice():
    """Options point where their question does; the right one is the longest: the dot product knows, cosine guesses."""
    rng = np.random.default_rng(0)
    questions = rng.standard_normal((60, 16))
    options = np.repeat(questions, OPTIONS, axis=0) + rng.normal(0, 1, (60 * OPTIONS, 16))
    right = rng.integers(OPTIONS, size=60)
    options /= np.linalg.norm(options, axis=1, keepdims=True)
    options[np.arange(60) * OPTIONS + right] *= 3
    task: Task = ChoiceTask("choices", right)
    return task, task.vectors(questions.astype(np.float32), options.astype(np.float32))


def test_a_third_kind_of_task_is_stored_but_for_what_has_no_lists(choice):
    task, vectors = choice
    table = osp.compare(task, vectors, ["dot"], stored=["int8", "int8+rerank"])
    assert [row.name for row in table.stored] == ["cosine, stored as int8", "dot, stored as int8"]
    assert any(note.startswith("nothing is re-ranked") for note in table.notes)


def test_a_third_kind_of_task_is_compared(choice):
    task, vectors = choice
    table = osp.compare(task, vectors)
    assert table.metric == "mrr@4"
    by_hand = []
    for question, options, right in zip(
        vectors.queries, vectors.documents.reshape(60, OPTIONS, 16), task.right, strict=True
    ):
        scores = options.astype(np.float64) @ question.astype(np.float64)
        by_hand.append(1 / (1 + (scores > scores[right]).sum()))
    assert table["dot"].value == pytest.approx(np.mean(by_hand), abs=1e-12)
    assert table["dot"].better
    assert table["cosine"].value < 0.7
    with pytest.raises(ParameterError, match=r"metric spearman does not fit choices: use mrr@4, success@1"):
        osp.compare(task, vectors, metric="spearman")
    with pytest.raises(VectorError, match="there are vectors of 60 questions, choices has 2"):
        osp.compare(task.only(np.array([0, 1])), vectors)


def test_a_third_kind_of_task_is_measured(choice):
    task, vectors = choice
    shape = osp.measure(task, vectors)
    assert shape.dual is not None
    assert [side.side for side in shape.lengths] == ["query", "document"]
    assert shape.negatives is not None  # from the positives that the task names
    assert shape.relevance.auc.value == 1  # all right options are longer than all others


def test_a_third_kind_of_task_is_audited(choice, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    task, vectors = choice
    report = osp.audit(task, vectors)
    assert report.advice.scorer.name == "dot"
    assert report.advice.verdict[0].startswith("Use the dot product instead of cosine: ")
    assert re.search(r"mrr@4 .*rises from 0\.\d+ to 1\.0000", report.advice.verdict[0])
    assert [lengths.mean() for lengths in report.relevant_lengths] == pytest.approx([3, 1], rel=1e-5)
    assert set(report.provenance["digests"]) == {"questions", "options", "task"}
