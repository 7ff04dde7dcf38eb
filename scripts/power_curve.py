"""How often is a gain found that is there? Planted gains in data sets built from real ones, by each of the tests.

``python scripts/power_curve.py FOLDER scifact cranfield cisi``: 100 queries, one row gains 1 to 6 of its own standard
errors, all others as much as they really move with it, and what really loses goes on losing. Prints the table of
docs/comparing.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from kept_results import resume
from measured_options import measured_options
from simulation import ALPHA, draw_null, plant, real_losses, run_tests, share

from offsphere.statistics.significance import holm

SIZE = 100
HARMLESS = 0.02  # a row that really loses more is nobody's candidate
ERRORS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
COLUMNS = (
    "the row, tested alone",
    "the row, max-T",
    "the row, Holm",
    "following the choice",
    "something is recommended",
)


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds the tasks")
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--model", default="wordllama")
    parser.add_argument("--sets", type=int, default=100, help="for each gain")
    parser.add_argument("--kept", type=Path, default=Path("simulated"), help="where results are kept")
    asked = parser.parse_args()
    measured = [measured_options(asked.folder / task, asked.model, asked.kept) for task in asked.tasks]

    def simulate(number: int, errors: float) -> dict[str, Any]:
        rng = np.random.default_rng([number, 1])
        options = measured[number % len(measured)]
        losses = real_losses(options)
        fixed = [
            row
            for row, numbers in enumerate(options.rows)
            if row and len(numbers) == 1 and losses[numbers[0]] > -HARMLESS
        ]
        row = int(rng.choice(fixed))
        null = draw_null(options, SIZE, rng)
        option = int(options.rows[row][0])
        losses[option] = 0
        result = run_tests(options, plant(null, option, errors) + losses, number)
        gains = result.gains[row - 1] > 0
        found = (
            gains and result.rows.alone[row - 1] < ALPHA,
            gains and result.rows.corrected[row - 1] < ALPHA,
            gains and holm(result.rows.alone)[row - 1] < ALPHA,
            (choice := result.choice.p < ALPHA and result.choice.gained.mean() > 0),
            choice or ((result.rows.corrected < ALPHA) & (result.gains > 0)).any(),
        )
        return dict(zip(COLUMNS, map(bool, found), strict=True))

    keys = [(number, errors) for errors in ERRORS for number in range(asked.sets)]
    results = list(resume(asked.kept / "power.jsonl", keys, simulate))
    print("| gain, in standard errors | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (len(COLUMNS) + 1) + "|")
    for errors in ERRORS:
        some = [line for line in results if line["key"][1] == errors]
        print(f"| {errors:g} | " + " | ".join(share([line[column] for line in some]) for column in COLUMNS) + " |")


if __name__ == "__main__":
    main()
