"""The grid of normalisations from two starts: a model behind a normalisation, and one of no habit. Resumable.

    python scripts/encoder_grid.py OUT --data scifact hotpotqa --models e5-small distilbert [--steps 120] [--seeds 1]
        [--documents 1500]

Feng & Watanabe 2026 (arXiv:2602.09229) find that the dot product collapses for an encoder that ends in a normalisation.
DATA are folders with a train and a test split. One ``offsphere ablate --encoder`` for each model and data set, judged
once, at its last step, with a figure a quantity; a killed run goes on where it stopped. Claims on the metric take one
seed, those on the geometry three. With ``--documents`` a corpus is cut to all that is judged and as many others, drawn
at random, as make that number.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

VARIANTS = "cosine,dot,query,document,learn"


def main() -> None:
    """Train the grid from every start on every data set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", nargs="+", type=Path, required=True)
    parser.add_argument("--models", nargs="+", type=Path, required=True)
    parser.add_argument("--steps", default="120")
    parser.add_argument("--batch", default="16")
    parser.add_argument("--seeds", default="1")
    parser.add_argument("--max-tokens", default="64")
    parser.add_argument("--precision", default="fp32", help="of the products of a step: fp32 or bf16")
    parser.add_argument("--documents", type=int, default=None, help="of a corpus at most, but for those judged")
    asked = parser.parse_args()
    folders = asked.data
    if asked.documents is not None:
        folders = [smaller(data, asked.out / "data" / data.name, asked.documents) for data in asked.data]
    for model in asked.models:
        for data in folders:
            started = time.monotonic()
            learned = ["ablate", str(data), "--encoder", "--model", str(model), "--only", VARIANTS]
            fixed = ["--temperature", "0.05", "--rate", "0.00002", "--steps", asked.steps, "--batch", asked.batch]
            sized = ["--seeds", asked.seeds, "--max-tokens", asked.max_tokens]
            judged = ["--set", f"evaluate_every={asked.steps}", "--set", f"precision={asked.precision}"]
            judged += ["--figures", "svg"]
            out = asked.out / f"{model.name}-{data.name}"
            command = [sys.executable, "-m", "offsphere", *learned, *fixed, *sized, *judged, "--out", str(out)]
            subprocess.run(command, check=True)  # noqa: S603  # our own
            print(f"{model.name}, {data.name}: {time.monotonic() - started:.0f} s", flush=True)


def smaller(data: Path, folder: Path, documents: int) -> Path:
    """Write a BEIR folder with the same queries and judgments, and fewer documents that nobody judged."""
    if (folder / "corpus.jsonl").is_file():  # written last
        return folder
    shutil.copytree(data, folder, ignore=shutil.ignore_patterns("corpus.jsonl"))
    folder.chmod(0o755)  # wherever it was copied from
    judged = {line.split("\t")[1] for file in data.glob("qrels/*.tsv") for line in file.read_text().splitlines()[1:]}
    lines = (data / "corpus.jsonl").read_text("utf-8").splitlines()
    wanted = np.array([json.loads(line)["_id"] in judged for line in lines])
    others = np.random.default_rng(0).permutation(np.flatnonzero(~wanted))[: max(0, documents - wanted.sum())]
    kept = np.sort(np.concatenate([np.flatnonzero(wanted), others])).tolist()
    (folder / "corpus.jsonl").write_text("\n".join(lines[row] for row in kept) + "\n", "utf-8")
    return folder


if __name__ == "__main__":
    main()
