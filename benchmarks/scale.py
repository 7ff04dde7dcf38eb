"""Shards: what dividing, gathering and merging cost beside one run, and how time and memory grow with the documents.

The corpora are random, and lie in files. Peaks of memory are those of a process of its own for each size, beyond what
it holds when the ids of the task are read, which every worker reads whole.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from harness import Clock, Goals, quick

from offsphere import CompareOptions, EmbeddedSource, LocalRunner, RayRunner, compare, compare_shards
from offsphere.shards.compare_state import CompareState, search_shard
from offsphere.shards.fit_state import FitState
from offsphere.shards.shard import Shard
from offsphere.shards.shard_vectors import load_rows

WIDTH = 128
SCORERS = ["dot", "polar(1, 0.5)", "whiten(0.5) + cosine"]
CHILD = """
import json, resource, sys, time
from offsphere import CompareOptions, EmbeddedSource, compare_shards
from offsphere.runners.shared_source import divisible_task

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

folder, small, shards = sys.argv[1:]
options = CompareOptions(scorers=json.loads(sys.stdin.read()))
first = EmbeddedSource(f"{small}/qrels.tsv", vectors=small)
compare_shards(first, options, shards=1)  # compile
source = EmbeddedSource(f"{folder}/qrels.tsv", vectors=folder)
task = divisible_task(source, None)
before, started = peak(), time.process_time()
compare_shards(source, options, shards=int(shards))
print(json.dumps({"cpu": time.process_time() - started, "peak": peak(), "before": before}))
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


def against_one_run(home: Path, goals: Goals, *, small: bool) -> None:
    """Eight shards here, and on Ray, beside one run."""
    source = write(home / "one", 10_000 if small else 200_000, 20 if small else 200)
    options = CompareOptions(scorers=SCORERS)
    compare_shards(source, options, shards=8)  # compile
    clock = Clock()
    clock.run(
        {
            "one run": lambda: compare(*source.load(), SCORERS),
            "8 shards here": lambda: compare_shards(source, options, shards=8, runner=LocalRunner()),
        },
        1 if small else 3,
    )
    clock.show()
    goals.at_most("8 shards / one run, CPU", clock.cpu["8 shards here"] / clock.cpu["one run"], 1.05)
    runner, started = RayRunner(workers=2), time.perf_counter()
    compare_shards(source, options, shards=8, runner=runner)  # starts Ray, and compiles in its workers
    goals.note("first run on Ray, with its start, s", time.perf_counter() - started)
    clock.run({"8 shards on Ray, 2 workers": lambda: compare_shards(source, options, shards=8, runner=runner)}, 1)
    clock.show()
    ratio = clock.wall["8 shards on Ray, 2 workers"] / clock.wall["one run"]
    goals.at_most("8 shards on Ray / one run, wall", ratio, 1.25)


def merging(home: Path, goals: Goals, *, small: bool) -> None:
    """Merge the lists of many shards under everything that compare compares, as they would come."""
    source = write(home / "merged", 2_048, 50 if small else 1_000)
    task, options = source.task(), CompareOptions()
    vectors = load_rows(source, task, range(2_048))
    fitted = FitState.of(task, Shard(1, 1), vectors.documents, vectors.documents)
    state = search_shard(task, Shard(1, 1), vectors, fitted, options)
    count = 20 if small else 1_000
    whole = replace(state.origin, documents=2_048 * count, shards=count, parts={})
    seconds, merged = 0.0, None
    for number in range(count):
        rng = np.random.default_rng(number)
        keys = -np.sort(-rng.standard_normal(state.keys.shape), axis=2)
        documents = rng.integers(0, 2_048, state.documents.shape) + 2_048 * number
        part = CompareState(replace(whole, parts={str(number + 1): "digest"}), state.question, documents, keys)
        started = time.perf_counter()
        merged = part if merged is None else merged.merge(part)
        seconds += time.perf_counter() - started
    goals.note("lists of a query in a state", float(len(state.documents)))
    goals.at_most(f"merging {count} states, s", seconds, 10)
    goals.at_most("peak of the process that merges, GB", peak() / 1e9, 2)


def growth(home: Path, goals: Goals, *, small: bool) -> None:
    """The same comparison of more and more documents, in shards of 65,536."""
    sizes = (20_000, 40_000) if small else (100_000, 1_000_000, 4_000_000)
    write(home / "compiled", 2_048, 20)
    measured = []
    for size in sizes:
        folder = home / f"size-{size}"
        write(folder, size, 20)
        asked = [sys.executable, "-c", CHILD, folder, home / "compiled", str(-(-size // 65_536))]
        told = subprocess.run(asked, input=json.dumps(SCORERS), capture_output=True, text=True, check=True)
        measured.append(json.loads(told.stdout.splitlines()[-1]))
        last = measured[-1]
        told_of = f"{last['peak'] / 1e6:7.0f} MB, {last['before'] / 1e6:.0f} before"
        print(f"  {size:>9,} documents {last['cpu']:8.2f} s CPU, {told_of}")
    cpu = [each["cpu"] / size for each, size in zip(measured, sizes, strict=True)]
    beyond = [each["peak"] - each["before"] for each in measured]
    goals.at_most("seconds a document, largest / the one before", cpu[-1] / cpu[-2], 1.1)
    goals.at_most("peak of memory beyond ids, largest less the one before, MB", (beyond[-1] - beyond[-2]) / 1e6, 100)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main()
