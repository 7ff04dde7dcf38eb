"""A corpus on disk for runners, and runners that do what clusters do."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file

from offsphere import EmbeddedSource, LocalRunner
from offsphere.data.numbered_parts import part_name

GROUP = 700  # rows of a group of a parquet file
SCORERS = ("dot", "whiten(0.5) + cosine")


def write_part(path, rows, ids, kind):
    """One part of vectors, with their ids in it or beside it."""
    path = path.with_name(f"{path.name}.{kind}")
    if kind == "parquet":
        numbers = pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel()), rows.shape[1])
        pq.write_table(pa.table({"id": ids, "embedding": numbers}), path, row_group_size=GROUP)
        return
    if kind == "npy":
        np.save(path, rows)
    else:
        save_file({"vectors": rows}, path)
    path.with_suffix(".ids").write_text("\n".join(ids))


def write_corpus(folder, documents=9_000, queries=20, width=6, parts=1, seed=0, kind="npy"):
    """Vectors with judgments, in one file or in parts; the source of them."""
    rng = np.random.default_rng(seed)
    rows = (rng.normal(0.2, 1, (documents, width)) * rng.lognormal(0, 0.5, (documents, 1))).astype(np.float32)
    asking = rng.normal(0.2, 1, (queries, width)).astype(np.float32)
    ids = [f"d{row}" for row in range(documents)]
    (folder / "documents").mkdir(parents=True)
    for number, some in enumerate(np.array_split(np.arange(documents), parts), start=1):
        write_part(folder / "documents" / part_name(number, parts), rows[some], [ids[row] for row in some], kind)
    np.save(folder / "queries.npy", asking)
    (folder / "queries.ids").write_text("\n".join(f"q{row}" for row in range(queries)))
    best = (asking @ rows.T).argsort(axis=1)[:, ::-1][:, :3]
    lines = [f"q{query}\t0\td{row}\t1" for query in range(queries) for row in best[query]]
    (folder / "qrels.tsv").write_text("\n".join(lines))
    return EmbeddedSource(str(folder / "qrels.tsv"), vectors=folder)


def write_texts(folder, documents=300):
    """Texts with judgments; the folder."""
    (folder / "qrels").mkdir(parents=True)
    lines = [
        f'{{"_id": "d{row}", "text": "number {row} of {row % 7} cells and {row % 11} mice"}}'
        for row in range(documents)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(lines))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "cells"}\n{"_id": "q2", "text": "mice"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td3\t1\nq2\td4\t1\n")
    return folder


class Backwards:
    """A runner that does the last piece first, and prepares for each of them."""

    def run(self, job, pieces):
        for number in reversed(range(len(pieces))):
            yield number, job.prepare()(pieces[number])


class Dying:
    """A runner whose process is killed after some pieces."""

    def __init__(self, after):
        self.after = after

    def run(self, job, pieces):
        work = job.prepare()
        for number, piece in enumerate(pieces):
            if self.after == 0:
                raise KeyboardInterrupt
            self.after -= 1
            yield number, work(piece)


class Counting:
    """A runner that counts what it makes anew."""

    def __init__(self):
        self.made = 0

    def run(self, job, pieces):
        work = job.prepare()
        for number, piece in enumerate(pieces):
            answer = work(piece)
            self.made += answer is not None
            yield number, answer


class Sending:
    """A runner that sends job and pieces as a cluster does, to workers where no id or text of the task can be read."""

    def __init__(self, monkeypatch):
        self.patch, self.sizes = monkeypatch, []

    def run(self, job, pieces):
        sent = pickle.dumps((job, list(pieces)))
        self.sizes.append(len(pickle.dumps(job)))

        def refuse(*_, **__):
            raise AssertionError("a worker read what only the driver should")

        with self.patch.context() as patch:
            for name in (
                "encode.embedded_task.load_task",
                "data.vector_files.ids_beside",
                "data.vector_files.id_texts",
                "data.vector_files.column_of_ids",
                "data.store._read_ids",
                "data.store._read_counts",
            ):
                patch.setattr(f"offsphere.{name}", refuse)
            job, pieces = pickle.loads(sent)
            yield from LocalRunner().run(job, pieces)
