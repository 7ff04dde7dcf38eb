"""Ray itself, on this machine: a cluster of three nodes whose nodes and workers are killed."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from offsphere import (
    CompareOptions,
    EmbeddedSource,
    LocalRunner,
    RayRunner,
    compare,
    compare_shards,
    embed_shards,
    measure_shards,
)
from offsphere.base.errors import OffsphereError, ParameterError
from offsphere.runners.runner import Runner
from tests.processes import PATIENCE, ROOT, environment_with
from tests.runners.corpora import SCORERS, write_corpus, write_texts
from tests.runners.ray_faults import KillingNodes, KillingWorkers, Refusing, patient_ray
from tests.runners.test_embed_shards import contents

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # Ray leaves sockets and processes to others
]
OPTIONS = CompareOptions(scorers=list(SCORERS))
MEMORY = 100_000_000  # bytes of an object store


@pytest.fixture(scope="module", autouse=True)
def quiet():
    with patient_ray():
        yield


def node():
    """A node with one CPU; a raylet waits for ports that nobody chose, and gives up on a busy machine."""
    chosen = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
    return {"num_cpus": 1, "object_store_memory": MEMORY} | {name: free_port() for name in chosen}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def patiently(start):
    """Start a node, again where Ray's half a minute is not enough for it on a busy machine."""
    for _ in range(9):
        try:
            return start()
        except Exception as error:  # Ray raises no kind of its own
            if "timed out" not in str(error):
                raise
    return start()


class Nodes:
    """Three raylets on this machine, of which one can be killed and replaced."""

    def __init__(self):
        self.client_port = 0
        self.cluster = patiently(self._begin)
        self.others = [self._more() for _ in range(2)]

    def _begin(self):
        """The head, by ports of its own each time: those of a Ray that came too late may be taken still."""
        from ray.cluster_utils import Cluster

        self.client_port = free_port()
        head = node() | {"include_dashboard": False, "ray_client_server_port": self.client_port}
        return Cluster(initialize_head=True, head_node_args=head)

    def _more(self):
        return patiently(lambda: self.cluster.add_node(**node()))

    def kill_one(self):
        self.cluster.remove_node(self.others.pop(), allow_graceful=False)

    def mend(self):
        while len(self.others) < 2:
            self.others.append(self._more())
        self.cluster.wait_for_nodes()


@pytest.fixture(scope="module")
def cluster():
    import ray

    nodes = Nodes()
    yield nodes
    ray.shutdown()
    nodes.cluster.shutdown()


@pytest.fixture
def nodes(cluster):
    cluster.mend()
    return cluster


@pytest.fixture
def runner(nodes) -> Runner:
    return RayRunner(nodes.cluster.address, workers=3)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("ray") / "data", documents=12_000, parts=3)


@pytest.fixture(scope="module")
def whole(source):
    return compare(*source.load(), list(SCORERS)).to_json()


@pytest.mark.parametrize(("workers", "shards"), [(1, 1), (1, 2), (3, 7)])
def test_ray_compares_to_the_last_bit_as_one_run_does(nodes, source, whole, workers, shards):
    runner = RayRunner(nodes.cluster.address, workers)
    assert compare_shards(source, OPTIONS, shards=shards, runner=runner).to_json() == whole


def test_a_node_that_dies_while_shards_are_compared_changes_nothing(nodes, runner, source, whole):
    dying = KillingNodes(runner, lambda: nodes.others and nodes.kill_one())  # one in each pass
    assert compare_shards(source, OPTIONS, shards=9, runner=dying).to_json() == whole
    assert not nodes.others


def test_a_node_that_dies_while_vectors_are_measured_changes_nothing(nodes, runner, source):
    path = source.vectors / "documents"
    told = measure_shards(path, shards=3, runner=KillingNodes(runner, nodes.kill_one)).to_json()
    assert told == measure_shards(path, shards=3).to_json()


def test_a_node_that_dies_while_texts_are_embedded_leaves_the_same_bytes(nodes, runner, tmp_path):
    source = EmbeddedSource(str(write_texts(tmp_path / "data", 2_000)), "wordllama")
    embed_shards(source, tmp_path / "ray", shards=6, runner=KillingNodes(runner, nodes.kill_one))
    embed_shards(source, tmp_path / "here", shards=6)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


@pytest.fixture(scope="module")
def jobs(source, whole, tmp_path_factory):
    """What is done on Ray, by name: each takes a runner and a folder, and gives what must be the same every time."""
    texts = EmbeddedSource(str(write_texts(tmp_path_factory.mktemp("texts") / "data", 2_000)), "wordllama")
    vectors = source.vectors / "documents"

    def embedded(runner, folder):
        embed_shards(texts, folder, shards=9, runner=runner)
        return contents(folder)

    return {
        "embed": embedded,
        "measure": lambda runner, _: measure_shards(vectors, shards=9, runner=runner).to_json(),
        "compare": lambda runner, _: compare_shards(source, OPTIONS, shards=9, runner=runner).to_json(),
    }


@pytest.mark.parametrize("name", ["embed", "measure", "compare"])
def test_workers_killed_at_ten_random_moments_change_nothing(nodes, runner, jobs, name, tmp_path):
    (tmp_path / "workers").mkdir()
    wanted = jobs[name](LocalRunner(), tmp_path / "here")
    left = 10
    for round_number in range(60):  # until all ten are done, however busy the machine is
        dying = KillingWorkers(runner, tmp_path / "workers", kills=left, seed=round_number)
        assert jobs[name](dying, tmp_path / f"ray-{round_number}") == wanted
        left = dying.left
        if not left:
            return
    pytest.fail(f"{left} of ten workers were not killed")


def test_what_a_worker_refuses_is_told_as_it_is_here(runner):
    with pytest.raises(OffsphereError, match=r"^piece 2 is wrong: mend it$"):
        list(runner.run(Refusing(), [1, 2, 3]))
    assert list(runner.run(Refusing(), [1])) == [(0, "1")]  # and a worker uses as many cores as it has CPUs
    assert not list(runner.run(Refusing(), []))


def test_a_worker_for_which_there_is_no_room_is_told_at_once(nodes):
    with pytest.raises(ParameterError, match=r"has 3 CPUs and 0 GPUs, no room for a worker with 1 CPUs and 1 GPUs"):
        list(RayRunner(nodes.cluster.address, gpus=1).run(Refusing(), [1]))
    assert len(list(RayRunner(nodes.cluster.address, workers=5).run(Refusing(), [1] * 9))) == 9  # in their turn
    with pytest.raises(ParameterError, match="at least one"):
        RayRunner(workers=0)


def started(*arguments, **environment):
    """What a command prints that runs in a process of its own."""
    asked = [sys.executable, "-c", "from offsphere.cli import main; main()", *map(str, arguments)]
    known = {name: value for name, value in environment_with(ROOT / "src").items() if name != "RAY_ADDRESS"}
    told = subprocess.run(asked, env=known | environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout


def compared_by(source):
    named = [word for scorer in SCORERS for word in ("--scorer", scorer)]
    return ["compare", source.data, "--vectors", source.vectors, *named, "--json"]


def test_compare_through_the_client_of_a_cluster_prints_what_one_run_prints(nodes, source):
    there = f"ray://127.0.0.1:{nodes.client_port}"
    asked = compared_by(source)
    assert started(*asked, "--on", there, "--workers", 2, "--shards", 4) == started(*asked)


def test_without_an_address_a_ray_is_started_and_ends_with_the_command(source):
    asked = compared_by(source)
    told = started(*asked, "--on", "ray", "--workers", 1, "--shards", 2, "--object-store", 100)
    assert told == started(*asked)


def test_embed_measure_and_audit_by_the_command_are_those_of_a_run_here(nodes, tmp_path):
    data = write_texts(tmp_path / "data", 2_100)
    there = {"RAY_ADDRESS": nodes.cluster.address}
    shards = ("--shards", 3)
    for name, on, where in (("here", "local", {}), ("ray", "ray", there)):
        vectors = tmp_path / name
        started("embed", data, "--model", "wordllama", "--out", vectors, "--on", on, *shards, **where)
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    measured = ("measure", tmp_path / "ray" / "documents", "--json")
    audited = ("audit", data, "--vectors", tmp_path / "ray", "--json")
    for asked in (measured, audited):
        told, wanted = (
            json.loads(started(*asked, "--on", on, *shards, **where)) for on, where in (("ray", there), ("local", {}))
        )
        for values in (told, wanted):
            values.pop("provenance", None)  # which has the seconds that each step took
        assert told == wanted


def killed_after(asked, folder, pattern, count, environment):
    """Kill a command as soon as so many files are in a folder; which these are, and when they were written."""
    with subprocess.Popen([*map(str, asked)], env=environment, stdout=subprocess.DEVNULL) as driver:
        ended = time.monotonic() + PATIENCE
        while len([*folder.rglob(pattern)]) < count and driver.poll() is None and time.monotonic() < ended:
            time.sleep(0.01)
        driver.send_signal(signal.SIGKILL)
    return {path: path.stat().st_mtime_ns for path in folder.rglob(pattern)}


@pytest.mark.parametrize(
    ("name", "shards", "more"),
    [
        ("compare", 9, ["--scorer", SCORERS[0], "--scorer", SCORERS[1], "--json"]),
        ("compare, states in the cache", 9, ["--scorer", SCORERS[0], "--scorer", SCORERS[1], "--json"]),
        ("measure, states in the cache", 30, ["--section", "lengths"]),
        ("embed", 30, []),
    ],
)
def test_a_driver_that_is_killed_goes_on(nodes, source, tmp_path, name, shards, more):
    command = [sys.executable, "-c", "from offsphere.cli import main; main()", name.partition(",")[0]]
    where, pattern = tmp_path / "kept", "*.json"
    environment = environment_with(ROOT / "src") | {"RAY_ADDRESS": nodes.cluster.address, "OFFSPHERE_CACHE_SIZE": "1KB"}
    on = ["--on", "ray", "--workers", 1, "--shards", shards]
    if name == "embed":
        command += [write_texts(tmp_path / "texts", 2_000), "--model", "wordllama"]
        on, pattern = [*on, "--out", where], "manifest.json"
    elif name.startswith("measure"):
        np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(130_000, 6)).astype(np.float32))
        command += [tmp_path / "rows.npy"]
    else:
        command += [source.data, "--vectors", source.vectors]
    if name.endswith("cache"):
        environment["XDG_CACHE_HOME"] = str(where)
    elif name == "compare":
        on += ["--states", where]
    where.mkdir()
    asked = [*command, *more, *on]
    kept = killed_after(asked, where, pattern, 2, environment)
    assert 2 <= len(kept) < (shards if shards > 9 else 2 * shards)
    again = subprocess.run([*map(str, asked)], env=environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    left = {path: path.stat().st_mtime_ns for path in kept if path.exists()}
    assert left == ({} if name.endswith("cache") else kept)  # the cache forgets what the result is made of
    if name == "embed":
        embed_shards(EmbeddedSource(str(tmp_path / "texts"), "wordllama"), tmp_path / "here", shards=shards)
        assert contents(where) == contents(tmp_path / "here")
        return
    one = subprocess.run([*map(str, [*command, *more])], env=environment, capture_output=True, text=True, check=True)
    assert again.stdout == one.stdout


def spoil(path, row):
    rows = np.load(path)
    rows[row] = np.nan
    np.save(path, rows)


class Damaging:
    """A runner that does something to the files before its workers come."""

    def __init__(self, runner, damage):
        self.runner, self.damage = runner, damage

    def run(self, job, pieces):
        self.damage()
        yield from self.runner.run(job, pieces)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda path: path.unlink(), "lacks the part 00002-of-00003"),
        (lambda path: path.write_bytes(path.read_bytes()[:-7]), r"00002-of-00003\.npy is truncated"),
        (lambda path: np.save(path, np.load(path)[:, :3]), r"00002-of-00003\.npy has vectors of shape"),
        (lambda path: spoil(path, 500), r"document vector of 'd1500' \(row 1500\) is not finite"),
    ],
)
def test_a_part_that_a_worker_finds_damaged_is_named_and_nothing_is_merged(runner, tmp_path, damage, told):
    source = write_corpus(tmp_path / "data", documents=3_000, parts=3)
    path = source.vectors / "documents" / "00002-of-00003.npy"
    with pytest.raises(OffsphereError, match=told):
        compare_shards(
            source, OPTIONS, shards=2, runner=Damaging(runner, lambda: damage(path)), folder=tmp_path / "states"
        )
    assert not [*(tmp_path / "states").glob("search-*.json")]


def test_documents_that_changed_between_two_runs_on_ray_are_named(runner, tmp_path):
    source = write_corpus(tmp_path / "data", documents=3_000, parts=3)
    compare_shards(source, OPTIONS, shards=2, runner=runner, folder=tmp_path / "states")
    path = source.vectors / "documents" / "00003-of-00003.npy"
    np.save(path, np.load(path) * 2)
    with pytest.raises(OffsphereError, match=r"the documents of shard 2/2 were changed since .*fit-00002-of-00002"):
        compare_shards(source, OPTIONS, shards=2, runner=runner, folder=tmp_path / "states")


LARGE = """
import sys
from offsphere import RayRunner
from offsphere.base.errors import OffsphereError
from tests.runners.ray_faults import Large

try:
    list(RayRunner(workers=1, object_store=80_000_000).run(Large(300_000_000), [1, 2]))
except OffsphereError as error:
    print(error)
"""


def test_an_object_store_that_is_too_small_says_what_to_raise():
    full = {"RAY_local_fs_capacity_threshold": "0.0001"}  # so that nothing can be moved to the disk
    environment = environment_with(ROOT, ROOT / "src") | full
    told = subprocess.run([sys.executable, "-c", LARGE], env=environment, capture_output=True, text=True, check=True)
    assert "Ray's object store is full: raise --object-store" in told.stdout


def test_a_ray_that_is_not_there_is_told(source):
    code = "import sys; from offsphere.cli import main; main()"
    path = source.vectors / "documents" / "00001-of-00003.npy"
    asked = [sys.executable, "-c", code, "measure", str(path), "--on", "ray://127.0.0.1:9"]
    told = subprocess.run(asked, env=environment_with(ROOT / "src"), capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert told.stderr.splitlines()[-1].startswith("offsphere: cannot connect to Ray at ray://127.0.0.1:9: ")
