"""What a training came to on a task: before and after, as trained and by cosine, with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.base.short_repr import short_repr
from offsphere.comparison.paired_differences import paired_differences
from offsphere.comparison.row_tests import RESAMPLES
from offsphere.comparison.units import too_few, unit_of, units_in_all
from offsphere.learning.encoders.judging import TaskJudge
from offsphere.statistics.difference import Difference
from offsphere.statistics.equivalence import usual_worth
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.significance import ALPHA, bootstrap, interval
from offsphere.wording.outcome_words import told_of_training

NAMES = ("before, by cosine", "trained, as trained", "trained, by cosine")
TESTED = ((1, 0), (2, 0), (2, 1))  # differences that are tested: the first of these names less the second


class OutcomeRow(NamedTuple):
    """One way to score a model, and how it differs from the model before training by cosine, but for the first row."""

    name: str
    value: float
    low: float
    high: float
    gain: Difference | None


class TrainingOutcome(NamedTuple):
    """What a training came to on one task; ``by_cosine`` is how cosine differs from the score that was trained for.

    Where that score is cosine there are two rows, not three.
    """

    task: Mapping[str, Any]
    metric: str
    rows: Sequence[OutcomeRow]
    by_cosine: Difference

    def __repr__(self) -> str:
        """The fields, long ones by their size."""
        return short_repr(self)

    @property
    def conclusion(self) -> str:
        """What to make of the training, in a sentence or two."""
        gain, worth = self.rows[1].gain, usual_worth(self.rows[0].value)
        assert gain is not None
        why_not = too_few(units_in_all(self.task), unit_of(self.task))
        if not isfinite(gain.difference):
            why_not = f"before or after it there is no {self.metric}"
        numbers: dict[str, Any] = {"why_not": why_not, "worth": worth}
        for name, part in (("gain", gain), ("cosine", self.by_cosine)):
            ends = {f"{name}_low": part.low, f"{name}_high": part.high, f"{name}_p": part.p}
            numbers |= {name: part.difference, f"{name}_state": _state(part, worth), **ends}
        return told_of_training(numbers)


def training_outcome(
    judge: TaskJudge, evaluation: Evaluation, measured: Sequence[Array], seed: int = 0
) -> TrainingOutcome:
    """The outcome on a task, from the measurements of the three ways to score, in the order of their names."""
    samples = bootstrap(lambda weights: evaluation.evaluate_all(measured, weights), evaluation.units, RESAMPLES, seed)
    values = [float(evaluation.evaluate(part, np.ones((1, evaluation.units)))[0]) for part in measured]
    pairs = np.array([way for way, _ in TESTED]), np.array([base for _, base in TESTED])
    apart = paired_differences(evaluation, measured, pairs, samples, seed=seed)
    differences = [Difference(*map(float, each)) for each in zip(apart.values, *apart.around, apart.p, strict=True)]
    rows = []
    for number, name in enumerate(NAMES):
        around = interval(samples[:, number])
        gain = differences[number - 1] if number else None
        rows.append(OutcomeRow(name, values[number], float(around.low), float(around.high), gain))
    if np.array_equal(measured[1], measured[2]):
        rows.pop()
    return TrainingOutcome(judge.task.summary(), judge.metric, rows, differences[2])


def _state(change: Difference, worth: float) -> str:
    """Tell whether a change is too small to matter, surely up or down, or none of these."""
    if -worth < change.low <= change.high < worth:
        return "equal"
    if not (change.p < ALPHA and change.difference):
        return "none"
    return "up" if change.difference > 0 else "down"
