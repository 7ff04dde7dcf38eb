"""The randomisation test of rows that were tuned: the tuning is done again under every sign pattern.

The held-out values of a tuned row look like any other's, but are not independent: a fold that happens to be bad for an
option is one whose *other* folds speak for it. Flipping the signs of the held-out differences alone forgets that, and
finds false losses twice as often as it should. A flip changes sums over folds and no squares, so that tuning again
costs no more than the sums of all options instead of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Flags, Index
from offsphere.base.progress import Progress
from offsphere.statistics.max_t import Tests, step_down
from offsphere.statistics.significance import SEEN, random_signs

_SUMS_AT_ONCE = 2_000_000  # sums of an option over a fold, in memory


def max_t_by_tuned_signs(
    differences: Array,
    rows: Sequence[Index],
    folds: Index,
    permutations: int = 10_000,
    seed: int = 0,
    *,
    together: Flags | None = None,
    progress: Progress | None = None,
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
        progress: is told how many sign patterns are done.

    Returns:
        p of each row, alone and corrected; 1 for a row without a difference or without a value. ``around_means`` makes
        of the reach, and of what each row gained on units that its option was not chosen by, the interval of the row.

    Example:
        >>> import numpy as np
        >>> options = np.random.default_rng(0).normal(0, 1, (40, 3))
        >>> rows = [np.zeros((5, 1), int), np.tile([1, 2], (5, 1))]
        >>> tests = max_t_by_tuned_signs(options, rows, np.arange(40) % 5)
        >>> bool((tests.alone <= tests.corrected).all())
        True
    """
    drawn = _draw(differences, rows, folds, permutations, seed, progress)
    both = np.abs(drawn.even())
    tests = step_down(both[:, 0], both[:, 1:], len(folds), together)
    return tests._replace(reach=tests.reach / drawn.scales)


class _SignedStatistics(NamedTuple):
    """The statistic of each row, as it was observed and under each sign pattern, and how its tails are made even."""

    statistics: Array  # (rows, 1 + patterns); no number for a row that has none
    scales: Array  # (rows, 2): by how much a gain and a loss is made smaller

    def even(self) -> Array:
        """The statistics with tails that are alike."""
        return np.asarray(self.statistics * np.where(self.statistics > 0, self.scales[:, :1], self.scales[:, 1:]))


def _draw(
    differences: Array, rows: Sequence[Index], folds: Index, permutations: int, seed: int, progress: Progress | None
) -> _SignedStatistics:
    """Tune every row again under every sign pattern."""
    from offsphere.statistics.choice_kernels import tune_rows  # compiled when it is first needed

    known = np.asarray(np.isfinite(differences).all(axis=0))
    kept = [_known_options(options, known) for options in rows]
    used = np.array([options.shape[1] > 0 for options in kept], bool)
    scales = np.ones((len(rows), 2))
    if not used.any():
        return _SignedStatistics(np.full((len(rows), 1 + permutations), np.nan), scales)
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
    permuted, done = [statistics(np.ones((1, len(folds))))], 0
    for signs in random_signs(len(folds), permutations, seed, at_once):
        permuted.append(statistics(signs))
        done += len(signs)
        if progress is not None:
            progress(done, permutations)
    both = np.concatenate(permuted, axis=1)
    for row in np.flatnonzero(used)[counts > 1]:
        scales[row] = _even_tails(both[row])
    return _SignedStatistics(both, scales)


def _even_tails(statistics: Array) -> tuple[float, float]:
    """By how much to shrink a tail that is heavier than that of a row that was not tuned: gains pay for no losses.

    Losses of a tuned row are larger by chance than its gains. The scale is that of all patterns together, so that the
    test stays exact; a tail that is lighter stays as it is, since a row whose choice is certain has none such.
    """
    low, high = np.quantile(statistics, [0.025, 0.975])
    return float(SEEN / max(high, SEEN)), float(SEEN / max(-low, SEEN))


def _known_options(options: Index, known: Flags) -> Index:
    """Leave out what has no value: (folds, options of the row)."""
    return options[:, known[options].all(axis=0)]
