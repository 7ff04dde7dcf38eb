"""How often is something found where nothing is? Null data sets built from real ones, tested as ``compare`` tests.

``python scripts/false_alarms.py FOLDER scifact cranfield cisi`` measures every option on real tasks once, then makes
1,000 data sets of 30 to 300 queries in which no option gains anything: the real differences, each query's with a random
sign. In the last columns what really loses goes on losing, and only what is called better is false. What was simulated
is kept and not done again. Prints the table of docs/comparing.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from kept_results import resume
from measured_options import measured_options
from simulation import ALPHA, draw_null, real_losses, run_tests, share

from offsphere.statistics.significance import holm

SIZES = (30, 60, 100, 200, 300)
COLUMNS = ("any row, max-T", "any row, Holm", "the choice", "any row better", "the choice better", "either better")


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds the tasks")
    parser.add_argument("tasks", nargs="+")
    parser.add_argument("--model", default="wordllama")
    parser.add_argument("--sets", type=int, default=1_000)
    parser.add_argument("--kept", type=Path, default=Path("simulated"), help="where results are kept")
    asked = parser.parse_args()
    measured = [measured_options(asked.folder / task, asked.model, asked.kept) for task in asked.tasks]

    def simulate(number: int) -> dict[str, Any]:
        rng = np.random.default_rng(number)
        task, size = number % len(measured), SIZES[number // len(measured) % len(SIZES)]
        null = draw_null(measured[task], size, rng)
        result = run_tests(measured[task], null, number)
        losing = run_tests(measured[task], null + real_losses(measured[task]), number)
        row = ((losing.rows.corrected < ALPHA) & (losing.gains > 0)).any()
        choice = losing.choice.p < ALPHA and losing.choice.gained.mean() > 0
        found = (
            (result.rows.corrected < ALPHA).any(),
            (holm(result.rows.alone) < ALPHA).any(),
            result.choice.p < ALPHA,
            row,
            choice,
            row or choice,
        )
        return {"size": size, "task": asked.tasks[task], **dict(zip(COLUMNS, map(bool, found), strict=True))}

    results = list(resume(asked.kept / "false-alarms.jsonl", [(n,) for n in range(asked.sets)], simulate))
    print("| queries | data sets | " + " | ".join(COLUMNS) + " |")
    print("| --- " * (len(COLUMNS) + 2) + "|")
    for size in (*SIZES, None):
        some = [line for line in results if size in (line["size"], None)]
        cells = [share([line[column] for line in some]) for column in COLUMNS]
        print(f"| {size or 'all'} | {len(some):,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
