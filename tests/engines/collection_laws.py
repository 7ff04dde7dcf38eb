"""What must hold of every engine whatever it is: scorers are served as they rank, a kill loses nothing, ids survive."""

from __future__ import annotations

import signal
import subprocess
import sys
from itertools import product

import numpy as np
import pytest

import offsphere as osp
from offsphere.engines.exporting import export
from offsphere.engines.registry import engine_of
from tests.processes import PATIENCE, ROOT, environment_with

RNG = np.random.default_rng(7)
DOCUMENTS = (RNG.normal(0.3, 1, (600, 16)) * RNG.lognormal(0, 1, (600, 1))).astype(np.float32)
QUERIES = RNG.normal(0.3, 1, (30, 16)).astype(np.float32)
SIMILARITIES = ["cosine", "dot", "euclidean", "angular", "polar(1, 0.5)", "polar(1, 1.25)", "norm-mix(0.9)"]
SIMILARITIES += ["radial-confidence(2)"]
TRANSFORMS = ["center", "whiten(0.5)", "drop-top(1)", "standardize"]
NAMES = SIMILARITIES + [f"{transform} + {similarity}" for transform, similarity in product(TRANSFORMS, SIMILARITIES)]
SOME_NAMES = SIMILARITIES + [f"{t} + {s}" for t, s in zip(TRANSFORMS, ("dot", "cosine", "euclidean", "angular"))]  # noqa: B905
MADE = ["csls", "z-score"]
# each part once with every run, all of them in the slow tests
EVERY_NAME = [
    pytest.param(name, marks=[] if name in (*SOME_NAMES, *MADE) else [pytest.mark.slow]) for name in NAMES + MADE
]
ODD_IDS = ["a'b", 'c"d', "ü 中 🙂", "back\\slash", "a;b--", "{x}", " lead and trail ", "tab\tnew\nline", "x" * 20_000]
SCORE = 1e-4  # of the largest score


def scorer_of(name):
    """A scorer by its name, or one that is made from data: its bias is by the ids of the documents."""
    ids = [str(row) for row in range(len(DOCUMENTS))]
    if name == "csls":
        return osp.csls(osp.parse_scorer("cosine"), DOCUMENTS, QUERIES, ids=ids)
    if name == "z-score":
        return osp.standardize_queries(osp.parse_scorer("dot"), DOCUMENTS)
    return name


def check_served(name, target, **more):
    """Export a scorer; the engine returns our first ten, with our scores after its own inversion."""
    done = export(scorer_of(name), DOCUMENTS, target, queries=QUERIES, **more)
    goal = 1.0 if done.strategy.index == "exact" else 0.95
    assert done.verification.recall >= goal, done.verification
    assert done.verification.score_error < SCORE
    assert done.verification.short == 0
    assert done.rows == len(DOCUMENTS)
    return done


def check_real(vectors, target, **more):
    """Vectors of a real model, asked by real queries."""
    for number, name in enumerate(["dot", "cosine", "whiten(0.5) + polar(1, 0.5)"]):
        done = export(name, vectors, f"{target}{number}", k=20, **more)
        assert done.verification.made_of == "queries"
        assert done.verification.recall >= (1.0 if done.strategy.index == "exact" else 0.95)
        assert done.verification.score_error < SCORE


def read_back(target, **options):
    """The vectors of a collection by their ids, and what the engine says of it."""
    engine, where = engine_of(target)
    with engine.open(where, **options) as collection:
        facts, rows = collection.facts(), collection.read()
    assert len(set(rows.ids)) == len(rows.ids) == len(rows.vectors)
    return dict(zip(rows.ids, np.asarray(rows.vectors), strict=True)), facts


def check_read_back(target, *, exactly=True):
    """What was stored comes back, and reading changes no answer."""
    export("dot", DOCUMENTS, target)
    rows, facts = read_back(target)
    stored = np.array([rows[str(row)] for row in range(len(DOCUMENTS))])
    assert (stored == DOCUMENTS).all() if exactly else np.allclose(stored, DOCUMENTS, rtol=1e-6)
    assert (facts.rows, facts.dimension, str(facts.metric), facts.unfinished) == (600, 16, "inner product", False)


def check_snippet(name, target, folder, **more):
    """The snippet, run as it is printed, gives the ids and scores that the collection gives."""
    done = export(name, DOCUMENTS, target, out=folder, **more)
    names = {"vectors": DOCUMENTS[5:6]}
    exec(compile((folder / "query.py").read_text(), "query.py", "exec"), names)
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        hits = collection.search(done.strategy.serving.queries(DOCUMENTS[5:6]), 10, done.strategy.effort)
    assert [hit[0] for hit in names["hits"]] == hits.ids[0]
    assert np.allclose([hit[1] for hit in names["hits"]], hits.scores[0], rtol=1e-5)


def check_ids(target, ids):
    """Ids of any text come back from reading and from searching, and what was removed is gone."""
    rows = np.eye(len(ids), 16, dtype=np.float32) * np.arange(1, len(ids) + 1, dtype=np.float32)[:, None]
    export("dot", rows, target, ids=ids, k=1)
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        read = collection.read()
        assert sorted(read.ids) == sorted(ids)
        assert collection.search(rows, 1).ids == [[name] for name in ids]
        collection.discard(ids[:-1])
        assert list(collection.read().ids) == ids[-1:]


CHILD = """
import os, sys
import numpy as np
from offsphere.engines import serving, filling
from offsphere.engines.exporting import export
from offsphere.engines.registry import engine_of
from tests.engines.collection_laws import DOCUMENTS

serving.BLOCK = 50
filling.stored_blocks.__defaults__ = (0, 50)
engine, where = engine_of(sys.argv[1])
kind = engine.open
blocks = 0
class Killed(kind):
    def add(self, ids, rows):
        global blocks
        blocks += 1
        if blocks < 5:
            return super().add(ids, rows)
        super().add(ids[:20], rows[:20])  # in the middle of a block
        os.kill(os.getpid(), 9)
object.__setattr__(engine, "open", Killed)
export("dot", DOCUMENTS, sys.argv[1], out=sys.argv[2] or None)
"""


def check_kill(target, folder):
    """Killed in the middle of a block and run again: the same collection, whether what was done was noted or not."""
    command = [sys.executable, "-c", CHILD, target, str(folder) if folder else ""]
    killed = subprocess.run(
        command, env=environment_with(ROOT), cwd=ROOT, timeout=PATIENCE, capture_output=True, text=True, check=False
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-2000:]
    _, facts = read_back(target)
    assert facts.unfinished
    assert 0 < facts.rows < len(DOCUMENTS)
    done = export("dot", DOCUMENTS, target, out=folder)
    assert done.rows == len(DOCUMENTS)
    rows, facts = read_back(target)
    assert not facts.unfinished
    assert len(rows) == facts.rows == len(DOCUMENTS)
    assert all(np.allclose(rows[str(row)], vector, rtol=1e-6) for row, vector in enumerate(DOCUMENTS))


def check_again(target, folder, refusal):
    """A finished export that is run again adds nothing; other content under its name is refused without replace."""
    engine, _ = engine_of(target)
    export("dot", DOCUMENTS, target, out=folder)
    added = []
    add = engine.open.add
    engine.open.add = lambda *arguments: added.append(arguments)
    try:
        assert export("dot", DOCUMENTS, target, out=folder).verification.recall >= 0.95
    finally:
        engine.open.add = add
    assert not added
    with refusal:
        export("dot", DOCUMENTS[:100, :8], target, out=folder)
    with refusal:
        export("dot", DOCUMENTS[:100, :8], target)
    assert export("dot", DOCUMENTS[:100, :8], target, replace=True, out=folder).rows == 100
    rows, facts = read_back(target)
    assert (len(rows), facts.dimension) == (100, 8)
