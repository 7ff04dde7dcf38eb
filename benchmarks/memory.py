"""The memory of compare, measure, audit and embed while the corpus grows fourfold, for every kind of vector file.

Rows over tokens, which read the texts as well, are a case of their own (``tokens``).

What counts is anonymous memory, at its peak: pages of a mapped file belong to the system, which takes them back when it
needs them. The ids and texts of a task are Python strings that its user can ask for, so they are in memory, about 170
bytes for a short text: that is measured apart, in a process that loads the task and does nothing else, and taken off.
All else must stay within 10 %. The smaller corpus fills the blocks that are in memory at once (two of 32,768 documents
in a search), whose memory is bounded and no growth. An .npz archive is packed and must be read whole; it is measured
and has no goal.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Goals, quick

QUERIES, DIMENSION, GROWTH = 200, 384, 4
KINDS = ("npy", "parquet", "safetensors", "npz")
TYPED = {"compare": KINDS, "measure": KINDS, "audit": KINDS, "tokens": ("npy",), "embed": ("npy",)}
OFFSPHERE = ("-m", "offsphere")
TOKENS = ("--tokens", "all", "--token-model", "wordllama")
MODEL = """
import zlib, numpy as np
table = np.random.default_rng(0).standard_normal((4096, 384)).astype(np.float32)
def rows(texts):
    return np.stack([table[[zlib.crc32(word.encode()) % 4096 for word in text.split()]].sum(axis=0) for text in texts])
"""


def main() -> None:
    small = quick(__doc__)
    documents = 2_000 if small else 80_000
    goals = Goals(judged=not small)
    with tempfile.TemporaryDirectory() as home:
        for command in TYPED:  # kernels are compiled once, and a compiler takes memory
            peak(Path(home), command, "npy", 1_100)
        tasks = [loaded(Path(home), size) for size in (documents, GROWTH * documents)]
        each = (tasks[1] - tasks[0]) / ((GROWTH - 1) * documents)
        print(f"  the task alone: {tasks[0]:.0f} MB, with {GROWTH} times the documents {tasks[1]:.0f} MB")
        goals.note("bytes of ids and texts a document", each * 2**20)
        for command, kinds in TYPED.items():
            for kind in kinds:
                peaks = [peak(Path(home), command, kind, size) for size in (documents, GROWTH * documents)]
                report(goals, f"{command}, .{kind}", peaks, each * (GROWTH - 1) * documents)
    goals.finish()


def report(goals: Goals, name: str, peaks: list[float], task: float) -> None:
    """Print both peaks, how they grew in all, and how they grew beyond the ids and texts."""
    print(f"  {name}: {peaks[0]:.0f} MB, with {GROWTH} times the documents {peaks[1]:.0f} MB")
    goals.note(f"{name}: memory with {GROWTH} times the documents / without", peaks[1] / peaks[0])
    beyond = (peaks[1] - task) / peaks[0]
    if name.endswith(".npz"):
        goals.note(f"{name}: the same beyond ids and texts", beyond)
    else:
        goals.at_most(f"{name}: the same beyond ids and texts", beyond, 1.1)


def peak(home: Path, command: str, kind: str, documents: int) -> float:
    """The most anonymous memory that a command had, in MB; the data is made where it is not there yet."""
    folder = made(home, kind, documents)
    typed = {
        "compare": [*OFFSPHERE, "compare", folder, "--scorer", "dot", "--scorer", "half", "--json"],
        "measure": [*OFFSPHERE, "measure", folder, "--json"],
        "audit": [*OFFSPHERE, "audit", folder, "--json"],
        "tokens": [*OFFSPHERE, "compare", folder, "--scorer", "dot", *TOKENS, "--json"],
        "embed": [*OFFSPHERE, "embed", folder, "--model", "callable:memory_model:rows", "--out", home / "embedded"],
    }[command]
    settings = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    settings["XDG_CACHE_HOME"] = str(home / "cache")
    (home / "memory_model.py").write_text(MODEL)
    process = subprocess.Popen([sys.executable, *map(str, typed)], stdout=subprocess.DEVNULL, env=settings)
    most = 0
    while process.poll() is None:
        most = max(most, anonymous(process.pid))
        time.sleep(0.005)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    for left in (home / "cache", home / "embedded"):  # so that nothing is known already the next time
        shutil.rmtree(left, ignore_errors=True)
    return most / 1024


def loaded(home: Path, documents: int) -> float:
    """The anonymous memory of a process that has loaded a task and does nothing else, in MB."""
    folder = str(made(home, "npy", documents))
    code = f"import offsphere; task = offsphere.load_task({folder!r}); print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", code], text=True, **pipes) as process:
        process.stdout.readline()
        memory = anonymous(process.pid)
        process.communicate("\n")
    return memory / 1024


def made(home: Path, kind: str, documents: int) -> Path:
    """The folder of so many documents, written where it is not there yet."""
    folder = home / f"{kind}-{documents}"
    if not folder.exists():
        write(folder, kind, documents)
    return folder


def anonymous(process: int) -> int:
    """The anonymous memory of a process in KB; none where it has just ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def write(folder: Path, kind: str, documents: int) -> None:
    """A ranking with texts and vectors of the kind, block by block."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    vectors = np.lib.format.open_memmap(folder / "all.npy", "w+", np.float32, (documents, DIMENSION))
    for start in range(0, documents, 10_000):
        block = vectors[start : start + 10_000]
        block[:] = rng.standard_normal(block.shape, np.float32) * rng.lognormal(0, 0.3, (len(block), 1))
    wanted = rng.integers(0, documents, QUERIES)
    save(folder, kind, "documents", vectors, [f"d{row}" for row in range(documents)])
    asked = vectors[wanted] + rng.standard_normal((QUERIES, DIMENSION), np.float32)
    save(folder, kind, "queries", asked, [f"q{row}" for row in range(QUERIES)])
    (folder / "all.npy").unlink()
    (folder / "qrels").mkdir()
    rows = "".join(f"q{row}\td{number}\t1\n" for row, number in enumerate(wanted))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    for name, count, letter in (("corpus", documents, "d"), ("queries", QUERIES, "q")):
        with (folder / f"{name}.jsonl").open("w") as stream:
            for row in range(count):
                text = f"word{row % 997} word{row % 31} end"
                stream.write(json.dumps({"_id": f"{letter}{row}", "text": text}) + "\n")


def save(folder: Path, kind: str, name: str, vectors: np.ndarray, ids: list[str]) -> None:
    """Vectors of one side with their ids, in a file of the kind."""
    path = folder / f"{name}.{kind}"
    if kind == "npz":
        np.savez(path, vectors=vectors, ids=np.array(ids))
        return
    if kind == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), DIMENSION)
        pq.write_table(pa.table({"id": ids, "vectors": lists}), path)
        return
    if kind == "safetensors":
        from safetensors.numpy import save_file

        save_file({"vectors": vectors}, path)
    else:
        np.save(path, vectors)
    (folder / f"{name}.ids").write_text("".join(f"{item}\n" for item in ids))


if __name__ == "__main__":
    main()
