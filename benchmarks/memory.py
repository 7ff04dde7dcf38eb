"""The memory of compare, measure, audit and embed while the corpus grows eightfold, for every kind of vector file.

What counts is anonymous memory, at its peak: pages of a mapped file belong to the system, which takes them back when it
needs them. An .npz archive is packed and must be read whole; it is measured and has no goal.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from harness import Goals, quick

QUERIES, DIMENSION, GROWTH = 200, 384, 8
KINDS = ("npy", "parquet", "safetensors", "npz")
MODEL = """
import zlib, numpy as np
table = np.random.default_rng(0).standard_normal((4096, 384)).astype(np.float32)
def rows(texts):
    return np.stack([table[[zlib.crc32(word.encode()) % 4096 for word in text.split()]].sum(axis=0) for text in texts])
"""


def main() -> None:
    documents = 2_000 if quick(__doc__) else 20_000
    goals = Goals()
    with tempfile.TemporaryDirectory() as home:
        for command in ("compare", "measure", "audit"):
            for kind in KINDS:
                peaks = [peak(Path(home), command, kind, documents * times) for times in (1, GROWTH)]
                report(goals, f"{command}, .{kind}", peaks, limited=kind != "npz")
        peaks = [peak(Path(home), "embed", "npy", documents * times) for times in (1, GROWTH)]
        report(goals, "embed, texts", peaks, limited=True)
    goals.finish()


def report(goals: Goals, name: str, peaks: list[float], *, limited: bool) -> None:
    """Print both peaks and how they grew."""
    print(f"  {name}: {peaks[0]:.0f} MB, with {GROWTH} times the documents {peaks[1]:.0f} MB")
    growth = f"{name}: memory with {GROWTH} times the documents / without"
    if limited:
        goals.at_most(growth, peaks[1] / peaks[0], 1.1)
    else:
        goals.note(growth, peaks[1] / peaks[0])


def peak(home: Path, command: str, kind: str, documents: int) -> float:
    """The most anonymous memory that a command had, in MB; the data is made where it is not there yet."""
    folder = home / f"{kind}-{documents}"
    if not folder.exists():
        write(folder, kind, documents)
    typed = {
        "compare": ["compare", folder, "--scorer", "dot", "--scorer", "half", "--json"],
        "measure": ["measure", folder, "--json"],
        "audit": ["audit", folder, "--json"],
        "embed": ["embed", folder, "--model", "callable:memory_model:rows", "--out", home / f"embedded-{documents}"],
    }[command]
    settings = {**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    settings["XDG_CACHE_HOME"] = str(home / "cache" / f"{command}-{kind}-{documents}")
    (home / "memory_model.py").write_text(MODEL)
    process = subprocess.Popen(
        [sys.executable, "-m", "offsphere", *map(str, typed)], stdout=subprocess.DEVNULL, env=settings
    )
    most = 0
    while process.poll() is None:
        most = max(most, anonymous(process.pid))
        time.sleep(0.005)
    assert process.returncode == 0, f"{command} ended with {process.returncode}"
    return most / 1024


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
                stream.write(json.dumps({"_id": f"{letter}{row}", "text": f"word{row % 997} word{row % 31} end"}) + "\n")


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
