"""What an export says to change is what can be changed there, and what it says of lengths holds with transforms too."""

from __future__ import annotations

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping import strategy
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.export_advice import advice_for
from offsphere.engines.shipping.kept_strategy import KeptStrategy
from offsphere.engines.shipping.serving import Serving
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from offsphere.engines.shipping.verification import Verification
from offsphere.scoring.similarity import DOT
from tests.engines import engine_laws as laws

RACE = "let the export race other ways to serve it: add --tune"
EXACT = "take an exact index: --index exact"
FLOATS = "store the vectors as float32: they are stored as int8"
NO_EXACT = "this engine has no exact index, and of all ways that were raced this one returned most: take an engine "
PROBE = "an exact index should return everything: look at it with offsphere probe"
EFFORT = "look at more candidates than 16: raise --effort, or leave it to the export"


def advice(kind, index="graph", *, recall=0.8, stored="float32", short=0, effort=None, raced=False, error=1e-7):
    engine, where = engine_of(f"{kind}:nowhere.file")
    serving = Serving(scorer=osp.Scorer(DOT), metric=Metric.INNER_PRODUCT, lowered=False)
    seen = Verification(10, 100, "queries", recall, 0.1, short, error, 0.1, 10)
    with engine.at(where) as collection:
        strategy = Strategy(serving=serving, index=index, stored=stored)
        return advice_for(strategy, collection, seen, ExportWishes(k=10, goal=0.95, effort=effort), raced=raced)


def test_what_is_told_to_change_is_what_the_engine_has():
    assert advice("faiss") == [RACE, EXACT]
    assert advice("faiss", raced=True) == [EXACT]
    assert advice("faiss", "lists", effort=16) == [RACE, EFFORT, EXACT]
    assert advice("faiss", stored="int8", error=0.1) == [FLOATS, RACE, EXACT]
    assert advice("faiss", "exact", stored="int8") == [FLOATS]
    assert advice("faiss", "exact") == [PROBE]
    assert advice("hnswlib") == [RACE]
    (told,) = advice("hnswlib", raced=True)  # once: what is true of an exact index
    assert told.startswith(NO_EXACT)
    assert advice("hnswlib", recall=1.0) == []


def test_queries_that_got_too_little_and_scores_that_differ_are_told():
    assert advice("faiss", short=3)[0] == "3 queries got fewer than 10 documents: raise the effort above k"
    (told,) = advice("faiss", recall=1.0, error=0.02)
    assert told == "scores differ from ours by up to 2.0%: the engine stores or computes with fewer digits"


def test_a_race_that_was_run_before_a_kill_is_not_asked_for_again(tmp_path, monkeypatch):
    """The strategy that it chose is kept beside the export; once the advice was to race."""
    pytest.importorskip("hnswlib")
    monkeypatch.setattr(strategy, "MOST_EFFORTS", 0)
    scorer, corpus = osp.parse_scorer("dot"), Corpus.of(laws.vectors_of(7, 3_000, 24), None, laws.vectors_of(8, 20, 24))
    target, asked = f"hnswlib:{tmp_path}/x.hnsw", ExportWishes(k=10, goal=1.0)
    serving = Serving(scorer=scorer, metric=Metric.INNER_PRODUCT, lowered=False)
    chosen = Strategy(serving=serving, index="graph", effort=1)
    KeptStrategy.of(tmp_path / "out", scorer, corpus, asked, target).write(chosen)
    done = osp.export(scorer, corpus, target, goal=1.0, tune=True, out=tmp_path / "out")
    assert done.verification.recall < 1
    (told,) = done.advice
    assert told.startswith(NO_EXACT)


UNITS = laws.DOCUMENTS / np.linalg.norm(laws.DOCUMENTS, axis=1, keepdims=True)


@pytest.mark.parametrize("chain", ["", "center + ", "whiten(0.5) + "])
def test_lengths_that_are_gone_are_told_before_transforms_too(tmp_path, chain):
    pytest.importorskip("faiss")
    for name, told in (("dot", True), ("polar(1, 0.5)", True), ("euclidean", True), ("cosine", False)):
        done = osp.export(chain + name, UNITS, f"faiss:{tmp_path}/units.faiss", replace=True)
        notes = [note for note in done.notes if "their lengths are gone" in note]
        assert len(notes) == told, name
        assert all(("long before its transforms: " in note) == bool(chain) for note in notes)
        assert not osp.export(chain + name, laws.DOCUMENTS, f"faiss:{tmp_path}/kept.faiss", replace=True).notes
