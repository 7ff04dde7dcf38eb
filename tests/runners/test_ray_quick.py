"""Ray in every run of the tests: one that is started here, with one worker. What is killed in it are slow tests."""

from __future__ import annotations

import pytest

from offsphere import CompareOptions, RayRunner, compare, compare_shards, measure_shards
from offsphere.runners.runner import kept_workers
from tests.runners.corpora import SCORERS, write_corpus
from tests.runners.ray_faults import Telling, patient_ray

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray leaves sockets and processes to others
RUNNER = RayRunner(workers=1, object_store=80_000_000)


@pytest.fixture(scope="module", autouse=True)
def local_ray():
    ray = pytest.importorskip("ray")
    with patient_ray() as _, pytest.MonkeyPatch.context() as patch:
        patch.delenv("RAY_ADDRESS", raising=False)
        yield
        ray.shutdown()


def test_two_shards_on_a_ray_of_one_worker_are_one_run(tmp_path):
    source = write_corpus(tmp_path / "data", documents=3_000, parts=2)
    table = compare_shards(source, CompareOptions(scorers=list(SCORERS)), shards=2, runner=RUNNER)
    assert table.to_json() == compare(*source.load(), list(SCORERS)).to_json()
    path = source.vectors / "documents"
    assert measure_shards(path, shards=2, runner=RUNNER).to_json() == measure_shards(path, shards=2).to_json()


def test_workers_are_kept_between_the_passes_of_a_question_and_let_go_after_it():
    def process(runner):
        ((_, told),) = runner.run(Telling(), [1])
        return told

    with kept_workers(RUNNER) as crew:
        kept = {process(crew) for _ in range(3)}
    assert len(kept) == 1
    assert process(RUNNER) not in kept
