"""Correction for many comparisons that lets correlated ones share: step-down max-T (Westfall & Young 1993).

Holm treats fifty rows as fifty independent chances of a false alarm. Rows of one comparison come from the same queries
and move together: the distribution of their *maximum* under the null hypothesis, taken from the same resamples, knows
that. A row that repeats another costs nothing. The chance of any false alarm keeps the level, as with Holm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.statistics.agreeing_intervals import tolerated
from offsphere.statistics.significance import SEEN, as_columns, bootstrap_p, random_signs

_ROUNDING, _TIE = 1e-12, 1e-9


class Tests(NamedTuple):
    """Two-sided p of several comparisons: each as if it were the only one, and corrected for all."""

    alone: Array
    corrected: Array
    reach: Array  # beyond which statistic a gain, and a loss, has a corrected p below 0.05: (comparisons, 2)


def max_t_by_signs(
    differences: Array, permutations: int = 10_000, seed: int = 0, *, together: Flags | None = None
) -> Tests:
    """Test columns of paired differences (units, comparisons) by flipping signs at random, alone and together.

    A sign flip changes no square, so under it Student's t of a column grows with ``|sum| / sqrt(sum of squares)``: one
    matrix product serves all columns and both kinds of p.

    Args:
        differences: a column a comparison; one that holds only zeros, or what is no number, gets a p of 1.
        permutations: how many sign patterns.
        seed: of the patterns.
        together: which columns are corrected for each other; all where nothing is said. The others keep their p.

    Returns:
        p of each column, alone and corrected; the corrected one is never the smaller. ``around_means`` makes intervals
        of the reach.

    Example:
        >>> import numpy as np
        >>> column = np.random.default_rng(0).normal(0.3, 1, 40)
        >>> tests = max_t_by_signs(np.stack([column, column, column], axis=1))
        >>> bool((tests.alone == tests.corrected).all())  # copies cost nothing
        True
    """
    columns = as_columns(differences)
    squares = np.sqrt((columns**2).sum(axis=0))
    scaled = columns / np.where(squares > 0, squares, np.nan)
    permuted = np.empty((columns.shape[1], permutations))
    done = 0
    for signs in random_signs(len(columns), permutations, seed):
        np.matmul(scaled.T, signs.T, out=permuted[:, done : done + len(signs)])
        done += len(signs)
    return step_down(np.abs(scaled.sum(axis=0)), np.abs(permuted, out=permuted), len(columns), together)


def max_t_by_bootstrap(differences: Array, samples: Array, *, together: Flags | None = None) -> Tests:
    """Test statistics that are no mean over units by their centred bootstrap samples (Romano & Wolf 2005).

    Args:
        differences: of each comparison, as observed.
        samples: the same in each resample of the units: (resamples, comparisons).
        together: which comparisons are corrected for each other; all where nothing is said.

    Returns:
        p of each comparison: alone as ``bootstrap_p`` gives it, and corrected, which is never the smaller. The reach is
        in standard errors of the samples: ``around_statistics`` makes intervals of it.

    Example:
        >>> import numpy as np
        >>> noise = np.random.default_rng(0).normal(size=(400, 2))
        >>> [bool(p < 0.05) for p in max_t_by_bootstrap(np.array([5.0, 0.1]), noise + [5.0, 0.1]).corrected]
        [True, False]
    """
    alone = bootstrap_p(differences, samples)
    errors = samples.std(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = (np.abs(samples - samples.mean(axis=0)) / errors).T
        tests = step_down(np.abs(differences) / np.where(errors > 0, errors, np.nan), drawn, 1, together)
    family = np.isfinite(errors) & (errors > 0) & (True if together is None else np.asarray(together))
    corrected = np.where(family, np.maximum(alone, tests.corrected), alone)
    return Tests(alone, corrected, np.where(family[:, None], np.maximum(SEEN, tests.reach), SEEN))


def step_down(observed: Array, permuted: Array, units: int, together: Flags | None = None) -> Tests:
    """Correct by the largest statistic of each permutation, over a comparison and all that came out smaller.

    The observed pattern counts as one of the permutations, so p is never zero (Phipson & Smyth 2010).

    Args:
        observed: the statistic of each comparison, large where it differs; one that is no number gets a p of 1.
        permuted: the same in each permutation: (comparisons, permutations).
        units: how many were summed up in a statistic, which tells its rounding.
        together: which comparisons are corrected for each other; all where nothing is said.

    Returns:
        p of each comparison, alone and corrected.

    Example:
        >>> import numpy as np
        >>> permuted = np.array([[0.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
        >>> step_down(np.array([2.5, 0.5]), permuted, 1).corrected.tolist()
        [0.5, 0.75]
    """
    family = np.ones(len(observed), bool) if together is None else np.asarray(together)
    # equal sums may differ by rounding: count what is equal up to that as equal, which errs on the side of caution
    reached = observed * (1 - _ROUNDING) - _ROUNDING * np.sqrt(units)
    patterns = 1 + permuted.shape[1]
    bound = np.full(len(observed), np.inf)
    p = Tests(np.ones(len(observed)), np.ones(len(observed)), np.zeros((len(observed), 2)))
    known = np.flatnonzero(np.isfinite(observed))
    p.alone[known] = [(1 + np.count_nonzero(permuted[row] >= reached[row])) / patterns for row in known]
    p.corrected[:] = p.alone
    rows = known[family[known]]
    rows = rows[np.argsort(observed[rows], kind="stable")]
    largest = permuted[rows]
    np.maximum.accumulate(largest, axis=0, out=largest)  # of each comparison and all that came out smaller
    steps = np.array([1 + np.count_nonzero(each >= reached[row]) for each, row in zip(largest, rows, strict=True)])
    p.corrected[rows] = np.maximum.accumulate(steps[::-1])[::-1] / patterns
    bound[rows] = _reach(observed[rows], largest)
    for row in known[~family[known]]:
        bound[[row]] = _reach(observed[[row]], permuted[[row]])
    p.reach[:] = bound[:, None]
    return p


def _reach(observed: Array, largest: Array) -> Array:
    """Tell beyond which statistic each comparison is called different by ``step_down``; the smallest comes first.

    From the largest statistic on, each is held against the ``largest`` permuted ones of its own and all that came out
    smaller; behind the first that fails all fail, by the bound that stopped it.
    """
    few = tolerated(largest.shape[1])
    if few < 0 or not len(observed):  # too few permutations for any p to be so small
        return np.full(len(observed), np.inf)
    nth = largest.shape[1] - 1 - few
    bound = np.empty(len(observed))
    for row in range(len(observed) - 1, -1, -1):
        bound[row] = np.partition(largest[row], nth)[nth]
        if observed[row] <= bound[row] * (1 + _TIE):
            bound[:row] = bound[row]
            break
    return bound
