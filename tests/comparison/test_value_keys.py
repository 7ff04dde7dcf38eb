"""Scorers are told apart by what they are, not by which object they are: in rows, in searches, in what is kept."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.cache import Memo
from offsphere.data import ranking_evaluator
from offsphere.scoring.transforms import AffineMap
from tests.comparison.test_compare_scorers import DIMENSION, planted

NAME = "whiten(0.5) + cosine"


def fitted(seed):
    """The scorer fitted on documents of its own."""
    rng = np.random.default_rng(seed)
    documents = (rng.standard_normal((300, DIMENSION)) @ rng.standard_normal((DIMENSION, DIMENSION))).astype(np.float32)
    return osp.parse_scorer(NAME).fit(osp.Moments.of(documents))


def test_one_name_fitted_on_two_corpora_is_two_rows():
    task, vectors, _ = planted("half")
    here, there = fitted(1), fitted(2)
    table = osp.compare(task, vectors, [here, there])
    assert {row.name for row in table.rows} == {"cosine", NAME, f"{NAME} #2"}
    assert table[NAME].value == osp.compare(task, vectors, [here])[NAME].value
    assert table[f"{NAME} #2"].value == osp.compare(task, vectors, [there])[NAME].value
    assert table[NAME].value != table[f"{NAME} #2"].value


def test_a_scorer_fitted_elsewhere_is_no_repetition_of_one_fitted_here():
    task, vectors, _ = planted("half")
    table = osp.compare(task, vectors, [NAME, fitted(1)])
    assert {row.name for row in table.rows} == {"cosine", NAME, f"{NAME} #2"}
    assert table[f"{NAME} #2"].value == osp.compare(task, vectors, [fitted(1)])[NAME].value


def test_equal_scorers_are_one_row(tmp_path):
    task, vectors, _ = planted("half")
    scorer = fitted(1)
    scorer.save(tmp_path)
    equal = [scorer, fitted(1), osp.Scorer.load(tmp_path)]
    assert {row.name for row in osp.compare(task, vectors, equal).rows} == {"cosine", NAME}
    here = osp.parse_scorer(NAME).fit(osp.Moments.of(vectors.documents))
    assert {row.name for row in osp.compare(task, vectors, [here, NAME]).rows} == {"cosine", NAME}


def test_what_changes_nothing_is_still_one_row():
    task, vectors, _ = planted("half")
    names = ["center + cosine", "whiten(0) + cosine", "drop-top(0) + cosine", "euclidean", "center + euclidean"]
    table = osp.compare(task, vectors, names)
    assert table["whiten(0) + cosine"] is table["drop-top(0) + cosine"] is table["center + cosine"]
    assert table["center + euclidean"] is table["euclidean"]
    # centring changes no distance, whatever it was fitted on
    elsewhere = osp.parse_scorer("center + euclidean").fit(osp.Moments.of(vectors.queries))
    assert len(osp.compare(task, vectors, ["euclidean", elsewhere]).rows) == 2


def test_a_search_shares_a_product_among_equal_maps_only(monkeypatch):
    _, vectors, _ = planted("half")
    alone = [osp.search(vectors.queries, vectors.documents, [fitted(seed)], 10)[0] for seed in (1, 2)]
    applied = []
    apply = AffineMap.apply
    monkeypatch.setattr(AffineMap, "apply", lambda *given: applied.append(given) or apply(*given))
    together = osp.search(vectors.queries, vectors.documents, [fitted(1), fitted(2), fitted(1), fitted(2)], 10)
    for number, top in enumerate(together):
        assert (top.documents == alone[number % 2].documents).all()
        assert (top.scores == alone[number % 2].scores).all()
    assert len(applied) == 2 * 2  # two maps, each for the queries and for the one tile of documents


def test_what_was_kept_for_one_corpus_is_not_read_for_another(tmp_path, monkeypatch):
    task, vectors, _ = planted("half")
    memo = Memo(tmp_path)
    first = osp.compare(task, vectors, [fitted(1)], memo=memo)
    second = osp.compare(task, vectors, [fitted(2)], memo=memo)
    assert first[NAME].value == osp.compare(task, vectors, [fitted(1)])[NAME].value
    assert second[NAME].value == osp.compare(task, vectors, [fitted(2)])[NAME].value
    assert first[NAME].value != second[NAME].value

    def never(*_, **__):
        pytest.fail("what was kept was searched again")

    monkeypatch.setattr(ranking_evaluator, "search_in_turns", never)
    assert osp.compare(task, vectors, [fitted(1)], memo=memo).to_json() == first.to_json()
    assert osp.compare(task, vectors, [fitted(2)], memo=memo).to_json() == second.to_json()
