"""A race: every strategy that was tried stands in the printed table; a part of a large corpus stands for all of it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import offsphere as osp
from offsphere.base.errors import ParameterError
from offsphere.cli import app
from offsphere.cli.steps.export_steps import print_export
from offsphere.engines.hnswlib import HnswlibCollection
from offsphere.engines.shipping import racing, strategy
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.kept_strategy import KeptStrategy
from offsphere.engines.shipping.racing import whole_corpus
from offsphere.engines.shipping.serving import as_distance
from offsphere.engines.shipping.strategy import ExportWishes, Strategy
from tests.engines import engine_laws as laws

DOCUMENTS, QUERIES = laws.vectors_of(11, 900, 16), laws.vectors_of(12, 20, 16)
ROW = re.compile(r"(.+?) +([01]\.\d{3}) +(\d+\.\d{3})")


def test_every_strategy_stands_in_the_printed_table_with_its_recall_and_time(tmp_path, monkeypatch):
    """hnswlib's own effort is ten candidates, which is too little for fifty documents of unlike lengths."""
    pytest.importorskip("hnswlib")
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "documents.npy", DOCUMENTS)
    np.save(tmp_path / "queries.npy", QUERIES)
    command = ["export", "dot", "--vectors", ".", "--to", "hnswlib:x.hnsw", "--k", "50", "--goal", "0.999", "--tune"]
    result = CliRunner().invoke(app, command)
    lines = result.stdout.split("\n\n")[0].splitlines()
    assert re.split(r" {2,}| (?=recall)", lines[0]) == ["strategy", "recall", "ms a query"]
    rows = [ROW.fullmatch(line).groups() for line in lines[1:]]
    record = json.loads((tmp_path / "export" / "hnswlib-x" / "verification.json").read_text())
    raced = record["raced"]
    assert rows == [(row["strategy"], f"{row['recall']:.3f}", f"{row['milliseconds']:.3f}") for row in raced]
    assert [row["milliseconds"] for row in raced] == sorted(row["milliseconds"] for row in raced)
    names = [name for name, _, _ in rows]
    assert len(set(names)) == len(names)
    ways = {"inner product, graph", "inner product as distance, graph", "inner product, graph, 8 bands of length"}
    assert {re.sub(r", effort \d+", "", name) for name in names} == ways
    assert ways < set(names)  # each is first asked with no effort of ours
    tried = {way: [row for row in raced if re.sub(r", effort \d+", "", row["strategy"]) == way] for way in ways}
    for way, rows_of_way in tried.items():
        efforts = sorted(row["effort"] or 0 for row in rows_of_way)
        assert efforts == [0, 64, 128, 256, 512, 1024][: len(efforts)], way
        met = [row["recall"] >= 0.999 for row in sorted(rows_of_way, key=lambda row: row["effort"] or 0)]
        assert not any(met[:-1]), "it goes on after the goal is met"
        assert met[-1] or len(efforts) == 6, "it stops before the goal is met"
    assert len(tried["inner product, graph"]) > 1
    good = [row for row in raced if row["recall"] >= 0.999] or [max(raced, key=lambda row: row["recall"])]
    chosen = {name: good[0][name] for name in ("metric", "augmented", "index", "bands")}
    assert {name: record["strategy"][name] for name in chosen} == chosen
    assert (result.exit_code == 0) == record["passed"]


@pytest.mark.parametrize("k", [64, 100, 1_000])
def test_efforts_are_above_k_and_none_is_tried_twice(tmp_path, k):
    """Once: a graph looks at k candidates by itself, so that for 1,000 documents all five efforts were one search."""
    pytest.importorskip("hnswlib")
    rows = laws.vectors_of(21, 3_000, 8)
    done = osp.export("dot", rows, f"hnswlib:{tmp_path}/x.hnsw", queries=QUERIES[:5, :8], k=k, goal=1.0, tune=True)
    assert len({tried.name for tried, _ in done.raced}) == len(done.raced)
    by_way = {}
    for tried, seen in done.raced:
        way = (tried.serving.metric, tried.serving.augmented, tried.edges)
        by_way.setdefault(way, []).append((tried.effort or 0, seen.recall))
    for found in map(sorted, by_way.values()):
        efforts = [effort for effort, _ in found]
        assert efforts == [0, 2 * k, 4 * k, 8 * k, 16 * k, 32 * k][: len(efforts)]
        assert found[-1][1] == 1.0 or len(efforts) == 6 or efforts[-1] >= len(rows)
        assert not any(effort >= len(rows) for effort in efforts[:-1]), "it looks at more than all"
    assert any(len(found) > 1 for found in by_way.values())


def test_an_effort_that_a_part_was_content_with_is_raised_from_there(tmp_path, monkeypatch):
    """Once: a winner that found too little among all documents was asked with less than in the race."""
    pytest.importorskip("hnswlib")
    monkeypatch.setattr(strategy, "MOST_EFFORTS", 2)
    scorer, corpus, target = osp.parse_scorer("dot"), Corpus.of(DOCUMENTS, None, QUERIES), f"hnswlib:{tmp_path}/x.hnsw"
    asked = ExportWishes(k=50, goal=1.0)
    chosen = Strategy(serving=as_distance(scorer, corpus), index="graph", effort=100)
    KeptStrategy.of(tmp_path / "out", scorer, corpus, asked, target).write(chosen)
    efforts, plain = [], HnswlibCollection.search

    def noted(self, queries, k, effort=None):
        efforts.append(effort)
        return plain(self, queries, min(k, 20), effort)  # too few, whatever is looked at

    monkeypatch.setattr(HnswlibCollection, "search", noted)
    osp.export(scorer, corpus, target, k=50, goal=1.0, tune=True, out=tmp_path / "out")
    assert list(dict.fromkeys(efforts)) == [100, 200, 400]


def test_a_race_and_an_effort_are_refused_together(tmp_path):
    with pytest.raises(ParameterError, match="an effort of 99 and a race, which finds one: leave --effort out"):
        osp.export("dot", DOCUMENTS, f"faiss:{tmp_path}/x.faiss", tune=True, effort=99)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def part_of_100(monkeypatch):
    monkeypatch.setattr(racing, "MOST_DOCUMENTS", 100)


def longest_outside(seed=0):
    """Documents of which a part of 100 lacks the longest."""
    drawn = np.random.default_rng(seed).permutation(len(DOCUMENTS))
    rows = DOCUMENTS.copy()
    lengths = np.linalg.norm(rows, axis=1)
    rows[drawn[:100]] *= (np.median(lengths) / lengths[drawn[:100]])[:, None]
    return rows


def test_a_part_is_a_random_one_of_the_same_documents(part_of_100):
    ids = [f"d{row}" for row in range(len(DOCUMENTS))]
    corpus = Corpus.of(DOCUMENTS, ids, QUERIES)
    part = racing._part(corpus, 0)
    rows = [ids.index(name) for name in part.ids]
    assert (len(rows), len(set(rows))) == (100, 100)
    assert rows == sorted(rows)
    assert (part.vectors == DOCUMENTS[rows]).all()
    assert part.queries is corpus.queries
    assert max(rows) > 700  # not the first ones
    assert racing._part(corpus, 0).ids == part.ids != racing._part(corpus, 1).ids
    small = Corpus.of(DOCUMENTS[:100])
    assert racing._part(small, 0) is small


def test_what_was_chosen_on_a_part_reaches_as_far_as_the_longest_document_of_all(part_of_100):
    rows = longest_outside()
    corpus, scorer = Corpus.of(rows), osp.parse_scorer("dot")
    part = racing._part(corpus, 0)
    chosen = Strategy(serving=as_distance(scorer, part), index="graph")
    longest = np.linalg.norm(rows, axis=1).max()
    assert chosen.serving.radius < longest / 2
    whole = whole_corpus(chosen, corpus)
    assert whole.serving.radius >= longest
    assert (whole.index, whole.edges) == (chosen.index, chosen.edges)


def test_a_race_on_a_part_says_so_and_tells_an_exact_search_as_it_is_for_all(tmp_path, monkeypatch, part_of_100):
    pytest.importorskip("faiss")
    monkeypatch.chdir(tmp_path)
    np.save("documents.npy", DOCUMENTS)
    np.save("queries.npy", QUERIES)
    measured, plain = [], racing.efforts_tried

    def noted(*given):
        for tried, seen in plain(*given):
            measured.append((tried, seen.milliseconds))
            yield tried, seen

    monkeypatch.setattr(racing, "efforts_tried", noted)
    result = CliRunner().invoke(app, ["export", "dot", "--vectors", ".", "--to", "faiss:x.faiss", "--tune"])
    told = " ".join(result.stdout.split())
    assert "Raced on 100 of the 900 documents, drawn at random: recall and times are of these, but" in told
    record = json.loads((tmp_path / "export" / "faiss-x" / "verification.json").read_text())
    assert record["raced_on"] == 100
    times = {row["strategy"]: row["milliseconds"] for row in record["raced"]}
    assert len(times) == len(measured)
    for tried, milliseconds in measured:
        assert times[tried.name] == pytest.approx(milliseconds * (9 if tried.index == "exact" else 1))
    result = CliRunner().invoke(app, ["export", "dot", "--vectors", ".", "--to", "faiss:y.faiss", "--index", "exact"])
    assert "Raced on" not in result.stdout
    assert json.loads((tmp_path / "export" / "faiss-y" / "verification.json").read_text())["raced_on"] is None


def test_a_race_on_all_documents_does_not_speak_of_a_part(tmp_path, capsys):
    pytest.importorskip("faiss")
    done = osp.export("dot", DOCUMENTS, f"faiss:{tmp_path}/x.faiss", queries=QUERIES, index="exact", tune=True)
    assert done.raced_on == len(DOCUMENTS)
    print_export(done, tmp_path)
    assert "Raced on" not in capsys.readouterr().out


@pytest.mark.parametrize("target", ["sqlite:{}/x.sqlite:docs", "faiss:{}/x.faiss"])
def test_a_race_on_a_part_ends_with_all_documents(tmp_path, part_of_100, target):
    """sqlite-vec has no inner product: the coordinate that makes it a distance must fit those outside of the part."""
    pytest.importorskip("sqlite_vec" if target.startswith("sqlite") else "faiss")
    rows = longest_outside()
    done = osp.export("dot", rows, target.format(tmp_path), queries=QUERIES, k=10, index="exact", tune=True)
    assert done.rows == len(rows)
    assert done.raced
    assert done.verification.recall == 1.0
    engine_target = target.format(tmp_path)
    laws.check_snippet(done, engine_target, QUERIES)
