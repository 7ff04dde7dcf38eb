"""What every engine has to keep to, whatever it is: asked of real engines, compared with arithmetic of numpy alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError
from offsphere.data.store import open_store
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.bands import length_edges
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.exporting import GOAL, export
from offsphere.engines.shipping.kept_strategy import KeptStrategy
from offsphere.engines.shipping.serving import servings
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from offsphere.scoring.names import NAMED_TRANSFORMS, parse_similarity
from tests.cli.running import run_here
from tests.oracles import FORMULAS
from tests.processes import PATIENCE, ROOT, environment_with

POINTS = (
    "cosine",
    "dot",
    "euclidean",
    "angular",
    "polar(1, 0.5)",
    "polar(1, 1.25)",
    "norm-mix(0.9)",
    "radial-confidence(2)",
    "log-prior(0.2)",
)
LOWERED = {name: parse_similarity(name) for name in FORMULAS if parse_similarity(name).lowers}
ASKED = {parse_similarity(name).kind for name in POINTS}
SIMILARITIES = (*POINTS, *(name for name, similarity in LOWERED.items() if similarity.kind not in ASKED))
NUMBERS = {"whiten": "whiten(0.5)", "drop-top": "drop-top(1)"}  # else as their names alone say
TRANSFORMS = ("", *(f"{NUMBERS.get(kind, kind)} + " for kind in NAMED_TRANSFORMS))
PARTNERS = {  # with which similarity each is asked in every run; else with the dot product
    "center + ": "euclidean",
    "whiten(0.5) + ": "cosine",
    "standardize + ": "polar(1, 0.5)",
    "project-mean + ": "log-prior(0.2)",
    "temper + ": "polar(1, 1.25)",
}
SCORERS = [transform + similarity for transform in TRANSFORMS for similarity in SIMILARITIES]
MADE_FROM_DATA = ("csls", "z-score", "csls + z-score", "length-prior")


def each_transform(partners):
    """Every transform once, with its partner."""
    return [transform + partners.get(transform, "dot") for transform in TRANSFORMS if transform]


# test_serving.py proves all of them in numpy; each engine is asked with every part once, and with all in the slow tests
OFTEN = {*SIMILARITIES, *each_transform(PARTNERS), *MADE_FROM_DATA} - {"log-prior(0.2)"}  # it has a transform
EVERY_SCORER = [
    pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.slow]) for name in (*SCORERS, *MADE_FROM_DATA)
]
ODD_IDS = [
    "it's",
    'a "quoted" one',
    "with spaces  and\ttabs",
    "line\nbreak",
    "zwölf ☃ 中文 \U0001f600",
    "; DROP TABLE docs; --",
    "back\\slash % _",
    "{x}",
    " blanks at its ends ",
    "x" * 2_000,
]
LONG_ID = "x" * 20_000  # which Postgres has no room for
SCORE = 1e-4  # of the largest score


def vectors_of(seed=0, rows=600, width=16):
    """Random directions, lengths of a lognormal with a heavy tail, about a mean that is not zero."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(0.2, 1, (rows, width))
    return (directions * np.exp(rng.normal(0, 0.8, (rows, 1)))).astype(np.float32)


DOCUMENTS, QUERIES = vectors_of(0), vectors_of(1, 40)


def scorer_of(name):
    """A scorer by its name; one that is made from data is made from ours."""
    if name not in MADE_FROM_DATA:
        return name
    ids = [str(row) for row in range(len(DOCUMENTS))]
    if name == "length-prior":
        return osp.Scorer(osp.LengthPrior(np.array([-1.0, 0.0, 2.0]), np.array([0.3, -0.1, 0.4])))
    scorer = osp.Scorer()
    if "csls" in name:
        scorer = osp.csls(scorer, DOCUMENTS, vectors_of(2, 50), ids=ids)
    return osp.standardize_queries(scorer, DOCUMENTS, ids=ids) if "z-score" in name else scorer


def check_served(target, name, documents=DOCUMENTS, queries=QUERIES, **how):
    """An engine returns our first ten, all of them where it is exact, with our scores after its own inversion."""
    done = export(scorer_of(name), documents, target, queries=queries, replace=True, **how)
    assert done.verification.recall >= (1.0 if done.strategy.index == "exact" else 0.95), done.strategy.name
    assert done.verification.score_error < SCORE
    assert done.verification.short == 0
    assert done.rows == len(documents)
    return done


def check_real(embedded, target, kind=None, k=20):
    """Vectors of a model, and queries that people asked."""
    _, vectors = embedded("cranfield")
    documents, queries = np.asarray(vectors.documents), np.asarray(vectors.queries)
    for name in ("dot", "cosine", "whiten(0.5) + polar(1, 0.5)"):
        done = export(name, documents, target, queries=queries, k=k, index=kind, replace=True)
        assert done.verification.made_of == "queries"
        assert done.verification.score_error < SCORE
        assert done.verification.recall >= (1.0 if done.strategy.index == "exact" else 0.95)


def run_snippet(done, vectors):
    """Run the printed code as it is printed, with what the model gives for one query; the hits."""
    return run_code(done.snippet, vectors)


def run_code(code, vectors):
    """Run code that asks a collection, with what the model gives for one query; the hits."""
    names = {"vectors": vectors}
    exec(code, names)
    for name in ("connection", "client"):
        if hasattr(names.get(name), "close"):
            names[name].close()
    return [(str(name), float(score)) for name, score in names["hits"]]


def check_snippet(done, target, queries=QUERIES):
    """The printed code gives what the collection gives, best first."""
    engine, where = engine_of(target)
    asked = done.strategy.serving.queries(queries)
    with engine.open(where) as collection:
        hits = collection.search(asked[:5], 10, done.strategy.effort)
    for number in range(5):
        got = run_snippet(done, queries[number : number + 1])
        assert [name for name, _ in got] == hits.ids[number]
        assert np.allclose([score for _, score in got], hits.scores[number], rtol=1e-5, atol=1e-5)


def check_bands(target, folder, index="graph"):
    """The printed code asks every band and merges as the collection does; also for more than a band holds."""
    engine, where = engine_of(target)
    scorer, corpus = osp.parse_scorer("dot"), Corpus.of(DOCUMENTS, None, QUERIES)
    edges = length_edges(np.linalg.norm(DOCUMENTS, axis=1), 4)
    way = servings(scorer, engine)[0]
    strategy = Strategy(serving=way, index=index, effort=len(DOCUMENTS), edges=edges)
    for k in (10, 200):
        asked = ExportWishes(k=k, goal=GOAL)
        KeptStrategy.of(folder / str(k), scorer, corpus, asked, str(where)).write(strategy)  # as a race leaves it
        done = export(scorer, corpus, target, k=k, tune=True, out=folder / str(k), replace=True)
        assert (len(done.strategy.edges), done.verification.short) == (3, 0)
        with done.strategy.open(engine, where) as bands:
            assert max(band.facts().rows for band in bands.bands) < 200
            hits = bands.search(way.queries(QUERIES[:5]), k, done.strategy.effort)
        exact = np.argsort(-(QUERIES[:5].astype(np.float64) @ DOCUMENTS.T), axis=1)[:, :k]
        found = [np.isin(best, [int(name) for name in names]) for best, names in zip(exact, hits.ids, strict=True)]
        assert np.mean(found) > 0.9
        for number in range(5):
            got = run_snippet(done, QUERIES[number : number + 1])
            assert [name for name, _ in got] == hits.ids[number]
            assert np.allclose([score for _, score in got], hits.scores[number], rtol=1e-5, atol=1e-5)


def read_back(target, **options):
    """The vectors of a collection by their ids, each of which is there once, and what the engine says of it."""
    engine, where = engine_of(target)
    with engine.open(where, **options) as collection:
        facts, rows = collection.facts(), collection.read()
    assert len(set(rows.ids)) == len(rows.ids) == len(rows.vectors)
    return dict(zip(rows.ids, np.asarray(rows.vectors), strict=True)), facts


def check_holds(target, ids, documents=DOCUMENTS):
    """A collection holds these documents to the bit, and nothing else; what the engine says of it."""
    there, facts = read_back(target)
    assert set(there) == set(ids)
    assert all((there[key] == row).all() for key, row in zip(ids, documents, strict=True))
    assert (facts.rows, facts.dimension, facts.unfinished) == (len(documents), documents.shape[1], False)
    return facts


def check_reads_back(target, name="dot", metric="inner product"):
    """What is read is what was stored, to the bit, whatever the ids; an exact search returns all of them."""
    ids = [f"document {row}" for row in range(len(DOCUMENTS) - len(ODD_IDS))] + ODD_IDS
    done = export(name, DOCUMENTS, target, ids=ids, queries=QUERIES, replace=True)
    assert str(check_holds(target, ids).metric) == metric
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        odd = collection.search(DOCUMENTS[-len(ODD_IDS) :], len(DOCUMENTS))
    assert done.strategy.index != "exact" or all(set(answer) == set(ids) for answer in odd.ids)


def check_imported(target, folder, vectors, *options):
    """``data import`` makes a store of a collection: these vectors to the bit, under their ids."""
    run_here("data", "import", target, folder / "store", *options)
    store = open_store(folder / "store")
    assert not store.manifest.normalization_kept
    assert len(store.ids) == len(vectors)
    rows = dict(zip(store.ids, np.asarray(store.vectors), strict=True))
    assert all((rows[name] == vector).all() for name, vector in vectors.items())


def check_ids(target, ids):
    """Ids of any text come back from reading and from searching, and what was removed is gone."""
    rows = np.eye(len(ids), 16, dtype=np.float32) * np.arange(1, len(ids) + 1, dtype=np.float32)[:, None]
    export("euclidean", rows, target, ids=ids, k=1)
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        assert sorted(collection.read().ids) == sorted(ids)
        assert collection.search(rows, 1).ids == [[name] for name in ids]
        collection.discard(ids[:-1])
        assert list(collection.read().ids) == ids[-1:]


def check_idempotent(target, folder, name="dot"):
    """A finished export that is run again changes nothing; other content is refused, and taken with replace."""
    ids = [str(row) for row in range(len(DOCUMENTS))]
    done = export(name, DOCUMENTS, target, queries=QUERIES, out=folder)
    engine, where = engine_of(target)

    def never(*_):
        raise AssertionError("it is written again")

    with pytest.MonkeyPatch.context() as patch:
        kind = type(engine.open(where))
        for step in ("create", "add", "remove", "discard", "finish"):
            patch.setattr(kind, step, never)
        again = export(name, DOCUMENTS, target, queries=QUERIES, out=folder)
    # not one value: Chroma loads its graph anew when a folder is opened, and one in 90 times a query finds other rows
    assert min(again.verification.recall, done.verification.recall) >= 0.95
    check_other_metric_refused(target, folder, done)
    other = DOCUMENTS[:100, :5] * 2
    for out in (folder, None):
        with pytest.raises(DataError, match=r"holds 600 vectors of 16 dimensions.*--replace"):
            export(name, other, target, queries=QUERIES[:, :5], out=out)
    check_holds(target, ids)
    assert export(name, other, target, queries=QUERIES[:, :5], out=folder, replace=True).rows == 100
    check_holds(target, ids[:100], other)


def check_other_metric_refused(target, folder, done):
    """The same documents under the same ids for another metric are another collection: what stands there stays."""
    metric = done.strategy.serving.metric
    other = "cosine" if metric is Metric.EUCLIDEAN else "euclidean"
    kept = files_under(folder)
    for out in (folder, None):
        with pytest.raises(DataError, match=rf"holds 600 vectors of 16 dimensions for {metric} already.*--replace"):
            export(other, DOCUMENTS, target, queries=QUERIES, out=out)
    assert files_under(folder) == kept  # the scorer by which it is asked, too
    assert check_holds(target, [str(row) for row in range(len(DOCUMENTS))]).metric is metric


KILLED = """
import json, os, signal, sys
import numpy as np
from offsphere.engines.shipping import serving
from offsphere.engines.shipping.exporting import export
from offsphere.engines.registry import engine_of

options = json.loads(sys.argv[1])
serving.BLOCK = 64
serving.stored_blocks.__defaults__ = (0, 64)
engine, where = engine_of(options["target"])
kind = type(engine.open(where))
kind.blocks_at_once = min(kind.blocks_at_once, 4)
step, left = options["step"], [options["calls"]]
plain = getattr(kind, step)

def counted(self, *given):
    left[0] -= 1
    if left[0] == 0 and options["moment"] == "within":
        given = [part[:20] for part in given]
    if left[0] == 0 and options["moment"] == "before":
        os.kill(os.getpid(), signal.SIGKILL)
    plain(self, *given)
    if left[0] == 0:
        os.kill(os.getpid(), signal.SIGKILL)

setattr(kind, step, counted)
exec(options["code"])
documents = np.load(options["documents"])
export(options["name"], documents, options["target"], ids=options["ids"], index=options["index"], out=options["out"])
"""


def run_killed(options):
    """Export in a process that kills itself at the moment that the options say."""
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED, json.dumps(options)],
        env=environment_with(ROOT),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr


def check_killed(
    target,
    folder,
    *,
    step="add",
    calls=4,
    moment="after",
    index=None,
    name="dot",
    code="",
    unfinished=None,
    noted=True,
):
    """An export that is killed in the middle is seen as such, and the same command ends with the same collection.

    Args:
        target: Where to.
        folder: For what the export keeps.
        step: The method of the collection in which the kill comes.
        calls: In which of its calls.
        moment: Whether it comes before the call, after it, or within: when some rows of a batch are there.
        index: exact, graph or lists; what the engine takes without.
        name: Of the scorer: one whose vectors are stored as they are.
        code: Is run in the child before it begins; ``left[0]`` is how many calls there are to come.
        unfinished: Whether the collection says so; by itself where nothing is said.
        noted: Whether the export keeps a record of what it has done; without one it begins anew.
    """
    folder.mkdir()
    out = folder / "out" if noted else None
    np.save(folder / "documents.npy", DOCUMENTS)
    ids = [f"document {row}" for row in range(len(DOCUMENTS))]
    ids[200 : 200 + len(ODD_IDS)] = ODD_IDS
    options = {"target": target, "documents": str(folder / "documents.npy"), "ids": ids, "index": index}
    options |= {
        "out": str(out) if noted else None,
        "step": step,
        "calls": calls,
        "moment": moment,
        "name": name,
        "code": code,
    }
    run_killed(options)
    engine, where = engine_of(target)
    with engine.open(where) as collection:
        facts = collection.facts()
    assert facts.unfinished == (step != "finish" or moment == "before" if unfinished is None else unfinished)
    assert step not in ("add", "add_blocks") or 0 < facts.rows < len(DOCUMENTS)
    done = export(name, DOCUMENTS, target, ids=ids, index=index, out=out)
    assert done.rows == len(DOCUMENTS)
    assert done.verification.recall >= 0.95
    check_holds(target, ids)


def check_bits(target, kind):
    """Bits find candidates and whole vectors rank them: enough of the exact answer, with exact scores, as printed."""
    documents, queries = vectors_of(5, 1_000, 64), vectors_of(6, 40, 64)
    done = export("cosine", documents, target, queries=queries, index=kind, stored="binary")
    assert done.passed
    assert done.verification.score_error < SCORE
    assert done.strategy.effort > 10
    check_snippet(done, target, queries)
    few = export("cosine", documents, target, queries=queries, index=kind, stored="binary", effort=10, replace=True)
    assert few.verification.recall < 0.7  # ten by their bits are not the ten best
    assert "store the vectors as float32: they are stored as binary" in few.advice
    there, facts = read_back(target)
    assert facts.stored.endswith("and bits")
    assert all((there[str(row)] == vector).all() for row, vector in enumerate(documents))
    return done


def files_under(folder):
    """All files below a folder, and what is in them."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK)
    }
