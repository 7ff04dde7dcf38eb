"""Errors that say what to do."""

from __future__ import annotations

from offsphere.base.errors import MissingExtraError, UnknownNameError


def test_names_that_are_nearly_known_are_suggested():
    assert str(UnknownNameError("metric", "ndgc", ["ndcg", "map"])) == "unknown metric 'ndgc': did you mean ndcg?"
    assert str(UnknownNameError("metric", "zzz", ["ndcg", "map"])) == "unknown metric 'zzz': known: ndcg, map"
    assert str(MissingExtraError("torch", "learn")) == "this needs the package 'torch': pip install 'offsphere[learn]'"
