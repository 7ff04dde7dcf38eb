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
from offsphere.base.progress import Progress
from offsphere.base.short_repr import short_repr
from offsphere.comparison.complexity import Complexity, complexity_of
from offsphere.comparison.tuning import MeasuredCandidate
from offsphere.scoring.scorer import Scorer
from offsphere.statistics.agreeing_intervals import on_scale
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.nested_choice import NestedChoice, nested_choice
from offsphere.statistics.significance import ALPHA, Interval

JUDGED = 6_000  # held-out values in all: the fewer units, the more divisions
FEWEST_REPEATS, MOST_REPEATS = 5, 30
PERMUTATIONS, FEWEST_PERMUTATIONS = 1_000, 500
WORK = 20_000_000_000  # products of a value and a sign, in all


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
        error: the standard error of the gain.
        reach: beyond how many of these errors a gain is called one.
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
    error: float
    reach: float
    chosen: Mapping[str, float]
    row: str
    name: str
    scorer: Scorer
    repeats: int
    folds: int
    values: Array
    phrases: Mapping[str, str] = field(default_factory=dict)

    __repr__ = short_repr

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
        names = ("value", "gain", "low", "high", "p", "error", "reach", "chosen", "row", "name", "repeats", "folds")
        return {name: plain(getattr(self, name)) for name in names}


def judge_choice(
    evaluation: Evaluation,
    options: Sequence[Option],
    *,
    folds: int,
    seed: int,
    permutations: int,
    progress: Progress | None = None,
) -> Procedure | None:
    """Choose among options on some units and judge the choice on others, for every fold of many divisions.

    Args:
        evaluation: how measurements are summed up.
        options: the first is the baseline.
        folds: of each division.
        seed: of divisions, interval and test.
        permutations: of the test.
        progress: is told how many divisions are done.

    Returns:
        What the choice gains on units that took no part in it. Nothing where there are fewer than two units or
        options, the baseline has no value, or the metric has no values of units to choose by (pooled ones: a choice on
        part of a pool says nothing of its standard error).
    """
    folds = min(folds, evaluation.units)
    options, gained = _usable(evaluation, options)
    if folds < 2 or len(options) < 2:  # noqa: PLR2004
        return None
    repeats = min(max(JUDGED // evaluation.units, FEWEST_REPEATS), MOST_REPEATS)
    affordable = max(WORK // (repeats * gained.size), FEWEST_PERMUTATIONS)
    nested = nested_choice(
        gained,
        [option.complexity for option in options],
        folds=folds,
        repeats=repeats,
        seed=seed,
        permutations=min(permutations, affordable, PERMUTATIONS),
        progress=progress,
    )
    measured = [
        _assemble(evaluation, options, choices[division])
        for division, choices in zip(nested.divisions, nested.choices, strict=True)
    ]
    each = [part for row in [options[0].measured, *measured] if (part := evaluation.contributions(row)) is not None]
    baseline, values = each[0], np.mean(each[1:], axis=0)
    gain, low, high = _around(values - baseline, nested)
    overall = options[nested.overall]
    counts = Counter(options[number].name for number in nested.choices.ravel().tolist())
    return Procedure(
        value=float(values.mean()),
        gain=gain,
        low=low,
        high=high,
        p=nested.p,
        error=float(np.std(values - baseline, ddof=1) / np.sqrt(evaluation.units)),
        reach=nested.reach,
        chosen={name: count / nested.choices.size for name, count in counts.most_common()},
        phrases={options[number].name: options[number].scorer.phrase for number in np.unique(nested.choices).tolist()},
        row=overall.row,
        name=overall.name,
        scorer=overall.scorer,
        repeats=repeats,
        folds=folds,
        values=values,
    )


def options_of(results: Sequence[MeasuredCandidate]) -> list[Option]:
    """List every scorer that could be chosen, fixed ones and all points of tuned grids; the baseline is the first."""
    return [
        Option(
            candidate.name,
            scorer.name if candidate.tuned else candidate.name,
            scorer,
            complexity_of(scorer, tuned=candidate.tuned),
            measured,
        )
        for candidate, _, options, _ in results
        if options
        for scorer, measured in zip(candidate.options, options, strict=True)
    ]


def _usable(evaluation: Evaluation, options: Sequence[Option]) -> tuple[list[Option], Array]:
    """Keep options with a value for every unit, and what they gain over the first: (units, options)."""
    columns = [evaluation.to_choose_by(option.measured) for option in options]
    known = [(option, column) for option, column in zip(options, columns, strict=True) if column is not None]
    kept = [(option, column) for option, column in known if np.isfinite(column).all()]
    if not kept or kept[0][0] is not options[0]:
        return [], np.zeros((evaluation.units, 0))
    return [option for option, _ in kept], np.stack([column - kept[0][1] for _, column in kept], axis=1)


def _around(gained: Array, nested: NestedChoice) -> tuple[float, float, float]:
    """Put the interval of the test around what was gained.

    Queries are tested by what they gain. Pairs are tested by what each adds to a correlation, and what was put together
    for them is measured anew, by Kendall's on another scale.
    """
    gain, around = gained.mean(keepdims=True), Interval(np.array([nested.low]), np.array([nested.high]))
    low, high = on_scale(gain, gained[:, None], nested.gained[:, None], around)
    return float(gain[0]), float(low[0]), float(high[0])


def _assemble(evaluation: Evaluation, options: Sequence[Option], choice: Index) -> Array:
    """Put together the measurement of all units from the options chosen for them."""
    distinct, position = np.unique(choice, return_inverse=True)
    return evaluation.assemble([options[number].measured for number in distinct.tolist()], position)
