"""SimCLR on small batches: do they scatter the negatives, does VRNS gather them, and is that worth anything?

    python scripts/simclr_study.py DATA RESULTS.jsonl [--pictures 2048] [--epochs 6] [--seeds 3] [--part both]
    python scripts/simclr_study.py DATA RESULTS.jsonl --table

DATA is a folder of pictures with classes (Debian's Fashion-MNIST: /usr/share/datasets/fashion-mnist). After Lee et al.
2025 (arXiv:2506.09781). A training is a line of the results and is not done again; ``--table`` prints those that are
there. ``--part``: vrns (its weights, on SimCLR), losses (others without it), both, more (others with it), or central
(SimCLR without and with it: four trainings a seed, for larger towers). Equal
epochs: a batch of 32 has eight times the steps of one of 256.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from kept_results import draw_by_seed, mean_and_deviation, told_difference
from picture_trainings import study_options, study_results, told_size

BATCHES = (32, 256)
LOSSES = ("dcl", "dhel", "siglip")
WEIGHTS = (0.0, 0.1, 1.0, 10.0, 30.0, 100.0)  # of VRNS
USUAL = 30.0
DRAWN = {"variance": "variance of negatives", "probe": "linear probe", "knn": "kNN"}
OWN = {"siglip": {"temperature": 0.1, "scale": "learn"}}  # as its paper starts; the others have one that is fixed


def variants(part: str) -> dict[str, dict[str, Any]]:
    """The trainings of a part by their names."""
    asked: list[tuple[str, float]] = []
    if part in ("vrns", "both"):
        asked += [("simclr", weight) for weight in WEIGHTS]
    if part in ("losses", "both"):
        asked += [(loss, 0.0) for loss in LOSSES]
    if part == "central":
        asked += [("simclr", weight) for weight in (0.0, USUAL)]
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
    options.add_argument("--part", default="both", choices=["vrns", "losses", "both", "more", "central"])
    asked = options.parse_args()
    rows = study_results(asked, variants(asked.part))
    for size in sorted({tuple(row["key"][2:]) for row in rows}):
        some = [row for row in rows if tuple(row["key"][2:]) == size]
        print_table(some)
        print_differences(some)
        if asked.figure is not None:
            draw_by_seed(
                some, {"variance": "variance of negatives", "probe": "linear probe", "knn": "kNN"}, asked.figure
            )


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Means over seeds and their deviation, beside the bounds, of trainings of one size."""
    print("| training | seeds | variance of negatives | mean of negatives | positives (bound) | linear probe | kNN |")
    print("| --- " * 7 + "|")
    for name, some in _by_name(rows).items():
        cells = {field: mean_and_deviation([row[field] for row in some], 4) for field in ("variance", "negative")}
        cells |= {field: mean_and_deviation([row[field] for row in some]) for field in ("positive", "probe", "knn")}
        bound = np.mean([row["positive_bound"] for row in some])
        print(f"| {name} | {len(some)} | {cells['variance']} | {cells['negative']} | ", end="")
        print(f"{cells['positive']} ({bound:.3f}) | {cells['probe']} | {cells['knn']} |")
    pictures, *_, width, _ = rows[0]["key"][2:]
    print(f"\n{told_size(rows)}")
    for batch in BATCHES:
        least, most = variance_bounds(pictures, batch)
        print(f"variance by theory at batch {batch}: {least:.2g} to {most:.2g}; {width} numbers: {1 / width:.4f}")


def print_differences(rows: Sequence[dict[str, Any]]) -> None:
    """What VRNS, another loss, and a smaller batch change, over the same seeds."""
    by_name = _by_name(rows)
    print("\n| less | variance of negatives | positives | linear probe | kNN |")
    print("| --- " * 5 + "|")
    for name in by_name:
        compared = _compared(name)
        if compared not in by_name:
            continue
        both = [{tuple(row["key"]): row for row in by_name[one]} for one in (name, compared)]
        pairs = [(row, both[1][compared, *key[1:]]) for key, row in both[0].items() if (compared, *key[1:]) in both[1]]
        cells = [
            told_difference([row[field] for row, _ in pairs], [other[field] for _, other in pairs], digits)
            for field, digits in (("variance", 4), ("positive", 3), ("probe", 3), ("knn", 3))
        ]
        print(f"| {name}, less {compared} | {' | '.join(cells)} |")


def _compared(name: str) -> str:
    """What a training is held against: itself without VRNS, SimCLR's loss, or, for that, the larger batch."""
    learned, _, batch = name.rpartition(", batch ")
    loss, _, weight = learned.partition(" + VRNS ")
    if weight:
        return f"{loss}, batch {batch}"
    return (
        f"simclr, batch {batch}" if loss != "simclr" else f"{loss}, batch {max(BATCHES)}" * (batch == str(min(BATCHES)))
    )


def _by_name(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The trainings of each variant, a row a seed."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["key"][0]].append(row)
    return by_name


def variance_bounds(pictures: int, batch: int) -> tuple[float, float]:
    """What the variance of negatives lies between at the optimum of fixed batches, in dimensions enough."""
    least = (pictures - batch) / ((batch - 1) * (pictures - 1) ** 2)
    return least, pictures * least


if __name__ == "__main__":
    main()
