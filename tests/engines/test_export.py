"""What was measured is what an engine returns: every scorer that lowers, exported, asked by the printed snippet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import offsphere as osp
from offsphere.base.errors import DataError, OffsphereError, ParameterError
from offsphere.engines.deployed.live_collection import LiveCollection
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.racing import cheapest
from offsphere.engines.shipping.strategy import Strategy
from offsphere.engines.shipping.verification import Verification
from tests.cli.running import run_here
from tests.engines import engine_laws as laws
from tests.oracles import top, values
from tests.processes import run_warm

faiss = pytest.importorskip("faiss")
usearch = pytest.importorskip("usearch.index")
hnswlib = pytest.importorskip("hnswlib")

RNG = np.random.default_rng(3)
LENGTHS = RNG.lognormal(0, 0.9, (500, 1))  # a few are very long
DOCUMENTS = (RNG.normal(0.2, 1, (500, 10)) * LENGTHS).astype(np.float32)
QUERIES = (RNG.normal(0.2, 1, (30, 10)) * RNG.lognormal(0, 0.5, (30, 1))).astype(np.float32)
IDS = [f"doc {row}" for row in range(len(DOCUMENTS))]
EXACT = [("faiss", "exact"), ("usearch", "exact")]
GRAPHS = [("faiss", "graph"), ("faiss", "lists"), ("usearch", "graph"), ("hnswlib", "graph")]
SIMILARITIES = list(laws.LOWERED)
MADE = ["csls", "nnn", "z-score", "center + csls", "csls + z-score", "length-prior"]
KNOTS, BONUSES = np.array([-1.0, 0.0, 2.0]), np.array([0.3, -0.1, 0.4])  # of logarithms of lengths
SLOWER = {"query-normalized", "document-normalized", "half", "polar(1, 1.5)", "log-prior(0.2)", "log-prior(-0.4)"}
PLAIN = [name for name in SIMILARITIES if name not in SLOWER]  # of those, others of the family are asked of graphs
NAMES = [transform + name for transform in laws.TRANSFORMS for name in SIMILARITIES] + MADE
EACH_TRANSFORM = laws.each_transform({**laws.PARTNERS, "standardize + ": "half", "temper + ": "polar(1, 1.5)"})
OFTEN = {*SIMILARITIES, *MADE, *EACH_TRANSFORM}
EVERY_NAME = [pytest.param(name, marks=[] if name in OFTEN else [pytest.mark.slow]) for name in NAMES]
BY_A_GRAPH = {*PLAIN, *MADE, *EACH_TRANSFORM}
EVERY_NAME_BY_A_GRAPH = [pytest.param(name, marks=[] if name in BY_A_GRAPH else [pytest.mark.slow]) for name in NAMES]


def scorer_named(name):
    """The scorer, made from the documents where its name does not say all."""
    moments, bank = osp.Moments.of(DOCUMENTS), QUERIES[:20]
    if name not in MADE:
        return osp.parse_scorer(name).fit(moments)
    if name == "length-prior":
        return osp.Scorer(osp.LengthPrior(KNOTS, BONUSES))
    base = osp.parse_scorer("center + cosine" if "center" in name else "cosine").fit(moments)
    if "csls" in name:
        base = osp.csls(base, DOCUMENTS, bank, ids=IDS)
    if "nnn" in name:
        base = osp.nnn(base, DOCUMENTS, bank, ids=IDS)
    return osp.standardize_queries(base, DOCUMENTS, ids=IDS) if "z-score" in name else base


def true_values(name, scorer):
    """Every query's value with every document, in plain float64."""
    queries, documents = scorer.transform(QUERIES, "query"), scorer.transform(DOCUMENTS)
    full = values(name.rpartition("+ ")[2] if name not in MADE else "cosine", queries, documents)
    if name == "length-prior":
        full = full + np.interp(np.log(np.linalg.norm(documents, axis=1)), KNOTS, BONUSES)
    if scorer.bias is not None:
        full = full + scorer.bias.values
    if scorer.standardization is not None:
        full = (full - full.mean(axis=1, keepdims=True)) / full.std(axis=1, keepdims=True)
    return full


def asked(done, query):
    """What the printed snippet leaves as hits, run as it is printed."""
    names = {"vectors": query[None]}
    exec(compile(done.snippet, "snippet", "exec"), names)
    return names["hits"]


def exported(tmp_path, name, engine, index, **options):
    scorer = scorer_named(name)
    target = f"{engine}:{tmp_path}/documents.{engine}"
    return scorer, osp.export(
        scorer, DOCUMENTS, target, ids=IDS, queries=QUERIES, index=index, out=tmp_path / "out", **options
    )


@pytest.mark.parametrize(("engine", "index"), EXACT)
@pytest.mark.parametrize("name", EVERY_NAME)
def test_an_exact_index_returns_what_the_scorer_ranks_first_with_its_scores(tmp_path, name, engine, index):
    scorer, done = exported(tmp_path, name, engine, index)
    assert done.verification.worst == 1.0
    assert done.verification.score_error < 1e-5
    assert (done.rows, done.left_out, done.passed, list(done.advice)) == (len(DOCUMENTS), 0, True, [])
    full = true_values(name, scorer)
    serving = done.strategy.serving
    returned = engine_of(done.target)[0].metrics[serving.metric].returned
    for row, query in enumerate(QUERIES[:3]):
        hits = asked(done, query)
        rows = [IDS.index(document) for document, _ in hits]
        scale = np.abs(full[row][rows]).max()
        ours = serving.values(query[None], returned.value(np.array([score for _, score in hits]))[None])[0]
        assert np.allclose(ours, full[row][rows], atol=2e-5 * scale)
        best = full[row][top(full, 10)[row]]
        assert np.allclose(full[row][rows], best, atol=2e-5 * np.abs(best).max())  # ties apart


@pytest.mark.parametrize(("engine", "index"), GRAPHS)
@pytest.mark.parametrize("name", EVERY_NAME_BY_A_GRAPH)
def test_an_approximate_index_meets_the_goal_with_the_effort_that_the_export_chose(tmp_path, name, engine, index):
    scorer, done = exported(tmp_path, name, engine, index)
    if not done.passed:  # a graph of inner products with very long documents: it says so, and a race finds a way
        assert any("--tune" in line for line in done.advice)
        scorer, done = exported(tmp_path, name, engine, index, tune=True, replace=True)
    assert done.strategy.index == index
    assert done.verification.recall >= 0.95
    right = top(true_values(name, scorer), 10)
    found = [[IDS.index(document) for document, _ in asked(done, query)] for query in QUERIES]
    recall = np.mean([np.isin(best, rows).mean() for best, rows in zip(right, found, strict=True)])
    assert recall >= 0.95 - 0.01  # the snippet asks as the export did; ties apart


def test_the_record_says_what_was_seen_and_the_saved_scorer_is_the_one_that_is_served(tmp_path):
    scorer, done = exported(tmp_path, "whiten(0.5) + cosine", "faiss", "exact")
    record = json.loads((tmp_path / "out" / "verification.json").read_text())
    assert (record["recall"], record["rows"], record["passed"]) == (done.verification.recall, len(IDS), True)
    assert osp.Scorer.load(tmp_path / "out" / "scorer").key == scorer.key
    assert (tmp_path / "out" / "query.py").read_text() == done.snippet


@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_other_content_is_refused_and_left_as_it_is(tmp_path, engine):
    target = f"{engine}:{tmp_path}/documents.{engine}"
    osp.export("dot", DOCUMENTS, target, ids=IDS)
    before = (tmp_path / f"documents.{engine}").read_bytes()
    with pytest.raises(DataError, match=r"holds 500 vectors of 10 dimensions .*--replace"):
        osp.export("dot", DOCUMENTS[:, :4], target, ids=IDS)
    assert (tmp_path / f"documents.{engine}").read_bytes() == before
    done = osp.export("dot", DOCUMENTS[:, :4], target, ids=IDS, replace=True)
    assert done.verification.recall >= 0.95
    assert (tmp_path / f"documents.{engine}").read_bytes() != before


def rebuilt(engine, path):
    """Somebody else's index of as many vectors, by the package itself."""
    other = DOCUMENTS[::-1].copy()
    if engine == "faiss":
        index = faiss.IndexFlatIP(other.shape[1])
        index.add(other)
        faiss.write_index(index, str(path))
    elif engine == "usearch":
        index = usearch.Index(ndim=other.shape[1], metric="ip", dtype="f32")
        index.add(np.arange(len(other)), other)
        index.save(str(path))
    else:
        index = hnswlib.Index("ip", other.shape[1])
        index.init_index(len(other))
        index.add_items(other)
        index.save_index(str(path))


@pytest.mark.parametrize("changed", ["index", "ids"])
@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_a_file_that_somebody_built_anew_is_no_longer_ours_to_replace(tmp_path, engine, changed):
    """Once: as many vectors as were written there were taken for those that were written."""
    path = tmp_path / f"documents.{engine}"
    asked = {"ids": IDS, "queries": QUERIES, "out": tmp_path / "out"}
    osp.export("dot", DOCUMENTS, f"{engine}:{path}", **asked)
    osp.export("dot", DOCUMENTS, f"{engine}:{path}", **asked)  # nobody touched it
    if changed == "index":
        rebuilt(engine, path)
    else:
        beside = path.with_suffix(".ids") if engine == "faiss" else path.with_name(f"{path.name}.ids")
        beside.write_text("".join(f"mine {name}\n" for name in IDS))
    before = {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
    with pytest.raises(DataError, match=r"holds 500 vectors of 10 dimensions .*--replace"):
        osp.export("dot", DOCUMENTS, f"{engine}:{path}", **asked)
    assert {file: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()} == before
    assert osp.export("dot", DOCUMENTS, f"{engine}:{path}", **asked, replace=True).rows == len(DOCUMENTS)


class Killed(BaseException):
    """Ends an export in its middle."""


@pytest.mark.parametrize("before", range(4))
def test_a_kill_while_hnswlib_is_replaced_never_leaves_old_vectors_under_another_metric(tmp_path, monkeypatch, before):
    """Once: what says the metric was written first. The four files appear one after the other; each moment is tried."""
    target = f"hnswlib:{tmp_path}/documents.hnsw"
    osp.export("dot", DOCUMENTS, target, ids=IDS)
    renamed, left = Path.replace, [before]

    def killed(path, to):
        if path.parent == tmp_path:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
        return renamed(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(Killed):
            osp.export("euclidean", DOCUMENTS, target, ids=IDS, replace=True)
    if before == 0:
        live = LiveCollection.read(target)
        assert str(live.facts.metric) == "inner product"
        assert (live.vectors == DOCUMENTS).all()
    else:
        with pytest.raises(DataError, match=r"is not the file of which documents\.hnsw\.sha256 has the checksum"):
            LiveCollection.read(target)
        engine, where = engine_of(target)
        with engine.at(where) as collection, pytest.raises(DataError, match="has the checksum"):
            collection.search(QUERIES, 3)
    assert osp.export("euclidean", DOCUMENTS, target, ids=IDS, replace=True).verification.score_error < 1e-5
    assert str(LiveCollection.read(target).facts.metric) == "euclidean"


PEAK = """
import sys
from pathlib import Path
import numpy as np
from offsphere.engines.collection import Layout
from offsphere.engines.metric import Metric
from offsphere.engines.registry import engine_of

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1])

engine, where = engine_of(sys.argv[1])
rng = np.random.default_rng(0)
with engine.at(where) as collection:
    collection.create(Layout(8192, Metric.INNER_PRODUCT, "graph", rows=1024))
    for start in range(0, 1024, 64):
        collection.add([str(start + row) for row in range(64)], rng.random((64, 8192), np.float32))
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
    before = peak()
    collection.finish()
    print(1024 * (peak() - before))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux counts a peak anew")
@pytest.mark.parametrize("engine", ["usearch", "hnswlib"])
def test_an_index_that_is_written_is_not_in_memory_twice(tmp_path, engine):
    path = tmp_path / f"documents.{engine}"
    child = run_warm(PEAK, f"{engine}:{path}", imports=("offsphere.engines.registry", "numpy"))
    assert child.returncode == 0, child.stderr
    assert path.stat().st_size > 32 << 20
    assert int(child.stdout) < path.stat().st_size / 2
    assert not [file for file in tmp_path.iterdir() if file.name.startswith(".")]


@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_the_same_documents_for_another_metric_are_other_content(tmp_path, engine):
    target = f"{engine}:{tmp_path}/documents.{engine}"
    osp.export("dot", DOCUMENTS, target, ids=IDS, out=tmp_path / "out")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for out in (tmp_path / "out", None):
        with pytest.raises(DataError, match=r"holds 500 vectors of 10 dimensions for inner product already.*--replace"):
            osp.export("euclidean", DOCUMENTS, target, ids=IDS, out=out)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_documents_without_a_place_in_the_ranking_are_left_out_and_counted(tmp_path, engine):
    rows = DOCUMENTS.copy()
    rows[[3, 77, 499]] = 0
    done = osp.export("cosine", rows, f"{engine}:{tmp_path}/some", ids=IDS, k=600)
    assert (done.rows, done.left_out) == (497, 3)
    hits = asked(done, QUERIES[0])
    assert not {"doc 3", "doc 77", "doc 499"} & {document for document, _ in hits}
    kept = osp.export("dot", rows, f"{engine}:{tmp_path}/all", ids=IDS)
    assert (kept.rows, kept.left_out) == (500, 0)  # to the dot product they are as far as what is orthogonal


@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_a_k_above_the_corpus_gets_all_of_it(tmp_path, engine):
    done = osp.export("dot", DOCUMENTS[:40], f"{engine}:{tmp_path}/few", queries=QUERIES, k=1_000)
    assert (done.verification.k, done.verification.recall, done.verification.short) == (40, 1.0, 0)


def test_an_export_tells_how_far_it_is(tmp_path):
    rows, told = RNG.normal(size=(40_000, 4)).astype(np.float32), []
    asked_with = {"queries": QUERIES[:, :4], "out": tmp_path / "out", "progress": lambda *call: told.append(call)}
    osp.export("dot", rows, f"faiss:{tmp_path}/v.faiss", **asked_with)
    phases = list(dict.fromkeys(note.partition(",")[0] for _, _, note in told))
    assert phases == ["exact answers", "storing", "building the index"]
    assert [call[:2] for call in told if call[2] == "storing"] == [(16_384, 40_000), (32_768, 40_000), (40_000, 40_000)]
    searched = [call[:2] for call in told if call[2].startswith("exact answers") and call[1]]
    assert searched == sorted(searched)
    assert searched[-1] == (40_000, 40_000)
    told.clear()
    osp.export(
        "dot", DOCUMENTS, f"faiss:{tmp_path}/raced.faiss", queries=QUERIES, tune=True, progress=asked_with["progress"]
    )
    ways = {note for _, _, note in told if note.endswith("graph, storing")}
    assert ways == {"inner product, graph, storing", "inner product as distance, graph, storing"}
    assert (len(DOCUMENTS), len(DOCUMENTS), "inner product, graph, storing") in told
    assert told[-1] == (0, 0, "building the index")


def test_a_finished_export_that_is_run_again_stores_nothing(tmp_path):
    pytest.importorskip("sqlite_vec")
    notes, asked_with = [], {"queries": QUERIES, "out": tmp_path / "out"}
    for expected in (True, False):
        notes.clear()
        osp.export(
            "cosine",
            DOCUMENTS,
            f"sqlite:{tmp_path}/v.sqlite:docs",
            **asked_with,
            progress=lambda done, total, note="": notes.append(note),
        )
        assert ("storing" in notes) == expected


def test_without_queries_documents_are_asked_with(tmp_path):
    done = osp.export("dot", DOCUMENTS, f"faiss:{tmp_path}/v.faiss")
    assert (done.verification.made_of, done.verification.queries) == ("documents", 100)
    with_queries = osp.export("dot", DOCUMENTS, f"faiss:{tmp_path}/w.faiss", queries=QUERIES)
    assert (with_queries.verification.made_of, with_queries.verification.queries) == ("queries", 30)


def test_what_an_engine_cannot_serve_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(OffsphereError, match=r"overlap is no inner product.*; cosine comes nearest, and what it"):
        osp.export("overlap", DOCUMENTS, f"faiss:{tmp_path}/v.faiss")
    with pytest.raises(ParameterError, match="hnswlib has no exact index: it has graph"):
        osp.export("dot", DOCUMENTS, f"hnswlib:{tmp_path}/v.hnsw", index="exact")
    with pytest.raises(ParameterError, match="hnswlib does not store vectors as int8"):
        osp.export("dot", DOCUMENTS, f"hnswlib:{tmp_path}/v.hnsw", stored="int8")
    assert not list(tmp_path.iterdir())


def seen(recall, milliseconds):
    return Verification(10, 100, "queries", recall, recall, 0, None, milliseconds, 10)


def test_the_cheapest_that_meets_the_goal_is_taken_and_else_the_one_that_finds_most():
    slow, quick, poor = (
        Strategy(serving=None, index=index, effort=effort)
        for index, effort in (("exact", None), ("graph", 64), ("graph", None))
    )
    raced = [(poor, seen(0.80, 0.1)), (quick, seen(0.96, 0.2)), (slow, seen(1.0, 0.9))]
    assert cheapest(raced, 0.95) is quick
    assert cheapest(raced, 0.97) is slow
    assert cheapest([*raced[:1], (quick, seen(0.7, 0.2))], 0.95) is poor


def test_a_race_tries_other_ways_and_leaves_nothing_behind(tmp_path):
    folder = tmp_path / "index"
    folder.mkdir()
    done = osp.export("dot", DOCUMENTS, f"faiss:{folder}/v.faiss", ids=IDS, queries=QUERIES, tune=True)
    names = [strategy.name for strategy, _ in done.raced]
    assert any("as distance" in name for name in names)
    assert any("bands of length" in name for name in names)
    assert any("exact" in name for name in names)
    times = [trial.milliseconds for _, trial in done.raced]
    assert times == sorted(times)
    first = next(strategy for strategy, trial in done.raced if trial.recall >= done.goal)
    assert (done.strategy.index, done.strategy.edges) == (first.index, first.edges)
    assert done.passed
    left = {path.name for path in folder.iterdir()}
    assert not [name for name in left if "race" in name]


def test_the_command_prints_what_was_seen_and_ends_with_one_where_the_goal_is_missed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "documents.npz", vectors=DOCUMENTS, ids=np.array(IDS))
    np.save(tmp_path / "queries.npy", QUERIES)
    printed = run_here("export", "dot", "--vectors", tmp_path, "--to", "faiss:v.faiss").stdout
    assert "It returns what was measured: 100.0% of the exact 10 best" in " ".join(printed.split())
    assert (tmp_path / "export" / "faiss-v" / "verification.json").is_file()
    from typer.testing import CliRunner

    from offsphere.cli import app

    options = [
        "export",
        "dot",
        "--vectors",
        str(tmp_path),
        "--to",
        "faiss:g.faiss",
        "--index",
        "lists",
        "--effort",
        "1",
    ]
    result = CliRunner().invoke(app, [*options, "--goal", "1", "--k", "400"])
    assert result.exit_code == 1
    assert "It returns less than asked for" in " ".join(result.stdout.split())
    assert "What to change:" in result.stdout


@pytest.mark.parametrize("engine", ["faiss", "usearch", "hnswlib"])
def test_an_id_with_a_letter_that_ends_lines_elsewhere_stays_one_id(tmp_path, engine):
    ids = [f"a\u2028{row}" for row in range(40)]
    done = osp.export("dot", DOCUMENTS[:40], f"{engine}:{tmp_path}/v", ids=ids, queries=QUERIES)
    best = top(values("dot", QUERIES[:1], DOCUMENTS[:40]), 1)[0, 0]
    assert done.verification.recall == 1.0
    assert asked(done, QUERIES[0])[0][0] == ids[best]
