"""The grid of normalisations for SimCLR on pictures: does length hurt where both sides play one role?

    python scripts/picture_grid.py DATA RESULTS.jsonl [--pictures 2048] [--epochs 6] [--seeds 3]
    python scripts/picture_grid.py DATA RESULTS.jsonl --table

DATA is a folder of pictures with classes. The output grid says which side's length counts in training; the input grid
divides the pixels of a side, after their standardisation, by their root mean square, or leaves the standardisation out.
After Feng & Watanabe 2026 (arXiv:2602.09229). A training is a line of the results and is not done again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from kept_results import draw_by_seed, mean_and_deviation, told_difference
from picture_trainings import study_options, study_results, told_size

BATCH = 64
OUTPUTS = {"cosine": "both", "dot": "none", "query": "query", "document": "document", "learn": "learn"}
INPUTS = {"query": ("query",), "document": ("document",), "both": ("query", "document")}
BASELINE = "cosine"


def variants() -> dict[str, dict[str, Any]]:
    """The trainings by their names."""
    named: dict[str, dict[str, Any]] = {name: {"normalize": output} for name, output in OUTPUTS.items()}
    for output in ("cosine", "dot"):
        for name, sides in INPUTS.items():
            named[f"{output}, input {name}"] = {"normalize": OUTPUTS[output], "normalize_input": name}
            named[f"{output}, raw {name}"] = {"normalize": OUTPUTS[output], "raw": sides}
    return {name: {"batch": BATCH, "scale": "calibrated", **options} for name, options in named.items()}


def main() -> None:
    """Train what is not in the file yet, or print what is."""
    options = study_options(__doc__)
    options.add_argument("--outputs", action="store_true", help="the output grid alone: five trainings a seed")
    asked = options.parse_args()
    asked_for = {name: of for name, of in variants().items() if name in OUTPUTS or not asked.outputs}
    rows = study_results(asked, asked_for)
    for size in sorted({tuple(row["key"][2:]) for row in rows}):
        some = [row for row in rows if tuple(row["key"][2:]) == size]
        print_table(some)
        if asked.figure is not None:
            draw_by_seed(some, {"probe": "linear probe", "knn": "kNN by cosine", "knn_dot": "kNN by dot"}, asked.figure)


def print_table(rows: Sequence[dict[str, Any]]) -> None:
    """Means over seeds, and what each has against cosine over the same seeds, of trainings of one size."""
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["key"][0]].append(row)
    plain = {row["key"][1]: row for row in by_name[BASELINE]}
    print("| training | seeds | linear probe | - cosine | kNN, cosine | - cosine | kNN, dot | exponents |")
    print("| --- " * 8 + "|")
    for name, some in by_name.items():
        cells = [name, str(len(some))]
        for field in ("probe", "knn"):
            pairs = [(row[field], plain[row["key"][1]][field]) for row in some if row["key"][1] in plain]
            apart = told_difference(*zip(*pairs, strict=True)) if name != BASELINE and pairs else ""
            cells += [mean_and_deviation([row[field] for row in some]), apart]
        exponents = np.mean([row["exponents"] for row in some], axis=0)
        cells += [mean_and_deviation([row["knn_dot"] for row in some]), f"{exponents[0]:.2f}, {exponents[1]:.2f}"]
        print("| " + " | ".join(cells) + " |")
    print(f"\n{told_size(rows)}")


if __name__ == "__main__":
    main()
