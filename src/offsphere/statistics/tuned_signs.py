"""The randomisation test of rows that were tuned: the tuning is done again under every sign pattern.

The held-out values of a tuned row look like any other's, but are not independent: a fold that happens to be bad for an
option is one whose *other* folds speak for it. Flipping the signs of the held-out differences alone forgets that, and
finds false losses twice as often as it should. A flip changes sums over folds and no squares, so that tuning again
costs no more than the sums of all options instead of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.statistics.max_t import Tests, step_down
from offsphere.statistics.significance import random_signs

SEEN = 1.959964  # standard errors, in either tail, at 5 %
_SUMS_AT_ONCE = 2_000_000  # sums of an option over a fold, in memory


def max_t_by_tuned_signs(
    differences: Array,
    rows: Sequence[Index],
    folds: Index,
    permutations: int = 10_000,
    seed: int = 0,
    *,
    together: Flags | None = None,
) -> Tests:
    """Test rows whose options were chosen by cross-validation, alone and corrected for each other.

    Args:
        differences: of every option from the baseline: (units, options).
        rows: for each row the numbers of its options in each fold, (folds, options of the row): one option for a fixed
            row, the same in every fold for a family, others in every fold where options were made without that fold.
        folds: the fold of each unit.
        permutations: how many sign patterns.
        seed: of the patterns.
        together: which rows are corrected for each other; all where nothing is said. The others keep their p.

    Returns:
        p of each row, alone and corrected; 1 for a row without a difference or without a value.

    Example:
        >>> import numpy as np
        >>> options = np.random.default_rng(0).normal(0, 1, (40, 3))
        >>> rows = [np.zeros((5, 1), int), np.tile([1, 2], (5, 1))]
        >>> alone, corrected = max_t_by_tuned_signs(options, rows, np.arange(40) % 5)
        >>> bool((alone <= corrected).all())
        True
    """
    from offsphere.statistics.choice_kernels import tune_rows  # compiled when it is first needed

    known = np.asarray(np.isfinite(differences).all(axis=0))
    kept = [_known_options(options, known) for options in rows]
    used = np.array([options.shape[1] > 0 for options in kept])
    if not used.any():
        return Tests(np.ones(len(rows)), np.ones(len(rows)))
    counts = np.array([options.shape[1] for options in kept])[used]
    numbers = np.stack([np.resize(options.T, (counts.max(), len(options))).T for options in kept if options.shape[1]])
    order = np.argsort(folds, kind="stable")
    ordered = np.where(known, differences, 0.0)[order]
    starts = np.searchsorted(folds[order], np.arange(int(folds.max()) + 2))
    parts = [slice(*ends) for ends in pairwise(starts)]
    squares = np.stack([(ordered[part] ** 2).sum(axis=0) for part in parts])  # (folds, options)

    def statistics(signs: Array) -> Array:
        sums = np.stack([signs[:, part] @ ordered[part] for part in parts])  # (folds, patterns, options)
        result = np.full((len(rows), len(signs)), np.nan)
        result[used] = tune_rows(sums, squares, numbers, counts)
        return result

    at_once = max(_SUMS_AT_ONCE // squares.size, 1)
    permuted = [statistics(signs) for signs in random_signs(len(folds), permutations, seed, at_once)]
    both = np.concatenate([statistics(np.ones((1, len(folds)))), *permuted], axis=1)
    for row in np.flatnonzero(used)[counts > 1]:
        both[row] = _even_tails(both[row])
    both = np.abs(both)
    return step_down(both[:, 0], both[:, 1:], len(folds), together)


def _even_tails(statistics: Array) -> Array:
    """Shrink a tail that is heavier than it is for a row that was not tuned, so that gains need not pay for losses.

    Losses of a tuned row are larger by chance than its gains. The scale is that of all patterns together, so that the
    test stays exact; a tail that is lighter stays as it is, since a row whose choice is certain has none such.
    """
    low, high = np.quantile(statistics, [0.025, 0.975])
    return np.asarray(statistics * np.where(statistics > 0, SEEN / max(high, SEEN), SEEN / max(-low, SEEN)))


def _known_options(options: Index, known: Flags) -> Index:
    """Leave out what has no value: (folds, options of the row)."""
    return options[:, known[options].all(axis=0)]
