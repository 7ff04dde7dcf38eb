"""Texts of one token, of none, and of tokens that a table does not know, in every similarity over tokens."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.tokens.measure_names import parse_measures
from tests.cli.running import run
from tests.encode.test_static_files import TABLE, save_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A static model of eleven words; whatever else stands in a text it does not know."""
    return save_model(tmp_path_factory.mktemp("static") / "model")


def compared(folder, left, right, measures="all"):
    task = osp.PairTask("odd", np.arange(float(len(left))), left, right)
    vectors = task.vectors(*np.random.default_rng(0).normal(size=(2, len(left), 4)).astype(np.float32))
    return osp.compare(task, vectors, ["dot"], lists=[osp.TokenRows(measures, str(folder))], permutations=200)


def test_a_token_that_the_table_does_not_know_is_as_if_it_were_not_there(folder):
    known = ["w1 w2", "w3", "w4 w5 w1", "w2 w2"], ["w2", "w6 w7", "w5 w1", "w9"]
    strange = ["w1 zebra w2", "w3 quagga", "w4 w5 okapi w1", "gnu w2 w2"], ["w2 eland", "w6 w7", "ibex w5 w1", "w9"]
    plain, odd = compared(folder, *known), compared(folder, *strange)
    assert {row.name: row.value for row in plain.lists} == {row.name: row.value for row in odd.lists}
    assert not any("have no token" in note for note in odd.notes)


def test_texts_of_unknown_tokens_alone_come_last_and_are_told(folder):
    odd = compared(folder, ["zebra gnu", "w1", "w2", "w3"], ["w1", "w1", "w2 w3", "w3 w1"], "mean")
    assert any("1 left texts, such as number 1, have no token that" in note for note in odd.notes)
    assert all(np.isfinite(row.value) for row in odd.lists)
    nobody = compared(folder, ["zebra", "gnu", "okapi"], ["eland", "ibex", "quagga"])
    assert not nobody.lists
    assert any("no text has a token that" in note for note in nobody.notes)


@pytest.mark.parametrize("name", [measure.name for measure in parse_measures("all")])
def test_of_one_token_each_every_similarity_is_that_of_two_vectors(folder, name):
    words = np.array([[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]])
    left, right = ([f"w{word}" for word in column] for column in words.T)
    (row,) = compared(folder, left, right, name if "(" in name else f"{name}({USUAL[name]})").lists
    assert row.value == pytest.approx(_spearman(name, *(TABLE[column].astype(float) for column in words.T)))


USUAL = {"wrd": "length", "softcos": "both", "mean": "uniform", "maxsim": "both"}


def _spearman(name, left, right):
    """The correlation with 0, 1, 2, ... of the formula that is left where there is nothing to weigh or to choose."""
    from scipy.stats import spearmanr

    a, b, dots = np.linalg.norm(left, axis=1), np.linalg.norm(right, axis=1), (left * right).sum(axis=1)
    cosines = dots / (a * b)
    if name.startswith("softcos"):
        scores = np.maximum(cosines, 0) ** 2  # the weight of the one word is its soft length, and one count is one
    elif "norm-gap" in name:
        mean = (a + b) / 2
        scores = -(np.abs(a - b) / mean + np.arccos(np.clip(cosines, -1, 1)))
    elif name in ("maxsim(none)", "maxsim(query)", "maxsim(document)"):
        ways = {"none": dots, "query": (dots / a + dots / b) / 2, "document": (dots / b + dots / a) / 2}
        scores = ways[name[7:-1]]
    else:
        scores = cosines
    return spearmanr(scores, np.arange(len(scores))).statistic


def test_the_command_goes_on_with_the_rows_that_are_left(folder, tmp_path):
    table = tmp_path / "pairs.tsv"
    table.write_text("score\tsentence1\tsentence2\n5\tw1\tw2\n3\tzebra\tw4\n1\tw5 w6\tw7\n0\t\tw9\n")
    done = run("compare", table, "--model", folder, "--vectors", tmp_path / "v", "--scorer", "dot", "--tokens", "mean")
    assert done.returncode == 0, done.stderr
    assert "2 left texts, such as number 2, have no token" in " ".join(done.stdout.split())
