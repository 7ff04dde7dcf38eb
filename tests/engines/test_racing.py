"""A race: every strategy that was tried stands in the printed table; a part of a large corpus stands for all of it."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import offsphere as osp
from offsphere.cli import app
from offsphere.engines import racing
from offsphere.engines.corpus import Corpus
from offsphere.engines.racing import whole_corpus
from offsphere.engines.serving import as_distance
from offsphere.engines.strategy import Strategy
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
        assert efforts == [0, 64, 128, 256, 512][: len(efforts)], way
        met = [row["recall"] >= 0.999 for row in sorted(rows_of_way, key=lambda row: row["effort"] or 0)]
        assert not any(met[:-1]), "it goes on after the goal is met"
        assert met[-1] or len(efforts) == 5, "it stops before the goal is met"
    assert len(tried["inner product, graph"]) > 1
    good = [row for row in raced if row["recall"] >= 0.999] or [max(raced, key=lambda row: row["recall"])]
    chosen = {name: good[0][name] for name in ("metric", "augmented", "index", "bands")}
    assert {name: record["strategy"][name] for name in chosen} == chosen
    assert (result.exit_code == 0) == record["passed"]


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
