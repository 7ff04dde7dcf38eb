"""One small SimCLR training on pictures with classes, and what its vectors look like and are worth.

An untrained residual network with a head on top learns from two views of each picture. Its last state is kept, whatever
it is worth. Similarities are those of what the head gives for two views of every training picture; accuracies are of
what enters the head, by ``osp.classify``, which is scikit-learn's logistic regression and the nearest neighbours, on
test pictures.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from kept_results import kept_results, resume

import offsphere as osp
from offsphere.data.labelled import LabelledItems
from offsphere.data.load import load_labelled
from offsphere.encode.embedded_labels import EmbeddedLabels
from offsphere.encode.stages import remove_output_stages
from offsphere.learning.encoders.encoder_recipe import PRECISIONS
from offsphere.learning.encoders.encoder_setup import EncoderSetup, text_data
from offsphere.learning.encoders.fit import fit
from offsphere.learning.encoders.item_reader import ItemReader
from offsphere.learning.encoders.judging import TaskJudge
from offsphere.learning.encoders.picture_views import PictureViews
from offsphere.learning.encoders.prepare import settle
from offsphere.learning.encoders.projection import drop_projection

SIDE = 28  # pixels a side
TEMPERATURE = 0.2
VIEWS = "crops"  # a random part, perhaps flipped: these pictures have no colours to change
RATES = {32: 1e-3, 64: 1.5e-3, 256: 3e-3}  # about by the square root of the batch
JUDGED = 100  # pictures that the trainer wants to stop by, and is not let
AT_ONCE = 512  # pictures that are encoded at a time


class Pictures(NamedTuple):
    """What is learned from and what is judged, of one data set."""

    learned: LabelledItems
    aside: LabelledItems
    tested: LabelledItems

    @classmethod
    def of(cls, data: Path, learned: int, tested: int) -> Pictures:
        """The first pictures of the two splits."""
        train, test = load_labelled(data, "train"), load_labelled(data, "test")
        aside = np.arange(learned, learned + JUDGED)
        return cls(train.only(np.arange(learned)), train.only(aside), test.only(np.arange(tested)))


def study_options(about: str | None) -> argparse.ArgumentParser:
    """What every study of such trainings is told: its data, its results, and how much it trains."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--pictures", type=int, default=2_048)
    parser.add_argument("--tested", type=int, default=1_000, help="pictures that accuracies are of")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--width", type=int, default=32, help="numbers of a vector, and of what the head makes of it")
    parser.add_argument("--precision", choices=PRECISIONS, default="fp32", help="of the products of the towers")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--figure", type=Path, help="draw what is there into this file, such as a.svg")
    return parser


def study_results(asked: argparse.Namespace, variants: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Train what is not in the file yet, unless a table alone is asked for, and give what is there."""
    if not asked.table:
        pictures = Pictures.of(asked.data, asked.pictures, asked.tested)

        def train(name: str, seed: int, *_: Any) -> dict[str, Any]:
            options = {**variants[name], "precision": asked.precision}
            row = train_pictures(pictures, options, asked.epochs, seed, asked.width)
            print(f"{name}, seed {seed}: {row}", flush=True)
            return row

        size = (asked.pictures, asked.tested, asked.epochs, asked.width, asked.precision)
        keys = [(name, seed, *size) for seed in range(asked.seeds) for name in variants]
        list(resume(asked.results, keys, train))
    return kept_results(asked.results)


def told_size(rows: Sequence[dict[str, Any]]) -> str:
    """Say how large the trainings of one size are, how many there are, and what one took."""
    pictures, tested, epochs, width, precision = rows[0]["key"][2:]
    seconds = np.mean([row["seconds"] for row in rows])
    taken = f"{len(rows)} trainings of {seconds:.0f} s of CPU"
    learned = f"{pictures:,} pictures ({tested:,} tested), {epochs} epochs"
    return f"{learned}, vectors of {width}, {precision}, {taken}"


class LastState(TaskJudge):
    """Calls every state better than the one before, so that the last one is kept, whatever it is worth."""

    def values(self, model: Any) -> tuple[float, float]:  # noqa: ARG002
        """The time: nothing about the model decides."""
        return time.monotonic(), 0.0


def train_pictures(pictures: Pictures, options: dict[str, Any], epochs: int, seed: int, width: int) -> dict[str, Any]:
    """Train once, by ``options`` of a recipe, and measure; ``raw`` are the sides whose pixels are not standardised."""
    started = time.process_time()
    options = dict(options)
    raw = options.pop("raw", ())
    batch = options["batch"]
    steps = epochs * (len(pictures.learned.items) // batch)
    fixed = {"projection": width, "rate": RATES[batch], "steps": steps, "evaluate_every": steps, "dynamics_every": 0}
    recipe = osp.recipe_with("simclr", **{"temperature": TEMPERATURE, "views": VIEWS, **fixed, **options})
    data = text_data(pictures.learned.ranking_task(), held_out=pictures.aside.ranking_task(), seed=seed)
    setup = EncoderSetup.of(osp.image_tower("resnet", SIDE, width, seed), data, recipe, seed)
    leave_raw(setup.model, raw)
    fitted = fit(setup.model, recipe, setup.pairs, LastState(data.held_out.task, data.metric), seed)
    with torch.autocast("cpu", torch.bfloat16, enabled=recipe.precision == "bf16"):
        row = similarities(setup, seed)
        settle(setup.model)
        drop_projection(setup.model)
        remove_output_stages(setup.model)
        row |= accuracies(setup.model, pictures)
    exponents = fitted.loss.objective.normalization.exponents
    return {
        **row,
        "exponents": [exponents.query, exponents.document],
        "pairs": len(setup.pairs),
        "steps": fitted.run.steps,
        "kept_step": fitted.run.best_step,
        "seconds": round(time.process_time() - started, 1),
    }


def leave_raw(model: Any, sides: Sequence[str]) -> None:
    """Let the pixels of some sides enter as they are, from 0 to 1; the towers' processor has them from -1 to 1."""

    def undo(_: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, ...]:
        features, *others = arguments
        side = options.get("task") or features.get("task") or "document"
        if side in sides:
            features = {**features, "pixel_values": (features["pixel_values"] + 1) / 2}
        return (features, *others), options

    model.register_forward_pre_hook(undo, with_kwargs=True)


@torch.no_grad()
def similarities(setup: EncoderSetup, seed: int) -> dict[str, float]:
    """Cosines of what the head gives for two views of every picture: of one picture, and of different ones."""
    (items,) = setup.pairs.sources
    views = PictureViews(VIEWS)
    reader = ItemReader(setup.model, {"query": items.queries, "document": items.documents}, views, seed)
    setup.model.eval()
    sides = []
    for side in ("query", "document"):
        parts = []
        for start in range(0, len(items.queries), AT_ONCE):
            features = reader(list(range(start, min(start + AT_ONCE, len(items.queries)))), task=side)
            parts.append(setup.model({**features, "task": side}, task=side)["sentence_embedding"])
        sides.append(torch.nn.functional.normalize(torch.cat(parts).double()))
    positives = (sides[0] * sides[1]).sum(1)
    count = len(positives)
    pairs = count * (count - 1)
    # sums over all pairs without any: of u.v the product of the sums, of (u.v)^2 that of the second moments
    mean = float(sides[0].sum(0) @ sides[1].sum(0) - positives.sum()) / pairs
    squares = ((sides[0].T @ sides[0]) * (sides[1].T @ sides[1])).sum() - (positives**2).sum()
    return {
        "positive": float(positives.mean()),
        "positive_bound": 1 + mean + 1 / (count - 1),  # Lee et al. 2025: no normalised encoder has more
        "negative": mean,
        "variance": float(squares) / pairs - mean**2,
    }


def accuracies(model: Any, pictures: Pictures) -> dict[str, float]:
    """How often the class of a test picture is told by its nearest training pictures, and by a linear map."""
    known, tested = (
        model.encode([item.picture() for item in part.items], batch_size=AT_ONCE)
        for part in (pictures.learned, pictures.tested)
    )
    names = {("20 nearest neighbours", "cosine"): "knn", ("20 nearest neighbours", "dot"): "knn_dot"}
    names |= {("linear probe", "as they are"): "probe"}
    told = osp.classify(EmbeddedLabels(pictures.learned, pictures.tested, known, tested)).rows
    return {names[key]: row.accuracy.value for row in told if (key := (row.method, row.vectors)) in names}
