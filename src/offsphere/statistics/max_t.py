"""Correction for many comparisons that lets correlated ones share: step-down max-T (Westfall & Young 1993).

Holm treats fifty rows as fifty independent chances of a false alarm. Rows of one comparison come from the same queries
and move together: the distribution of their *maximum* under the null hypothesis, taken from the same resamples, knows
that. A row that repeats another costs nothing. The chance of any false alarm keeps the level, as with Holm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags
from offsphere.statistics.significance import as_columns, bootstrap_p, random_signs

_ROUNDING = 1e-12


class Tests(NamedTuple):
    """Two-sided p of several comparisons: each as if it were the only one, and corrected for all."""

    alone: Array
    corrected: Array


def max_t_by_signs(
    differences: Array, permutations: int = 10_000, seed: int = 0, *, together: Flags | None = None
) -> Tests:
    """Test columns of paired differences (units, comparisons) by flipping signs at random, alone and together.

    A sign flip changes no square, so under it Student's t of a column grows with ``|sum| / sqrt(sum of squares)``: one
    matrix product serves all columns, both kinds of p and every step. Step-down: a comparison is held against the
    largest statistic of itself and of those that came out smaller. The observed pattern counts as one of the
    permutations, so p is never zero (Phipson & Smyth 2010).

    Args:
        differences: a column a comparison; one that holds only zeros, or what is no number, gets a p of 1.
        permutations: how many sign patterns.
        seed: of the patterns, the same as those of ``randomization_test``.
        together: which columns are corrected for each other; all where nothing is said. The others keep their p.

    Returns:
        p of each column, alone and corrected; the corrected one is never the smaller.

    Example:
        >>> import numpy as np
        >>> column = np.random.default_rng(0).normal(0.3, 1, 40)
        >>> alone, corrected = max_t_by_signs(np.stack([column, column, column], axis=1))
        >>> bool((alone == corrected).all())  # copies cost nothing
        True
    """
    columns = as_columns(differences)
    family = np.ones(columns.shape[1], bool) if together is None else np.asarray(together)
    squares = np.sqrt((columns**2).sum(axis=0))
    usable = np.isfinite(squares) & (squares > 0)
    rows = np.flatnonzero(usable)
    scaled = columns[:, rows] / squares[rows]
    statistic = np.abs(scaled.sum(axis=0))
    # the smallest first, so that a running maximum is over a comparison and all that came out smaller; those that are
    # tested alone stand before all others, where they enter no maximum
    order = np.lexsort((statistic, family[rows]))
    scaled, statistic, rows = scaled[:, order], statistic[order], rows[order]
    first = int((~family[rows]).sum())
    # equal sums may differ by rounding: count what is equal up to that as equal, which errs on the side of caution
    reached = statistic * (1 - _ROUNDING) - _ROUNDING * np.sqrt(len(columns))
    alone, largest = np.zeros(len(rows)), np.zeros(len(rows) - first)
    for signs in random_signs(len(columns), permutations, seed):
        permuted = np.abs(signs @ scaled)
        alone += (permuted >= reached).sum(axis=0)
        largest += (np.maximum.accumulate(permuted[:, first:], axis=1) >= reached[first:]).sum(axis=0)
    p = Tests(np.ones(columns.shape[1]), np.ones(columns.shape[1]))
    p.alone[rows] = (1 + alone) / (1 + permutations)
    p.corrected[rows[:first]] = p.alone[rows[:first]]
    p.corrected[rows[first:]] = _monotone((1 + largest) / (1 + permutations))
    return p


def max_t_by_bootstrap(differences: Array, samples: Array, *, together: Flags | None = None) -> Tests:
    """Test statistics that are no mean over units by their centred bootstrap samples (Romano & Wolf 2005).

    Args:
        differences: of each comparison, as observed.
        samples: the same in each resample of the units: (resamples, comparisons).
        together: which comparisons are corrected for each other; all where nothing is said.

    Returns:
        p of each comparison: alone as ``bootstrap_p`` gives it, and corrected, which is never the smaller.

    Example:
        >>> import numpy as np
        >>> noise = np.random.default_rng(0).normal(size=(400, 2))
        >>> [bool(p < 0.05) for p in max_t_by_bootstrap(np.array([5.0, 0.1]), noise + [5.0, 0.1]).corrected]
        [True, False]
    """
    family = np.ones(len(differences), bool) if together is None else np.asarray(together)
    alone = bootstrap_p(differences, samples)
    corrected = alone.copy()
    error = samples.std(axis=0)
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(family & np.isfinite(differences) & (error > 0))
    statistic = np.abs(differences[rows]) / error[rows]
    order = np.argsort(statistic, kind="stable")
    rows, statistic = rows[order], statistic[order]
    centred = np.abs(samples[:, rows] - samples[:, rows].mean(axis=0)) / error[rows]
    exceeded = (np.maximum.accumulate(centred, axis=1) >= statistic * (1 - _ROUNDING)).sum(axis=0)
    corrected[rows] = np.maximum(_monotone((1 + exceeded) / (1 + len(samples))), alone[rows])
    return Tests(alone, corrected)


def _monotone(p: Array) -> Array:
    """Make p, of statistics in rising order, no smaller than that of any larger statistic."""
    return np.maximum.accumulate(p[::-1])[::-1]
