"""Max-T costs at most 1.2x the plain randomisation test; testing the choice takes 2 s for 300 queries, 10 s for pairs.

Sizes of real comparisons: 55 rows, 200 options of 300 queries, 300 options of 1,379 pairs. The plain test is of the
same columns with the same number of sign patterns.
"""

from __future__ import annotations

import numpy as np
from harness import Clock, Goals, quick

from offsphere.statistics.max_t import max_t_by_signs
from offsphere.statistics.nested_choice import nested_choice
from offsphere.statistics.significance import randomization_test
from offsphere.statistics.tuned_signs import max_t_by_tuned_signs


def main() -> None:
    small = quick(__doc__)
    permutations = 500 if small else 10_000
    rng = np.random.default_rng(0)
    queries, pairs = (
        rng.normal(size=(units, 1)) * 0.2 + rng.normal(size=(units, options)) * 0.3
        for units, options in ((300, 200), (1_379, 300))
    )
    complexity = [(number % 4,) for number in range(300)]
    families = [np.tile(part, (5, 1)) for part in np.array_split(np.arange(200), 55)]
    folds = np.arange(300) % 5
    nested_choice(queries[:20], complexity[:200], repeats=1, permutations=10)  # compile
    max_t_by_tuned_signs(queries, families, folds, 10)
    clock = Clock()
    clock.run(
        {
            "plain test, 55 columns": lambda: randomization_test(queries[:, :55], permutations),
            "max-T, 55 columns": lambda: max_t_by_signs(queries[:, :55], permutations),
            "plain test, 200 columns": lambda: randomization_test(queries, permutations),
            "max-T, 200 options tuned again in 55 rows": lambda: max_t_by_tuned_signs(
                queries, families, folds, permutations
            ),
        },
        1 if small else 7,
    )
    clock.run(
        {
            "choice, 300 queries x 200 options": lambda: nested_choice(
                queries, complexity[:200], repeats=20, permutations=permutations // 10
            ),
            "choice, 1,379 pairs x 300 options": lambda: nested_choice(
                pairs, complexity, repeats=5, permutations=permutations // 10
            ),
        },
        1 if small else 3,
    )
    clock.show()
    goals = Goals(judged=not small)
    goals.at_most("max-T / plain, CPU", clock.cpu["max-T, 55 columns"] / clock.cpu["plain test, 55 columns"], 1.2)
    again, same = clock.cpu["max-T, 200 options tuned again in 55 rows"], clock.cpu["plain test, 200 columns"]
    goals.note("tuned again / plain test of all options, CPU", again / same)
    goals.at_most("choice, 300 queries, seconds", clock.wall["choice, 300 queries x 200 options"], 2)
    goals.at_most("choice, 1,379 pairs, seconds", clock.wall["choice, 1,379 pairs x 300 options"], 10)
    goals.finish()


if __name__ == "__main__":
    main()
