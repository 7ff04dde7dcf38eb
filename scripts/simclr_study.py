"""SimCLR on small batches: do they scatter the negatives, does VRNS gather them, and is that worth anything?

    python scripts/simclr_study.py DATA RESULTS.jsonl [--pictures 2048] [--epochs 6] [--seeds 3] [--part both]
    python scripts/simclr_study.py DATA RESULTS.jsonl --table

DATA is a folder of pictures with classes (Debian's Fashion-MNIST: /usr/share/datasets/fashion-mnist). After Lee et al.
2025 (arXiv:2506.09781). A training is a line of the results and is not done again; ``--table`` prints those that are
there. ``--part``: vrns (its weights, on SimCLR), losses (others without it), both, or more (others with it). Equal
epochs: a batch of 32 has eight times the steps of one of 256.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from kept_results import mean_and_deviation
from picture_trainings import HEAD, study_options, study_results

BATCHES = (32, 256)
LOSSES = ("dcl", "dhel", "siglip")
WEIGHTS = (0.0, 0.1, 1.0, 10.0, 30.0, 100.0)  # of VRNS
USUAL = 30.0
OWN = {"siglip": {"temperature": 0.1, "scale": "learn"}}  # as its paper starts; the others have one that is fixed


def variants(part: str) -> dict[str, dict[str, Any]]:
    """The trainings of a part by their names."""
    asked: list[tuple[str, float]] = []
    if part in ("vrns", "both"):
        asked += [("simclr", weight) for weight in WEIGHTS]
    if part in ("losses", "both"):
        asked += [(loss, 0.0) for loss in LOSSES]
    if part == "more":
        asked += [(loss, USUAL) for loss in LOSSES]
    return {
        f"{loss}{f' + VRNS {weight:g}' if weight else ''}, batch {batch}": OWN.get(loss, {})
        | {"loss": loss, "batch": batch, "vrns": weight}
        for batch in BATCHES
        for loss, weight in asked
    }


def main() -> None:
    """Train what is not in the file yet, or print what is."""
    options = study_options(__doc__)
    options.add_argument("--part", default="both", choices=["vrns", "losses", "both", "more"])
    asked = options.parse_args()
    print_table(study_results(asked, variants(asked.part)))


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Means over seeds and their deviation, beside the bounds."""
    by_name: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        name, _, pictures, epochs = row["key"]
        by_name[name, pictures, epochs].append(row)
    print("| training | seeds | variance of negatives | mean of negatives | positives (bound) | linear probe | kNN |")
    print("| --- " * 7 + "|")
    for (name, *_), some in by_name.items():
        cells = {field: mean_and_deviation([row[field] for row in some], 4) for field in ("variance", "negative")}
        cells |= {field: mean_and_deviation([row[field] for row in some]) for field in ("positive", "probe", "knn")}
        bound = np.mean([row["positive_bound"] for row in some])
        print(f"| {name} | {len(some)} | {cells['variance']} | {cells['negative']} | ", end="")
        print(f"{cells['positive']} ({bound:.3f}) | {cells['probe']} | {cells['knn']} |")
    for pictures, epochs in sorted({key[1:] for key in by_name}):
        seconds = [row["seconds"] for row in rows if row["key"][2:] == [pictures, epochs]]
        print(f"\n{pictures:,} pictures, {epochs} epochs, {len(seconds)} trainings of {np.mean(seconds):.0f} s of CPU")
        for batch in BATCHES:
            least, most = variance_bounds(pictures, batch)
            print(f"variance by theory at batch {batch}: {least:.2g} to {most:.2g}; {HEAD} numbers: {1 / HEAD:.4f}")


def variance_bounds(pictures: int, batch: int) -> tuple[float, float]:
    """What the variance of negatives lies between at the optimum of fixed batches, in dimensions enough."""
    least = (pictures - batch) / ((batch - 1) * (pictures - 1) ** 2)
    return least, pictures * least


if __name__ == "__main__":
    main()
