from __future__ import annotations

import json
from dataclasses import replace

import pytest

from offsphere import CompareOptions, compare_shards
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.runners import planning
from offsphere.runners import shard_plan as planned
from offsphere.runners.calibration import ComparePace
from offsphere.runners.shard_plan import ShardPlan, Workload
from tests.cli.running import printed, run_here
from tests.runners.corpora import write_corpus, write_texts

WIDTH = 256  # of the vectors of wordllama
LOAD = Workload(documents=10**9, dimension=768, queries=10_000)


def plan_of(memory=10**9, reading=5.0, computing=60.0, driver=10**9):
    return ShardPlan(
        work="compare",
        workload=LOAD,
        shards=1_000,
        workers=4,
        bytes_to_read=2 * LOAD.bytes,
        multiplications=10**18,
        memory=memory,
        driver=driver,
        states=86 * 10**9,
        reading=reading,
        computing=computing,
    )


def test_it_is_bound_by_what_takes_longest_or_does_not_fit(monkeypatch):
    monkeypatch.setattr(planned, "physical_memory", lambda: 8 * 10**9)
    assert (plan_of().bound, plan_of().seconds) == ("the processor", 60.0)
    assert plan_of(reading=61.0).bound == "the disk"
    assert (
        plan_of(memory=9 * 10**9).sentences[-1] == "bound by memory: a worker needs more than the 8 GB of this machine"
    )
    assert plan_of(driver=71 * 10**9).sentences[-1] == (
        "bound by memory: the command itself needs more than the 8 GB of this machine"
    )
    assert "states, on the disk of the command: 86 GB" in plan_of().sentences


@pytest.fixture
def paces(monkeypatch):
    """A machine of known speed."""
    monkeypatch.setattr(planning, "pace_of_disk", lambda: 1e9)
    monkeypatch.setattr(planning, "pace_of_measure", lambda dimension: 1e-6)
    monkeypatch.setattr(planning, "pace_of_compare", lambda *_: ComparePace(1e-6, 1e-9, maps=1, lists=2, depth=10))


def test_workers_read_beside_each_other_and_hold_what_is_theirs(paces):
    options = CompareOptions(scorers=["dot"])
    one, four = (planning.plan_compare(LOAD, options, workers) for workers in (1, 4))
    assert (one.reading, four.reading) == (2 * LOAD.bytes / 1e9, LOAD.bytes / 2e9)
    assert [planning.plan_measure(LOAD, workers).reading for workers in (1, 4)] == [LOAD.bytes / 1e9, LOAD.bytes / 4e9]
    more = planning.plan_compare(replace(LOAD, documents=4 * 10**9), options, 4, shards=4_000)
    assert more.memory == four.memory  # shards of the same size
    assert more.driver > four.driver + 3 * 10**9 * planned.AN_ID


@pytest.mark.parametrize("shards", [1, 5])
def test_states_take_the_disk_that_the_plan_says(tmp_path, paces, shards):
    source = write_corpus(tmp_path / "data", queries=400, documents=9_000, width=32)
    load = Workload(documents=9_000, dimension=32, queries=400)
    plan = planning.plan_compare(load, CompareOptions(scorers=["dot"]), shards=shards)
    compare_shards(source, CompareOptions(scorers=["dot"]), shards=shards, folder=tmp_path / "states")
    size = sum(path.stat().st_size for path in (tmp_path / "states").iterdir())
    assert plan.states == pytest.approx(size, rel=0.25)  # names, judgments and headers are not counted


def test_bytes_are_those_of_the_numbers_of_all_documents():
    assert LOAD.bytes == 10**9 * 768 * 4
    assert "to read: 6.14 TB" in plan_of().sentences
    with pytest.raises(ParameterError, match="nothing to plan"):
        Workload(documents=0, dimension=1)


def test_a_corpus_that_is_described_or_there_is_planned_and_nothing_runs(tmp_path):
    source = write_corpus(tmp_path / "data")
    told = printed(
        "compare", source.data, "--vectors", source.vectors, "--plan", "--scorer", "dot", "--documents", "1e6"
    )
    assert told.startswith("compare: 1,000,000 documents x 6, 20 queries\nshards: 16, of 62,500 documents each\n")
    assert "to read: 48 MB\nmultiplications: " in told
    told = printed("measure", "--plan", "--documents", "2e5", "--dimension", "4", "--shards", "7")
    assert told.startswith("measure: 200,000 documents x 4\nshards: 7, of 28,572 documents each\nto read: 3.2 MB\n")
    told = printed("measure", source.data, "--vectors", source.vectors, "--plan")
    assert told.startswith("measure: 9,000 documents x 6\nshards: 1, of 9,000 documents each\nto read: 216 kB\n")
    with pytest.raises(OffsphereError, match="needs --queries: add it, or name the DATA"):
        run_here("compare", "--plan", "--documents", "10", "--dimension", "4")
    with pytest.raises(OffsphereError, match="--documents describes a corpus that is not there: add --plan"):
        run_here("compare", source.data, "--documents", "10")
    with pytest.raises(OffsphereError, match="name the DATA"):
        run_here("compare")


def test_an_embedding_is_planned_by_the_model_and_the_texts_that_are_there(tmp_path):
    data = write_texts(tmp_path / "data", 300)
    told = printed("embed", data, "--model", "wordllama", "--plan", "--workers", "3", "--documents", "2e6").splitlines()
    assert told[0] == f"embed: 2,000,000 documents x {WIDTH}"
    assert told[1] == "shards: 489, of 4,090 documents each"
    assert told[-2].startswith("time with 3 workers, by the speed of this machine: ")
    assert not (tmp_path / "vectors").exists()
    assert printed("embed", data, "--model", "wordllama", "--plan").startswith("embed: 300 documents x ")


def test_an_audit_is_planned_as_its_comparison_is(tmp_path):
    source = write_corpus(tmp_path / "data")
    asked = (source.data, "--vectors", source.vectors, "--plan", "--json")
    audited, compared = (json.loads(printed(name, *asked)) for name in ("audit", "compare"))
    timed = {"seconds", "reading", "computing", "bound"}
    same = [{name: value for name, value in plan.items() if name not in timed} for plan in (audited, compared)]
    assert same[0] == same[1]
    assert not (tmp_path / "audit.html").exists()
