"""Choosing as a procedure that can be tested: options chosen on some units, judged on others, again and again.

The test does the whole procedure again under every sign pattern. The held-out values alone, flipped, would not do: who
is chosen for one fold depends on all others, so that they are not independent, and false losses are found four times as
often as they should. Under the null hypothesis that every option could be exchanged with the first on any unit, the
test is exact whatever the rule of choice. Where options differ but the choice gains nothing, the plain test of what was
held out is the right one: p is the larger of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.cores import available_cores
from offsphere.base.progress import Progress
from offsphere.statistics.agreeing_intervals import tolerated
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.significance import ALPHA, random_signs


class NestedChoice(NamedTuple):
    """Which option was chosen for whom, and what that gains on units that took no part in the choice."""

    divisions: Index  # the fold of each unit in each repeat: (repeats, units)
    choices: Index  # the option chosen for each fold: (repeats, folds)
    overall: int  # the option chosen on all units
    gained: Array  # by each unit, averaged over the repeats
    low: float  # of the mean gain: the 95 % interval that belongs to p
    high: float
    p: float  # two-sided, both tails alike
    reach: float  # Student's t of the gain beyond which p is below 0.05


def choose_option(differences: Array, complexity: Sequence[Sequence[int]]) -> int:
    """Choose the simplest option of those within one standard error of the best.

    The standard error is that of the paired difference from the best option (the rule of Breiman et al. 1984). Of those
    that are equally simple it takes the one with the highest mean, then the first.

    Args:
        differences: of each unit under each option: (units, options); from what is the same for all options.
        complexity: of each option, in an order in which the smaller is the simpler.

    Returns:
        The number of the option.

    Example:
        >>> import numpy as np
        >>> values = np.array([[0, 1, 1.1], [0, 1, 0.9], [0, 1, 1.2], [0, 1, 0.9]])
        >>> choose_option(values, [(0,), (1,), (2,)])
        1
    """
    from offsphere.statistics.choice_kernels import choose_simplest, squared_distances  # compiled when first needed

    ranked = _OptionRanking.of(differences, complexity)
    distances = squared_distances(ranked.values, np.arange(len(differences)))
    return int(ranked.order[choose_simplest(ranked.values.sum(axis=0), distances, len(differences), ranked.ends)])


def nested_choice(
    differences: Array,
    complexity: Sequence[Sequence[int]],
    *,
    folds: int = 5,
    repeats: int = 20,
    seed: int = 0,
    permutations: int = 1_000,
    progress: Progress | None = None,
) -> NestedChoice:
    """Choose for every fold of many divisions by the other folds, and test what that gains over the first option.

    The statistic is Student's t of what the units gain, averaged over the divisions. p is twice the share of sign
    patterns in the nearer tail, with all choices made again under each pattern or with the choices as they are,
    whichever is larger; the interval is the one that belongs to it.

    Args:
        differences: of every option from the first: (units, options).
        complexity: of each option, in an order in which the smaller is the simpler.
        folds: of each division; at least 2.
        repeats: how many divisions.
        seed: of divisions and sign patterns.
        permutations: how many sign patterns.
        progress: is told how many divisions are done.

    Returns:
        Choices, what they gain, its interval and p.

    Example:
        >>> import numpy as np
        >>> noise = np.random.default_rng(0).normal(0, 0.1, (60, 3))
        >>> chosen = nested_choice(noise * [0, 1, 1] + [0, 0, 0.2], [(0,), (1,), (1,)])
        >>> chosen.overall, chosen.p < 0.01, np.unique(chosen.choices).tolist()
        (2, True, [2])
    """
    units = len(differences)
    divisions = np.stack([assign_folds(units, folds, [seed, repeat]) for repeat in range(repeats)])
    ranked = _OptionRanking.of(differences, complexity)

    def patterns() -> Iterator[Array]:
        yield np.ones((1, units))  # what was observed
        yield from random_signs(units, permutations, seed)

    chosen = []
    with ThreadPoolExecutor(available_cores()) as pool:
        for part in pool.map(lambda division: _choose(ranked, division, patterns), divisions):
            chosen.append(part)
            if progress is not None:
                progress(len(chosen), repeats)
    choices = np.stack(chosen)
    gained = _gains(differences, divisions, choices[:, :1])[0]
    again, as_they_are, done = [], [], 0
    for signs in patterns():
        again.append(_student(signs * _gains(differences, divisions, choices[:, done : done + len(signs)])))
        as_they_are.append(_student(signs * gained))
        done += len(signs)
    tested = _interval_and_p(gained, np.concatenate(again), np.concatenate(as_they_are))
    return NestedChoice(divisions, choices[:, 0], choose_option(differences, complexity), gained, *tested)


class _OptionRanking(NamedTuple):
    """Options with the simplest first."""

    order: Index
    values: Array  # (units, options), in that order
    ends: Index  # of each class of equally simple options

    @classmethod
    def of(cls, differences: Array, complexity: Sequence[Sequence[int]]) -> _OptionRanking:
        """Put options in order; what is equally simple keeps its own."""
        _, ranks, counts = np.unique(np.array(complexity), axis=0, return_inverse=True, return_counts=True)
        order = np.argsort(ranks.ravel(), kind="stable")
        return cls(order, np.ascontiguousarray(differences[:, order]), np.cumsum(counts))


def _choose(ranked: _OptionRanking, division: Index, patterns: Callable[[], Iterator[Array]]) -> Index:
    """Choose for each fold of a division by all other folds, under each sign pattern: (patterns, folds)."""
    from offsphere.statistics.choice_kernels import choose_by_others, squared_distances  # compiled when first needed

    parts = [np.flatnonzero(division == fold) for fold in range(int(division.max()) + 1)]
    own = np.stack([squared_distances(ranked.values, part) for part in parts])
    others = np.maximum(own.sum(axis=0) - own, 0)
    chosen = [choose_by_others(ranked.values, division, others, signs, ranked.ends) for signs in patterns()]
    return np.asarray(ranked.order[np.concatenate(chosen)])


def _gains(differences: Array, divisions: Index, choices: Index) -> Array:
    """Average over the divisions what each unit gains by what was chosen for its fold: (patterns, units)."""
    units = np.arange(len(differences))
    gained = np.zeros((choices.shape[1], len(differences)))
    for division, choice in zip(divisions, choices, strict=True):
        gained += differences[units, choice[:, division]]
    return np.asarray(gained / len(divisions))


def _student(gained: Array) -> Array:
    """Compute Student's t of each row (patterns, units); zero where nothing differs."""
    count = gained.shape[1]
    sums, squares = gained.sum(axis=1), (gained**2).sum(axis=1)
    variance = np.maximum(squares - sums**2 / count, 1e-12 * squares) * count / (count - 1)
    return np.asarray(np.divide(sums, np.sqrt(variance), out=np.zeros(len(sums)), where=squares > 0))


def _interval_and_p(gained: Array, *statistics: Array) -> tuple[float, float, float, float]:
    """Compare what was observed, the first of each statistics, with the tail of the others on its own side.

    The two ends of the interval, p, and beyond which statistic a gain is called one.

    The interval reaches as far as the widest of the tails, so that it leaves out zero exactly where p is below 0.05; a
    mean lies between its smallest and its largest part, and zero.
    """
    p, low, high = 0.0, 0.0, 0.0
    for observed, *drawn in statistics:
        permuted = np.sort(drawn)
        slack = 1e-9 * max(abs(observed), 1.0)
        tail = (permuted >= observed - slack).sum() if observed >= 0 else (permuted <= observed + slack).sum()
        p = max(p, min(2 * (1 + tail) / (1 + len(permuted)), 1.0))
        few = tolerated(len(permuted), ALPHA / 2)
        ends = (permuted[few], permuted[-1 - few]) if few >= 0 else (-np.inf, np.inf)
        low, high = min(low, ends[0] - slack), max(high, ends[1] + slack)
    mean, error = gained.mean(), gained.std(ddof=1) / np.sqrt(len(gained))
    least, most = min(gained.min(), 0.0), max(gained.max(), 0.0)
    if error == 0:  # all gain the same, which proves something where there are many of them
        ends = (mean, mean) if p < ALPHA else (least, most)
    else:
        ends = max(mean - high * error, least), min(mean - low * error, most)
    return float(ends[0]), float(ends[1]), float(p), float(high)
