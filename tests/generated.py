"""A small ranking task made of random numbers, with a known answer: some of the length is relevance, some is noise.

It shows the tool at work where nothing can be downloaded. Its vectors are not text.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from offsphere.base.files import write_whole

Array = NDArray[np.float64]

QUERIES, DOCUMENTS, DIMENSION, RELEVANT = 200, 3_000, 64, 5


def write_generated(folder: Path, seed: int = 0) -> None:
    """Write queries.npy, documents.npy, their ids and qrels.tsv.

    A document has a topic, a direction near it, and an authority. Queries want what is near their topic *and* has
    authority; the length of a document is its authority blurred by noise. So length carries relevance, but not all of
    it: neither cosine, which ignores length, nor the dot product, which takes it at face value, is best.
    """
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((DOCUMENTS, DIMENSION))
    authority = rng.normal(0, 0.35, DOCUMENTS)
    length = np.exp(authority + rng.normal(0, 0.35, DOCUMENTS))
    blurred = topics + rng.normal(0, 0.6, topics.shape)
    documents = blurred / np.linalg.norm(blurred, axis=1, keepdims=True) * length[:, None]
    queries = topics[rng.choice(DOCUMENTS, QUERIES, replace=False)] + rng.normal(0, 1.2, (QUERIES, DIMENSION))
    wanted = _cosines(queries, topics) * np.exp(authority)
    relevant = np.argsort(-wanted, axis=1)[:, :RELEVANT]
    _write_array(folder / "queries.npy", queries)
    _write_array(folder / "documents.npy", documents)
    write_whole(folder / "queries.ids", "".join(f"q{q}\n" for q in range(QUERIES)).encode())
    write_whole(folder / "documents.ids", "".join(f"d{d}\n" for d in range(DOCUMENTS)).encode())
    lines = [f"q{q}\td{d}\t1\n" for q, row in enumerate(relevant) for d in row]
    write_whole(folder / "qrels.tsv", "".join(["query-id\tcorpus-id\tscore\n", *lines]).encode())


def _cosines(left: Array, right: Array) -> Array:
    return np.asarray((left @ right.T) / np.linalg.norm(left, axis=1)[:, None] / np.linalg.norm(right, axis=1))


def _write_array(path: Path, array: Array) -> None:
    buffer = io.BytesIO()
    np.save(buffer, array.astype(np.float32))
    write_whole(path, buffer.getvalue())
