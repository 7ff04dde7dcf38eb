"""SimCLR on Fashion-MNIST: batch, VRNS, losses, and the grid of normalisations. Resumable: a line of JSON a training.

    python scripts/simclr_study.py DATA OUT.jsonl [--pictures 1024] [--epochs 4] [--seeds 3] [--part losses|grid|all]
    python scripts/simclr_study.py --table OUT.jsonl

DATA is the folder of Fashion-MNIST's idx files (Debian: /usr/share/datasets/fashion-mnist). Each training starts from
an untrained residual network of 28 pixels and 64 numbers with a projection head of 32, and keeps its last state.
Similarities are measured on what the head gives for two views of every training picture; accuracy on what enters the
head, on 1,000 test pictures, by scikit-learn's logistic regression and nearest neighbours that know the training
pictures' labels.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from offsphere.data.load import load_labelled
from offsphere.learning.encoders.encoder_recipe import EncoderRecipe
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.image_towers import image_tower
from offsphere.learning.encoders.item_reader import ItemReader
from offsphere.learning.encoders.judging import Judge
from offsphere.learning.encoders.picture_views import PictureViews
from offsphere.learning.encoders.prepare import settle
from offsphere.learning.encoders.projection import drop_projection

BATCHES = (32, 256)
RATES = {32: 1e-3, 256: 3e-3}  # by the square root of the batch, about
LOSSES = ("simclr", "dcl", "dhel", "siglip")
WEIGHTS = (1.0, 30.0, 100.0)  # of VRNS
OUTPUTS = ("both", "none", "query", "document", "learn")
INPUTS = ("both", "query", "document")
TESTED, JUDGED = 1_000, 100
WORDS = {"both": "cosine", "none": "dot"}


def variants(part: str) -> dict[str, dict[str, Any]]:
    """The trainings of a part by their names."""
    named: dict[str, dict[str, Any]] = {}
    if part in ("losses", "all"):
        for batch in BATCHES:
            named |= {f"{loss}, batch {batch}": {"loss": loss, "batch": batch} for loss in LOSSES}
            named |= {
                f"simclr + vrns {w:g}, batch {batch}": {"loss": "simclr", "batch": batch, "vrns": w} for w in WEIGHTS
            }
    if part in ("grid", "all"):
        plain = {"loss": "simclr", "batch": 64}
        named |= {f"output {WORDS.get(output, output)}": {**plain, "normalize": output} for output in OUTPUTS}
        named |= {f"input {side}": {**plain, "normalize_input": side} for side in INPUTS}
    return named


def main() -> None:
    """Train what is not in the file yet, or print what is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--pictures", type=int, default=1_024)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--part", default="all", choices=["losses", "grid", "all"])
    parser.add_argument("--only", action="append", help="a training by its name; repeatable")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.table:
        print_table(Path(asked.paths[0]))
        return
    data, out = map(Path, asked.paths)
    done = {(row["name"], row["seed"]) for row in rows_of(out)}
    for seed in range(asked.seeds):
        for name, options in variants(asked.part).items():
            if (name, seed) not in done and (asked.only is None or name in asked.only):
                row = {"name": name, "seed": seed, "epochs": asked.epochs}
                row |= train_one(data, options, seed, asked.pictures, asked.epochs)
                with out.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(row, flush=True)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """What is finished; a last line that a kill cut is left out."""
    lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def train_one(data: Path, options: dict[str, Any], seed: int, pictures: int, epochs: int) -> dict[str, Any]:
    """One training: what its similarities look like, and what its vectors are worth."""
    started = time.perf_counter()
    known = load_labelled(data, "train").only(np.arange(pictures))
    asking = load_labelled(data, "train").only(np.arange(pictures, pictures + JUDGED))
    tested = load_labelled(data, "test").only(np.arange(TESTED))
    task = known.ranking_task()
    batch = options["batch"]
    steps = epochs * (pictures // batch)
    recipe = EncoderRecipe(
        views="augmented",
        temperature=0.2,
        projection=32,
        rate=RATES.get(batch, 2e-3),
        steps=steps,
        evaluate_every=steps,
        dynamics_every=0,
        epochs=1,
        **options,
    )
    parts = text_data(task, held_out=asking.ranking_task(), seed=seed)
    setup = EncoderSetup.of(image_tower("resnet", 28, 64, seed), parts, recipe, seed)
    fitted = fit(setup.model, recipe, setup.pairs, LastState(parts.held_out.task, parts.metric), seed)
    row = similarities(setup, seed)
    settle(setup.model)
    drop_projection(setup.model)
    return {
        **row,
        **accuracies(setup.model, known, tested),
        "pairs": len(setup.pairs),
        "batch": batch,
        "steps": fitted.run.steps,
        "kept_step": fitted.run.best_step,
        "seconds": round(time.perf_counter() - started, 1),
    }


class LastState(Judge):
    """Calls every state better than the one before, so that the last one is kept, whatever it is worth."""

    def values(self, model: Any) -> tuple[float, float]:  # noqa: ARG002
        """The time: nothing about the model decides."""
        return time.monotonic(), 0.0


@torch.no_grad()
def similarities(setup: EncoderSetup, seed: int) -> dict[str, float]:
    """Cosines of what the head gives for two views of every picture: of one picture, and of different ones."""
    (items,) = setup.pairs.sources
    reader = ItemReader(
        setup.model, {"query": items.queries, "document": items.documents}, PictureViews("augmented"), seed
    )
    setup.model.eval()
    sides = []
    for side in ("query", "document"):
        parts = []
        for start in range(0, len(items.queries), 512):
            rows = range(start, min(start + 512, len(items.queries)))
            features = reader(list(rows), task=side)
            parts.append(setup.model({**features, "task": side}, task=side)["sentence_embedding"])
        sides.append(torch.nn.functional.normalize(torch.cat(parts).double()))
    scores = sides[0] @ sides[1].T
    count = len(scores)
    negatives = scores[~torch.eye(count, dtype=torch.bool)]
    mean = float(negatives.mean())
    return {
        "positive": float(scores.diagonal().mean()),
        "most": 1 + mean + 1 / (count - 1),  # Lee et al. 2025: no normalised encoder has more
        "negative": mean,
        "variance": float(negatives.var(correction=0)),
    }


def accuracies(model: Any, known: Any, tested: Any) -> dict[str, float]:
    """How often the class of a test picture is told by a linear map, and by its five nearest training pictures."""
    features = [model.encode([item.picture() for item in part.items]) for part in (known, tested)]
    scale = np.linalg.norm(features[0], axis=1).mean()
    probe = LogisticRegression(max_iter=1_000).fit(features[0] / scale * 8, known.labels)
    nearest = KNeighborsClassifier(5, metric="cosine").fit(features[0], known.labels)
    return {
        "probe": float(probe.score(features[1] / scale * 8, tested.labels)),
        "knn": float(nearest.score(features[1], tested.labels)),
    }


def print_table(path: Path) -> None:
    """Means over seeds, and their deviation."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(path):
        by_name[row["name"]].append(row)
    print("| training | seeds | variance of negatives | positives (bound) | linear probe | kNN |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rows in by_name.items():

        def cell(field: str, digits: int = 3, rows: list[dict[str, Any]] = rows) -> str:
            values = np.array([row[field] for row in rows])
            return f"{values.mean():.{digits}f} ± {values.std(ddof=1) if len(values) > 1 else 0:.{digits}f}"

        bound = np.mean([row["most"] for row in rows])
        first = f"| {name} | {len(rows)} | {cell('variance', 4)} | {cell('positive')} ({bound:.3f}) |"
        print(f"{first} {cell('probe')} | {cell('knn')} |")


if __name__ == "__main__":
    main()
