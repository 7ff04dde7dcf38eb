"""What is given in Python is checked as what comes from files is: one line that says what, and where it stands."""

from __future__ import annotations

import math

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.data.items import ItemList, as_items
from offsphere.data.judgments import Judgment
from offsphere.engines.files.exchange import import_vectors

GRADES = [
    (math.inf, "tiny: query 'q', document 'd': the grade inf is not finite or above 1e\\+100"),
    (-math.inf, "the grade -inf is not finite"),
    (math.nan, "tiny: query 'q', document 'd': the grade nan is not finite"),
    (1e300, r"the grade 1e\+300 is not finite or above"),
    (None, "tiny: query 'q', document 'd': the grade None is not a number"),
    ("high", "the grade 'high' is not a number"),
    ([1], r"the grade \[1\] is not a number"),
]
IDS = [
    ([True, "d"], "tiny: the document id in row 0 is True, of type bool: ids are texts"),
    (["d", 2], "tiny: the document id in row 1 is 2, of type int: ids are texts"),
    ([1, True], "the document id in row 0 is 1, of type int"),
    (np.array([3, 4]), r"the document id in row 0 is .*3.*, of type int64: ids are texts"),
    ([["x"], "d"], r"the document id in row 0 is \['x'\], of type list: ids are texts"),
    (["d", None], "the document id in row 1 is None, of type NoneType"),
    ([b"d"], "the document id in row 0 is b'd', of type bytes"),
    (["d", ""], "tiny: the document in row 1 has an empty id"),
    (["d", "d"], "tiny: document id 'd' stands there 2 times"),
]
TEXTS = [(None, "None, of type NoneType"), (7, "7, of type int"), (["a"], r"\['a'\], of type list")]


@pytest.mark.parametrize(("grade", "match"), GRADES)
def test_grades(grade, match):
    """Infinity once made every value nan without a word."""
    with pytest.raises(DataError, match=match):
        osp.RankingTask.from_judgments({"q": {"d": grade}}, ["d", "e"], "tiny")


def test_a_grade_that_is_no_number_is_told_once():
    """Two of them differ from each other, and were taken for two judgments of a pair."""
    twice = [Judgment("q", "d", math.nan, "x.tsv:1"), Judgment("q", "d", math.nan, "x.tsv:2")]
    with pytest.raises(DataError, match=r"x\.tsv:1: query 'q', document 'd': the grade nan is not finite"):
        osp.RankingTask.build("tiny", ItemList(["q"]), ItemList(["d"]), twice)


@pytest.mark.parametrize(("ids", "match"), IDS)
def test_ids_of_documents(ids, match):
    with pytest.raises(DataError, match=match):
        osp.RankingTask.from_judgments({"q": {"d": 1}}, ids, "tiny")


@pytest.mark.parametrize("name", [True, 5, None, 1.5])
def test_ids_of_queries(name):
    with pytest.raises(DataError, match=f"tiny: the query id in row 1 is {name}, of type {type(name).__name__}"):
        osp.RankingTask.from_judgments({"q": {"d": 1}, name: {"d": 1}}, ["d"], "tiny")


def test_ids_of_a_type_of_numpy_s_are_texts():
    task = osp.RankingTask.from_judgments({"q": {"d": np.float32(2)}}, np.array(["d", "e"]))
    assert task.judgments.grades.tolist() == [2.0]


def test_judgments_that_are_no_dictionary():
    with pytest.raises(DataError, match=r"task: the judgments of query 'q' are of type list: expected a dictionary"):
        osp.RankingTask.from_judgments({"q": ["d"]}, ["d"])


@pytest.mark.parametrize(("text", "match"), TEXTS)
def test_texts(text, match):
    """Missing texts were noticed by an encoder at the earliest, and one given items left them out."""
    with pytest.raises(DataError, match=f"the left text in row 1 is {match}: give a text"):
        osp.PairTask("pairs", np.arange(3.0), ["a", text, "b"], ["d", "e", "f"])
    with pytest.raises(DataError, match=f"the right text in row 0 is {match}"):
        osp.PairTask("pairs", np.arange(3.0), ["d", "e", "f"], [text, "a", "b"])
    judged = [Judgment("q", "d", 1.0)]
    with pytest.raises(DataError, match=f"the document in row 0 is {match}"):
        osp.RankingTask.build("tiny", ItemList(["q"], ["?"]), ItemList(["d"], [text]), judged)
    with pytest.raises(DataError, match=f"the query in row 0 is {match}"):
        osp.RankingTask.build("tiny", ItemList(["q"], [text]), ItemList(["d"], ["!"]), judged)
    with pytest.raises(DataError, match=f"the item in row 1 is {match}"):
        as_items(["a", text])


def test_as_many_texts_as_gold_scores():
    with pytest.raises(DataError, match="pairs: 2 right texts for 3 gold scores: give one each"):
        osp.PairTask("pairs", np.arange(3.0), ["a", "b", "c"], ["d", "e"])


def test_a_store_is_opened_by_the_text_of_its_path(tmp_path):
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    import_vectors(str(tmp_path / "v.npy"), tmp_path / "store", ids=["a", "b", "c"])
    assert osp.open_store(str(tmp_path / "store")).ids == ["a", "b", "c"]
    with pytest.raises(DataError, match="is no finished store"):
        osp.open_store(str(tmp_path / "nowhere"))


def test_an_empty_id_is_not_imported(tmp_path):
    """No reader of a corpus takes one."""
    np.savez(tmp_path / "v.npz", vectors=np.eye(3, dtype=np.float32), ids=np.array(["a", "", "c"]))
    with pytest.raises(DataError, match=r"v.npz: the id in row 1 is empty: give it one"):
        import_vectors(str(tmp_path / "v.npz"), tmp_path / "store")
    assert not (tmp_path / "store").exists()
