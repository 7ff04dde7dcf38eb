"""All pairs of 10 scorers x 7,000 queries x 10,000 permutations in under 2 seconds; against ranx's own test."""

from __future__ import annotations

import time

import numpy as np
from harness import Clock, Goals, quick
from ranx.statistical_tests.fisher_randomization_test import fisher_randomization_test

from offsphere.statistics.significance import randomization_test_pairs


def main() -> None:
    small = quick(__doc__)
    queries, permutations = (200, 500) if small else (7_000, 10_000)
    values = np.random.default_rng(0).random((queries, 10))
    clock = Clock()
    clock.run({"ours, all 45 pairs": lambda: randomization_test_pairs(values, permutations)}, 1 if small else 3)

    fisher_randomization_test(values[:50, 0], values[:50, 1], 10)  # compile
    pairs = [(0, 1), (2, 3), (4, 5)]
    started = time.perf_counter()
    for one, other in pairs:
        fisher_randomization_test(values[:, one], values[:, other], permutations)
    peer = (time.perf_counter() - started) / len(pairs) * 45
    clock.show()
    print(f"  {'ranx, all 45 pairs (3 measured, x 15)':<44} {peer:9.3f} s wall")
    goals = Goals()
    if small:
        goals.note("seconds", clock.wall["ours, all 45 pairs"])
        goals.note("ranx / ours", peer / clock.wall["ours, all 45 pairs"])
    else:
        goals.at_most("seconds", clock.wall["ours, all 45 pairs"], 2.0)
        goals.at_least("ranx / ours", peer / clock.wall["ours, all 45 pairs"], 1.0)
    goals.finish()


if __name__ == "__main__":
    main()
