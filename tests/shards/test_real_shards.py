"""Sharded equals whole on real and on many random vectors: whatever the shards, who works on them, and the threads."""

from __future__ import annotations

import os
from functools import cache

import numpy as np
import pytest

from offsphere import CompareOptions, EmbeddedSource, LocalRunner, RayRunner, compare, compare_shards, measure
from offsphere import measure_shards as measured_over
from offsphere.base.cores import CORES
from offsphere.data.vector_files import read_vectors
from offsphere.shards.measure_state import SECTIONS
from tests.processes import ROOT
from tests.runners.corpora import write_corpus
from tests.runners.ray_faults import Telling
from tests.shards.test_measure_state import assert_close

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray leaves sockets and processes to others
]
SCORERS = ("dot", "whiten(0.5) + cosine", "drop-top + polar(1, 0.5)", "euclidean")


@pytest.fixture(scope="module")
def corpora(real_data, embedded, shared_folder, tmp_path_factory):
    """The source of each corpus and the options of its comparison, with what one run tells of it."""

    @cache
    def load(name):
        if name == "scifact":
            embedded("scifact")
            source = EmbeddedSource(str(real_data / "scifact"), vectors=shared_folder / "wordllama" / "scifact")
            options = CompareOptions()  # everything that compare compares
        else:
            folder = tmp_path_factory.mktemp("random") / "data"
            source = write_corpus(folder, documents=300_000, queries=200, width=32, parts=3)
            options = CompareOptions(scorers=list(SCORERS))
        documents = source.vectors / "documents"
        table = compare(*source.load(), list(options.scorers) if options.scorers else None)
        return source, options, documents, table.to_json(), _measured(documents)

    return load


def _measured(documents):
    return measure(np.asarray(read_vectors(documents).vectors), sections=list(SECTIONS)).to_json()


@pytest.fixture(scope="module")
def ray():
    """Ray on this machine, connected: a runner of any kind works on it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_worker_register_timeout_seconds", "900")  # a busy machine starts processes slowly
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), str(ROOT / "src")]))  # for workers
        patch.delenv("RAY_ADDRESS", raising=False)
        import ray

        # starts it, again where the machine is too busy
        assert len(list(RayRunner(workers=1, object_store=200_000_000).run(Telling(), [1]))) == 1
        yield
        ray.shutdown()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shards", [1, 2, 7])
@pytest.mark.parametrize("on", ["here", "ray"])
@pytest.mark.parametrize("name", ["scifact", "random"])
def test_shards_are_one_run(corpora, request, monkeypatch, name, on, shards, threads):
    source, options, documents, table, shape = corpora(name)
    runner = LocalRunner()
    if on == "ray":
        request.getfixturevalue("ray")
        runner = RayRunner(workers=max(1, (os.cpu_count() or 1) // 2 if threads == 2 else 2), cpus=threads)
    monkeypatch.setenv(CORES, str(threads))
    monkeypatch.setenv("XDG_CACHE_HOME", str(documents.parent / f"cache-{on}-{shards}-{threads}"))
    assert compare_shards(source, options, shards=shards, runner=runner).to_json() == table
    told = measured_over(documents, sections=list(SECTIONS), shards=shards, runner=runner).to_json()
    assert_close(told, shape)
