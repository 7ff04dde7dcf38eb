"""Shards: what dividing, gathering and merging cost beside one run, and how time and memory grow with the documents.

The corpora are random, and lie in files. Memory is what a process holds that is no file (RssAnon) at its peak, of a
Ray that each size starts anew: of the largest worker, and of the driver from the moment on when shards are worked on.
Before that the driver reads the ids of all documents, once: its peak then is told by the document.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from harness import Clock, Goals, quick

from offsphere import CompareOptions, EmbeddedSource, LocalRunner, RankingVectors, RayRunner, compare, compare_shards
from offsphere.base.cores import available_cores
from offsphere.runners.planning import plan_compare
from offsphere.runners.shard_plan import Workload
from offsphere.shards.compare_state import CompareState, search_shard
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.shards.shard_vectors import LocatedTask, load_shard
from offsphere.shards.state_files import write_state

WIDTH = 128
SCORERS = ["dot", "polar(1, 0.5)", "whiten(0.5) + cosine"]
MANY = ["dot", *(f"polar(1, {number / 100})" for number in range(1, 54))]  # and cosine: 55 rows
CHILD = """
import json, os, sys, time
from pathlib import Path
from threading import Event, Thread
from offsphere import CompareOptions, EmbeddedSource, LocalRunner, RayRunner, compare_shards

def held(process):
    status = (Path("/proc") / process / "status").read_text().splitlines()
    return next((int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon")), 0)

def below(process):
    children = (Path("/proc") / process / "task" / process / "children").read_text().split()
    return [each for child in children for each in (child, *below(child))]

def watch(ended, most):
    while not ended.wait(0.05):
        mine = held("self")
        most["driver"] = max(most["driver"], mine)
        if working.is_set():
            most["driver at work"] = max(most["driver at work"], mine)
        try:
            workers = [
                each for each in below(str(os.getpid()))
                if (Path("/proc") / each / "cmdline").read_bytes().startswith(b"ray::_Worker")
            ]
            most["worker"] = max([most["worker"], *map(held, workers)])
        except OSError:
            pass  # one of them ended just now

class Working:
    def __init__(self, runner):
        self.runner = runner

    def run(self, job, pieces):
        working.set()
        yield from self.runner.run(job, pieces)

folder, small, shards, runner = sys.argv[1:]
options = CompareOptions(scorers=json.loads(sys.stdin.read()))
on = RayRunner(workers=2) if runner == "ray" else LocalRunner()
first = EmbeddedSource(f"{small}/qrels.tsv", vectors=small)
compare_shards(first, options, shards=1, runner=on)  # compile, and start Ray
source = EmbeddedSource(f"{folder}/qrels.tsv", vectors=folder)
before, working, ended = held("self"), Event(), Event()
most = {"driver": 0, "driver at work": 0, "worker": 0}
if runner == "ray":
    Thread(target=watch, args=(ended, most), daemon=True).start()
started, wall = time.process_time(), time.perf_counter()
compare_shards(source, options, shards=int(shards), runner=Working(on))
told = {"cpu": time.process_time() - started, "wall": time.perf_counter() - wall, "before": before}
ended.set()
print(json.dumps({**told, **most}))
"""
MERGE = """
import json, sys, time
from pathlib import Path
from offsphere.shards.state_files import merge_files

paths = sorted(Path(sys.argv[1]).glob("*.json"))
merge_files(paths[:2])  # compile
started = time.perf_counter()
merge_files(paths)
told = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) * 1024 for line in told if line.startswith("VmHWM"))
print(json.dumps({"seconds": time.perf_counter() - started, "peak": peak}))
"""


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    with tempfile.TemporaryDirectory() as home:
        against_one_run(Path(home), goals, small=small)
        merging(Path(home), goals, small=small)
        growth(Path(home), goals, small=small)
    goals.finish()


def write(folder: Path, documents: int, queries: int) -> EmbeddedSource:
    """Put a random corpus with judgments into files."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    rows = np.lib.format.open_memmap(folder / "documents.npy", "w+", np.float32, (documents, WIDTH))
    for start in range(0, documents, 100_000):
        rows[start : start + 100_000] = rng.standard_normal((min(100_000, documents - start), WIDTH), dtype=np.float32)
    rows.flush()
    np.save(folder / "queries.npy", rng.standard_normal((queries, WIDTH), dtype=np.float32))
    (folder / "documents.ids").write_text("\n".join(map(str, range(documents))))
    (folder / "queries.ids").write_text("\n".join(f"q{row}" for row in range(queries)))
    (folder / "qrels.tsv").write_text("\n".join(f"q{row}\t0\t{row}\t1" for row in range(queries)))
    return EmbeddedSource(str(folder / "qrels.tsv"), vectors=folder)


class Nothing:
    """A job that a worker has prepared as soon as it has imported what the real ones need."""

    def prepare(self) -> Callable[[int], int]:
        """Import it."""
        from offsphere.shards import compare_state

        return lambda piece: piece + len(compare_state.__name__)


def against_one_run(home: Path, goals: Goals, *, small: bool) -> None:
    """Eight shards here, and on Ray, beside one run that compares everything.

    Each shard has to fill the lists of every query under every scorer anew, which takes about 15 microseconds a list,
    so shards are as large here as those for which one would take several.
    """
    source = write(home / "one", 10_000 if small else 3_000_000, 20 if small else 1_000)
    warm = write(home / "warm", 10_000, 20)
    options = CompareOptions()
    goals.note("rows of the comparison", float(len(compare(*warm.load()).rows)))  # and compile
    compare_shards(warm, options, shards=8)
    clock = Clock()
    clock.run(
        {
            "one run": lambda: compare(*source.load()),
            "8 shards here": lambda: compare_shards(source, options, shards=8, runner=LocalRunner()),
        },
        1,
    )
    clock.show()
    goals.at_most("8 shards / one run, CPU", clock.cpu["8 shards here"] / clock.cpu["one run"], 1.05)
    runner, started = RayRunner(workers=2), time.perf_counter()
    compare_shards(warm, options, shards=8, runner=runner)  # starts Ray, and compiles in its workers
    goals.note("a small run on Ray, with its start, s", time.perf_counter() - started)
    started = time.perf_counter()
    list(runner.run(Nothing(), [0, 1]))
    goals.note("two workers start and import, once for both passes, s", time.perf_counter() - started)
    clock.run({"8 shards on Ray, 2 workers": lambda: compare_shards(source, options, shards=8, runner=runner)}, 1)
    clock.show()
    ratio = clock.wall["8 shards on Ray, 2 workers"] / clock.wall["one run"]
    goals.at_most("8 shards on Ray / one run, wall, with the start of workers", ratio, 1.25)


def merging(home: Path, goals: Goals, *, small: bool) -> None:
    """Merge the files of many shards under a comparison of 55 rows, in a process of its own."""
    source = write(home / "merged", 2_048, 50 if small else 1_000)
    options = CompareOptions(scorers=MANY)
    task, queries, located, _ = LocatedTask.find(source, source.task())
    documents = load_shard(located.opened(), range(2_048))
    fitted, vectors = FitState.of(task, Shard(1, 1), documents, documents), RankingVectors(queries, documents)
    state = search_shard(task, Shard(1, 1), vectors, fitted, options)
    count = 20 if small else 1_000
    whole = replace(state.origin, documents=2_048 * count, shards=count, parts={})
    fit, judged = state.question.fit, replace(state.question.judgments, document_count=2_048 * count)
    fit = replace(fit, moments=replace(fit.moments, count=2_048 * count))
    question = replace(state.question, fit=fit, judgments=judged)
    (home / "states").mkdir()
    size = 0
    for number in range(count):
        rng = np.random.default_rng(number)
        keys = -np.sort(-rng.standard_normal(state.keys.shape), axis=2)
        listed = rng.integers(0, 2_048, state.documents.shape) + 2_048 * number
        part = CompareState(replace(whole, parts={str(number + 1): "digest"}), question, listed, keys)
        path = write_state(home / "states" / f"state-{number}", part)
        size += path.stat().st_size + path.with_suffix(".safetensors").stat().st_size
    goals.note("rows of the comparison, cosine among them", float(len(options.scorers or ()) + 1))
    goals.note("lists of a query in a state", float(len(state.documents)))
    goals.note("files of the states, GB", size / 1e9)
    asked = [sys.executable, "-c", MERGE, str(home / "states")]
    told = json.loads(subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout)
    goals.at_most(f"merging the files of {count} states, s", told["seconds"], 10)
    goals.at_most("peak of the process that merges, GB", told["peak"] / 1e9, 2)


def growth(home: Path, goals: Goals, *, small: bool) -> None:
    """The same comparison of more and more documents in shards of 65,536: time here, and memory on Ray."""
    sizes = (20_000, 40_000, 80_000) if small else (100_000, 1_000_000, 4_000_000)
    write(home / "compiled", 2_048, 20)
    measured = []
    for size in sizes:
        folder = home / f"size-{size}"
        write(folder, size, 20)
        shards = -(-size // 65_536)
        here, there = (child(folder, home / "compiled", shards, runner) for runner in ("local", "ray"))
        measured.append(there | {name: here[name] for name in ("cpu", "wall")})
        told = ", ".join(f"{name} {there[name] / 1e6:.0f} MB" for name in ("worker", "driver at work", "driver"))
        print(f"  {size:>9,} documents {here['cpu']:8.2f} s CPU here, on Ray {told}")
    largest, smallest = measured[-1], measured[0]
    load = Workload(documents=sizes[-1], dimension=WIDTH, queries=20)
    plan = plan_compare(load, CompareOptions(scorers=SCORERS), cores=available_cores(), shards=shards)
    goals.note("planned / taken, wall, of the largest", plan.seconds / largest["wall"])
    goals.note("planned / taken, memory of a worker, of the largest", plan.memory / largest["worker"])
    goals.note("planned / taken, memory of the driver, of the largest", plan.driver / largest["driver"])
    ids = (largest["driver"] - smallest["driver"]) / (sizes[-1] - sizes[0])
    goals.note("bytes of the driver for the id of a document, while it reads them", ids)
    for before, after in pairwise(range(len(sizes))):
        name = f"{sizes[after]:,} documents / {sizes[before]:,}"
        a_document = [measured[number]["cpu"] / sizes[number] for number in (before, after)]
        goals.at_most(f"CPU a document, {name}", a_document[1] / a_document[0], 1.1)
        for process in ("driver at work", "worker"):
            peaks = [measured[number][process] for number in (before, after)]
            goals.at_most(f"memory of the {process}, {name}", peaks[1] / peaks[0], 1.1)


def child(folder: Path, compiled: Path, shards: int, runner: str) -> dict[str, float]:
    """What a comparison takes in a process of its own."""
    asked = [sys.executable, "-c", CHILD, str(folder), str(compiled), str(shards), runner]
    told = subprocess.run(asked, input=json.dumps(SCORERS), stdout=subprocess.PIPE, text=True, check=True)
    values: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return values


if __name__ == "__main__":
    main()
