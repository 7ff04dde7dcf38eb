"""What "let the tool choose" is worth: nested cross-validation of the choice itself, against the baseline.

The first of fifty rows is a little too good, since it was picked for being first. Here the picking is part of what is
measured: options are chosen on some queries by one rule and judged on others, again and again with other divisions. The
gain that is left is that of following the tool, and it needs no correction, since one thing was tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array, Index
from offsphere.base.plain import plain
from offsphere.comparison.row import ALPHA
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.cross_validation import assign_folds
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.significance import bootstrap, interval, randomization_test

FEW = 100  # units below which one division says little about the next
REPEATS, REPEATS_OF_FEW = 20, 50
RESAMPLES = 2_000
_CELLS = 4_000_000  # squared differences in memory

Complexity = tuple[int, int, int, int]


class Option(NamedTuple):
    """One scorer that could be chosen: a fixed one, or one point of a grid that is tuned over."""

    row: str  # the name of its row
    name: str  # as one would deploy it
    scorer: Scorer
    complexity: Complexity
    measured: Array


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Procedure:
    """The held-out worth of letting the tool choose.

    Attributes:
        value: of queries that took no part in the choice, averaged over all divisions.
        gain: that value less the baseline's.
        low: the lower end of the gain's 95 % interval.
        high: its upper end.
        p: of the gain, two-sided and uncorrected, since one thing is tested.
        chosen: the share of all choices that fell on each scorer, the most frequent first.
        row: the name of the row in which the scorer stands that the rule chooses on all queries.
        name: the name of that scorer, as one deploys it.
        scorer: that scorer, fitted.
        repeats: how many divisions.
        folds: of each division.
        values: per query (or what each pair adds), averaged over the divisions.
        phrases: what each of the chosen scorers does, in plain words.
    """

    value: float
    gain: float
    low: float
    high: float
    p: float
    chosen: Mapping[str, float]
    row: str
    name: str
    scorer: Scorer
    repeats: int
    folds: int
    values: Array
    phrases: Mapping[str, str] = field(default_factory=dict)

    @property
    def better(self) -> bool:
        """Whether following the choice is significantly better than the baseline."""
        return self.p < ALPHA and self.gain > 0

    @property
    def worse(self) -> bool:
        """Whether following the choice is significantly worse than the baseline."""
        return self.p < ALPHA and self.gain < 0

    def to_json(self) -> dict[str, Any]:
        """Give everything but scorer and values per query, as plain values."""
        names = ("value", "gain", "low", "high", "p", "chosen", "row", "name", "repeats", "folds")
        return {name: plain(getattr(self, name)) for name in names}


def judge_choice(
    evaluation: Evaluation, options: Sequence[Option], *, folds: int, seed: int, permutations: int
) -> Procedure | None:
    """Choose among options on some units and judge the choice on others, for every fold of many divisions.

    Args:
        evaluation: how measurements are summed up.
        options: the first is the baseline.
        folds: of each division.
        seed: of divisions, interval and test.
        permutations: of the test.

    Returns:
        What the choice gains on units that took no part in it. Nothing where there are fewer than two units or
        options, the baseline has no value, or the metric has no values of units to choose by (pooled ones: a choice on
        part of a pool says nothing of its standard error).
    """
    folds = min(folds, evaluation.units)
    options, gained = _usable(evaluation, options)
    if folds < 2 or len(options) < 2:  # noqa: PLR2004
        return None
    complexity = [option.complexity for option in options]
    repeats = REPEATS if evaluation.units >= FEW else REPEATS_OF_FEW
    divisions = np.stack([assign_folds(evaluation.units, folds, [seed, repeat]) for repeat in range(repeats)])
    others = (divisions[:, None, :] != np.arange(folds)[:, None]).reshape(-1, evaluation.units)
    choices = choose_options(gained, complexity, others).reshape(repeats, folds)
    measured = [_assemble(evaluation, options, choices[repeat][division]) for repeat, division in enumerate(divisions)]
    each = [part for row in [options[0].measured, *measured] if (part := evaluation.contributions(row)) is not None]
    baseline, values = each[0], np.mean(each[1:], axis=0)
    samples = bootstrap(
        lambda weights: evaluation.evaluate_all([options[0].measured, *measured], weights),
        evaluation.units,
        count=RESAMPLES,
        seed=seed,
    )
    low, high = interval(samples[:, 1:].mean(axis=1) - samples[:, 0])
    overall = options[int(choose_options(gained, complexity, np.ones((1, evaluation.units)))[0])]
    counts = Counter(options[number].name for number in choices.ravel().tolist())
    return Procedure(
        value=float(values.mean()),
        gain=float((values - baseline).mean()),
        low=float(low),
        high=float(high),
        p=float(randomization_test(values - baseline, permutations, seed)[0]),
        chosen={name: count / choices.size for name, count in counts.most_common()},
        phrases={options[number].name: options[number].scorer.phrase for number in np.unique(choices).tolist()},
        row=overall.row,
        name=overall.name,
        scorer=overall.scorer,
        repeats=repeats,
        folds=folds,
        values=values,
    )


def choose_options(values: Array, complexity: Sequence[Complexity], parts: Array) -> Index:
    """Choose an option for each part of the units: the simplest of those that are about as good as the best.

    About as good means within one standard error of the paired difference from the best (the rule of Breiman et al.
    1984). Of those that are equally simple the one with the highest mean, then the first.

    Args:
        values: of each unit under each option: (units, options). Only differences between options count.
        complexity: of each option, in an order in which the smaller is the simpler.
        parts: the units to choose by, true or 1, for each choice: (parts, units).

    Returns:
        The number of the option for each part.

    Example:
        >>> import numpy as np
        >>> values = np.array([[0, 1, 1.1], [0, 1, 0.9], [0, 1, 1.2], [0, 1, 0.9]])
        >>> choose_options(values, [(0, 0, 0, 0), (0, 0, 1, 0), (0, 0, 1, 1)], np.ones((1, 4))).tolist()
        [1]
    """
    weights = np.asarray(parts, np.float64)
    counts = weights.sum(axis=1, keepdims=True)
    means = weights @ values / counts
    best = means.argmax(axis=1)
    simplicity = np.unique(np.array(complexity), axis=0, return_inverse=True)[1].ravel()
    chosen = np.empty(len(weights), np.int64)
    for option in np.unique(best):
        rows = np.flatnonzero(best == option)
        behind = means[rows] - means[rows, option][:, None]
        errors = _paired_errors(values, int(option), weights[rows], behind)
        near = behind >= -errors - 1e-12
        simplest = np.where(near, simplicity, len(simplicity)).min(axis=1, keepdims=True)
        chosen[rows] = np.where(near & (simplicity == simplest), means[rows], -np.inf).argmax(axis=1)
    return chosen


def _paired_errors(values: Array, option: int, weights: Array, behind: Array) -> Array:
    """Compute the standard error of each option's mean difference from one of them: (parts, options)."""
    squares = np.zeros(behind.shape)
    step = max(_CELLS // values.shape[1], 1)
    for start in range(0, len(values), step):
        some = values[start : start + step]
        squares += weights[:, start : start + step] @ (some - some[:, option : option + 1]) ** 2
    counts = weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.maximum(squares / counts - behind**2, 0) * counts / (counts - 1)
        errors = np.sqrt(variance / counts)
    return np.where(counts > 1, errors, np.inf)


def _usable(evaluation: Evaluation, options: Sequence[Option]) -> tuple[list[Option], Array]:
    """Keep options with a value for every unit, and what they gain over the first: (units, options)."""
    columns = [evaluation.to_choose_by(option.measured) for option in options]
    known = [(option, column) for option, column in zip(options, columns, strict=True) if column is not None]
    kept = [(option, column) for option, column in known if np.isfinite(column).all()]
    if not kept or kept[0][0] is not options[0]:
        return [], np.zeros((evaluation.units, 0))
    return [option for option, _ in kept], np.stack([column - kept[0][1] for _, column in kept], axis=1)


def _assemble(evaluation: Evaluation, options: Sequence[Option], choice: Index) -> Array:
    """Put together the measurement of all units from the options chosen for them."""
    distinct, position = np.unique(choice, return_inverse=True)
    return evaluation.assemble([options[number].measured for number in distinct.tolist()], position)
