"""What a training came to on a task: before and after, as trained and by cosine, with intervals and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from offsphere.base.arrays import Array
from offsphere.comparison.row_tests import RESAMPLES
from offsphere.learning.encoders.judging import Judge
from offsphere.statistics.difference import Difference
from offsphere.statistics.evaluation import Evaluation
from offsphere.statistics.significance import ALPHA, bootstrap, holm, interval, randomization_test
from offsphere.wording.written_numbers import CHANCE

NAMES = ("before, by cosine", "trained, as trained", "trained, by cosine")
TESTED = ((1, 0), (2, 0), (2, 1))  # differences that are tested: the first of these names less the second


class OutcomeRow(NamedTuple):
    """One way to score a model, and how it differs from the model before training by cosine, but for the first row."""

    name: str
    value: float
    low: float
    high: float
    gain: Difference | None


class Outcome(NamedTuple):
    """What a training came to on one task; ``by_cosine`` is how cosine differs from the score that was trained for.

    Where that score is cosine there are two rows, not three.
    """

    task: Mapping[str, Any]
    metric: str
    rows: Sequence[OutcomeRow]
    by_cosine: Difference

    @property
    def conclusion(self) -> str:
        """What to make of the training, in a sentence or two."""
        gain = self.rows[1].gain
        assert gain is not None
        where = "above" if gain.difference > 0 else "below"
        sure = "" if gain.p < ALPHA else f", which {CHANCE}"
        sentence = f"Scored as it was trained, the model is {where} what cosine found before ({_write(gain)}{sure})."
        cosine = self.by_cosine
        if cosine.p < ALPHA and cosine.difference > 0:
            sentence += (
                f" Cosine of the same vectors is above that ({_write(cosine)}): train with both sides normalised."
            )
        if cosine.p < ALPHA and cosine.difference < 0:
            sentence += f" Cosine of the same vectors is below that ({_write(cosine)}): its lengths carry relevance."
        return sentence


def outcome_of(judge: Judge, evaluation: Evaluation, measured: Sequence[Array], seed: int = 0) -> Outcome:
    """The outcome on a task, from the measurements of the three ways to score, in the order of their names."""
    samples = bootstrap(lambda weights: evaluation.evaluate_all(measured, weights), evaluation.units, RESAMPLES, seed)
    values = [float(evaluation.evaluate(part, np.ones((1, evaluation.units)))[0]) for part in measured]
    units = [evaluation.contributions(part) for part in measured]
    corrected = np.ones(len(TESTED))
    if all(part is not None for part in units):
        apart = np.stack([np.asarray(units[way]) - np.asarray(units[base]) for way, base in TESTED], axis=1)
        corrected = holm(randomization_test(apart, seed=seed))
    differences = []
    for (way, base), p in zip(TESTED, corrected.tolist(), strict=True):
        around = interval(samples[:, way] - samples[:, base])
        differences.append(Difference(values[way] - values[base], float(around.low), float(around.high), p))
    rows = []
    for number, name in enumerate(NAMES):
        around = interval(samples[:, number])
        gain = differences[number - 1] if number else None
        rows.append(OutcomeRow(name, values[number], float(around.low), float(around.high), gain))
    if np.array_equal(measured[1], measured[2]):
        rows.pop()
    return Outcome(judge.task.summary(), judge.metric, rows, differences[2])


def _write(difference: Difference) -> str:
    """A difference with its interval, as it is printed."""
    return f"{difference.difference:+.4f} [{difference.low:+.4f}, {difference.high:+.4f}]"
