"""Lists from elsewhere: measured as trec_eval measures them, tested as scorers are, and never what is deployed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from offsphere.base.errors import DataError, ParameterError
from offsphere.comparison.choice import choose
from offsphere.comparison.compare_scorers import compare
from offsphere.comparison.list_source import ListCandidate, NotListedError
from offsphere.comparison.run_file import RunFile
from offsphere.data import PairTask, PairVectors
from offsphere.data.judgments import Judgments
from offsphere.data.scored_lists import ScoredLists
from offsphere.ranking.search import search
from offsphere.scoring.names import parse_scorer
from offsphere.statistics.cross_validation import assign_folds
from tests.comparison.test_compare_scorers import planted, trec
from tests.oracles import top, values
from tests.ranx_oracle import ask_ranx


@dataclass
class Given:
    """A source of rows that a test made."""

    rows: list

    def candidates(self, asked):
        return self.rows


def lines(run):
    return "".join(
        f"{query} Q0 {document} {rank} {score} theirs\n"
        for query, found in run.items()
        for rank, (document, score) in enumerate(found, 1)
    )


def run_of(scores, depth=20):
    best = top(scores, depth)
    return {f"q{q}": [(f"d{d}", float(scores[q, d])) for d in row] for q, row in enumerate(best)}


def lists_of(scores, depth=20):
    best = top(scores, depth)
    return ScoredLists.ranked(best, np.take_along_axis(scores, best, axis=1))


@pytest.fixture(scope="module")
def half():
    return planted("half")


def test_a_run_file_has_the_values_of_trec_eval_and_the_p_of_a_paired_test(half, tmp_path):
    task, vectors, judged = half
    scores = values("euclidean", vectors.queries, vectors.documents)
    (tmp_path / "theirs.run").write_text(lines(run_of(scores)))
    table = compare(task, vectors, ["dot"], lists=[RunFile(tmp_path / "theirs.run")])
    row, expected = table.lists[0], trec(judged, top(scores, 10))
    assert np.allclose(row.values, expected)
    assert (row.name, row.value) == ("theirs", pytest.approx(expected.mean()))
    gained = expected - table["cosine"].values
    test = stats.permutation_test(
        (gained,), lambda d: abs(d.mean()), permutation_type="samples", n_resamples=9_999, alternative="greater", rng=0
    )
    assert row.p == pytest.approx(test.pvalue, abs=0.02)
    assert row.difference == pytest.approx(gained.mean())
    low, high = stats.bootstrap((gained,), np.mean, method="percentile", rng=0).confidence_interval
    assert (row.difference_low, row.difference_high) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))


def test_the_same_scores_give_the_very_row_of_the_scorer(half):
    task, vectors, _ = half
    scorer = parse_scorer("dot")
    found = search(vectors.queries, vectors.documents, [scorer], 10)[0]
    again = ListCandidate("dot again", "as dot", [ScoredLists.ranked(found.documents, found.scores)])
    for metric in ("ndcg@10", "mrr@10", "recall@5", "pooled-ap@10"):
        table = compare(task, vectors, ["dot"], metric=metric, lists=[Given([again])])
        dot, row = table["dot"], table.lists[0]
        assert (row.value, row.low, row.high) == (dot.value, dot.low, dot.high)
        assert row.p == pytest.approx(dot.p, abs=0.02)


def test_no_row_of_a_scorer_moves_because_lists_were_brought_and_none_of_them_is_chosen(half):
    task, vectors, judged = half
    perfect = np.zeros((task.units, 400))
    for q, grades in enumerate(judged.values()):
        for document, grade in grades.items():
            perfect[q, int(document[1:])] = grade
    plain = compare(task, vectors)
    table = compare(task, vectors, lists=[Given([ListCandidate("perfect", "know it all", [lists_of(perfect)])])])
    assert [(row.name, row.value, row.p) for row in plain.rows] == [(row.name, row.value, row.p) for row in table.rows]
    assert choose(table).name == choose(plain).name != "perfect"
    row = table.lists[0]
    assert row.value == pytest.approx(1)
    assert row.beats_choice
    assert row.over_chosen == pytest.approx(1 - table.chosen.value)
    finding = table.findings[-1]
    assert (finding.topic, finding.direction, finding.certainty) == ("lists", "up", "sure")
    assert "No vector index serves perfect, which is better than" in table.conclusion
    assert "perfect †" in str(table).splitlines()[1]
    written = json.loads(json.dumps(table.to_json()))["lists"][0]
    assert (written["name"], written["lowers"]) == ("perfect", False)


def test_a_row_that_is_tuned_shows_held_out_values_only(half):
    task, vectors, judged = half
    rng = np.random.default_rng(4)
    options = [rng.normal(size=(task.units, 400)) + 0.01 * weight for weight in range(6)]
    candidate = ListCandidate(
        "noise", "draw lots", [lists_of(scores) for scores in options], [{"weight": float(w)} for w in range(6)]
    )
    row = compare(task, vectors, ["dot"], seed=7, lists=[Given([candidate])]).lists[0]
    measured = np.stack([trec(judged, top(scores, 10)) for scores in options])
    folds, expected = assign_folds(task.units, 5, 7), np.empty(task.units)
    for fold in range(5):
        expected[folds == fold] = measured[measured[:, folds != fold].mean(axis=1).argmax(), folds == fold]
    assert np.allclose(row.values, expected)
    assert row.tuned
    assert len(row.fold_parameters) == 5


def test_what_a_query_must_not_get_is_taken_from_lists_too(half):
    task, vectors, judged = half
    rows = np.arange(task.units)
    scores = values("dot", vectors.queries, vectors.documents)
    best = top(scores, 1)[:, 0]
    excluded = Judgments.of(rows, best, np.ones(task.units), task.units, 400)
    table = compare(
        replace(task, excluded=excluded),
        vectors,
        ["dot"],
        lists=[Given([ListCandidate("dot again", "as dot", [lists_of(scores)])])],
    )
    scores = scores.copy()
    scores[rows, best] = -np.inf
    assert np.allclose(table.lists[0].values, trec(judged, top(scores, 10)))
    assert np.allclose(table.lists[0].values, table["dot"].values)


def test_pairs_take_scores_and_a_run_file_falls_out_of_them_with_a_note(tmp_path):
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 80, 6)).astype(np.float32)
    gold = rng.normal(size=80)
    task = PairTask("pairs", gold)
    theirs = gold + rng.normal(0, 0.3, 80)
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 x\n")
    row = ListCandidate("theirs", "what they say", [ScoredLists(theirs)])
    table = compare(task, PairVectors.of(task, left, right), ["dot"], lists=[Given([row]), RunFile(tmp_path / "a.run")])
    assert table.lists[0].value == pytest.approx(stats.spearmanr(theirs, gold).statistic)
    assert table.lists[0].better
    assert any("a.run is left out: a run has lists of documents" in note for note in table.notes)


def test_scores_of_another_kind_of_task_are_refused(half):
    task, vectors, _ = half
    pairs = ListCandidate("theirs", "what they say", [ScoredLists(np.zeros(task.units))])
    with pytest.raises(ParameterError, match="gives scores alone, and this task has queries"):
        compare(task, vectors, ["dot"], lists=[Given([pairs])])


class Textual:
    """A source that needs what this task has not."""

    def candidates(self, asked):
        raise NotListedError(f"bm25 is left out: {asked.task.name} has no texts")


def test_a_row_that_falls_out_is_told_and_the_others_stay(half):
    task, vectors, _ = half
    table = compare(task, vectors, ["dot"], lists=[Textual()])
    assert "bm25 is left out: task has no texts" in table.notes
    assert table.lists == ()


def test_two_rows_of_one_name_are_refused(half):
    task, vectors, _ = half
    row = ListCandidate("same", "", [lists_of(np.zeros((task.units, 400)))])
    with pytest.raises(ParameterError, match="two rows are called 'same'"):
        compare(task, vectors, ["dot"], lists=[Given([row, row])])


BROKEN = {
    "unknown document 'd999'": "q0 Q0 d1 1 2 x\nq0 Q0 d999 2 1 x\n",
    "unknown query 'nobody'": "nobody Q0 d1 1 2 x\n",
    "5 fields, expected 6": "q0 Q0 d1 1 2\n",
    "score 'high' is not a number": "q0 Q0 d1 1 high x\n",
    "score 'inf' is not finite": "q0 Q0 d1 1 inf x\n",
    "finds document 'd1' twice": "q0 Q0 d1 1 2 x\nq0 Q0 d1 2 1 x\n",
    "is empty": "",
    "scores grow with the rank in 2 of 2 queries": "q0 Q0 d1 1 1 x\nq0 Q0 d2 2 2 x\nq1 Q0 d1 1 1 x\nq1 Q0 d2 2 3 x\n",
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_run_that_cannot_be_read_is_refused_with_its_line(half, tmp_path, message):
    task, vectors, _ = half
    path = tmp_path / "bad.run"
    path.write_text(BROKEN[message])
    with pytest.raises(DataError, match=message) as error:
        compare(task, vectors, ["dot"], lists=[RunFile(path)])
    assert str(path) in str(error.value)


def test_what_a_run_lacks_and_where_it_contradicts_itself_is_told(half, tmp_path):
    task, vectors, judged = half
    run = run_of(values("dot", vectors.queries, vectors.documents), 3)
    del run["q5"]
    run["q7"][0], run["q7"][1] = run["q7"][1], run["q7"][0]  # its scores say otherwise
    path = tmp_path / "theirs.run"
    path.write_text(lines(run) + "q1 Q0 d999 9 -9 x\n")
    with pytest.raises(DataError, match="Go on without them"):
        compare(task, vectors, ["dot"], lists=[RunFile(path)])
    table = compare(task, vectors, ["dot"], lists=[RunFile(path, ignore_missing=True)])
    told = " / ".join(table.notes)
    assert "nothing for 1 of 60 queries" in told
    assert "at most 3 documents a query, the metric looks at 10" in told
    assert "scores disagree with ranks in 1 of 59 queries, such as 'q7'" in told
    assert "1 lines name queries or documents" in told
    best = top(values("dot", vectors.queries, vectors.documents), 3)
    expected = trec(judged, best)
    expected[5] = 0
    assert np.allclose(table.lists[0].values, expected)


SAVE = """
run = run_of(given["scores"], "theirs")
run.save(given["folder"] + "/theirs.json")
run.save(given["folder"] + "/same.trec", kind="trec")
answer = ranx.evaluate(ranx.Qrels(given["judged"]), run, "ndcg@10")
"""


def test_a_ranx_run_is_read_as_ranx_saved_it(half, tmp_path):
    task, vectors, judged = half
    run = run_of(values("half", vectors.queries, vectors.documents))
    scores = {query: dict(found) for query, found in run.items()}
    expected = ask_ranx(SAVE, scores=scores, judged=judged, folder=str(tmp_path))
    table = compare(task, vectors, ["dot"], lists=[RunFile(tmp_path / "theirs.json"), RunFile(tmp_path / "same.trec")])
    assert [row.value for row in table.lists] == [pytest.approx(expected)] * 2
